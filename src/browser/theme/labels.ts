// Escapes axis labels and series names: they are data, but plotly.js would interpret markup in them.
import { listOf } from '../../charts/figure/lists.ts'
import { isMissingLabel, labelOf } from '../../charts/figure/shared-names.ts'
import { escapeMarkup } from '../../contract/plotly-markup.ts'
import type { Attributes, Draft } from './arrangement.ts'

/**
 * Escapes markup and templates in a text. Also changes names of JavaScript object members, which plotly.js
 * would mistake for known labels.
 */
export function escapeText(text: string): string {
  const safe = text in Object.prototype ? `${text}\u200b` : text
  return escapeMarkup(safe).replaceAll('%{', '%\u200b{')
}

/** Escapes labels and names, and labels rows without a label `(none)`. */
export function escapeLabels(draft: Draft): void {
  const { data, layout } = draft
  const isLabels = (letter: 'x' | 'y', id: unknown): boolean =>
    layout[`${letter}axis${String(id ?? letter).slice(1)}`]?.type === 'category'
  for (const [k, original] of data.entries()) {
    const trace = { ...original }
    for (const key of ['name', 'legendgroup'])
      if (typeof trace[key] === 'string') trace[key] = escapeText(trace[key])
    for (const key of ['text', 'theta', 'parents', 'ids'])
      if (listOf(trace[key]).length > 0)
        trace[key] = [...listOf(trace[key])].map((item) =>
          key === 'theta' ? escapeLabel(item) : typeof item === 'string' ? escapeText(item) : item,
        )
    if (trace.type === 'treemap' || trace.type === 'sunburst')
      trace.labels = escapeAxisLabels(trace.labels, undefined)
    for (const part of ['header', 'cells'])
      if (trace.type === 'table' && Array.isArray(trace[part]?.values))
        trace[part] = { ...trace[part], values: escapeCells(trace[part].values) }
    if (trace.type === 'sankey')
      trace.node = { ...trace.node, label: escapeAxisLabels(trace.node?.label, undefined) }
    for (const [letter, other] of [
      ['x', 'y'],
      ['y', 'x'],
    ] as const)
      if (isLabels(letter, trace[`${letter}axis`]))
        trace[letter] = escapeAxisLabels(trace[letter], trace[other])
    if (trace.type === 'pie') trace.labels = escapeAxisLabels(trace.labels, trace.values)
    data[k] = trace
  }
  for (const [key, axis] of Object.entries(layout))
    if (/^[xy]axis\d*$/.test(key)) layout[key] = escapeAxis(axis)
  const title = layout.title?.text
  if (typeof title === 'string') layout.title = { ...layout.title, text: title.replaceAll('%{', '%\u200b{') }
  for (const key of ['shapes', 'annotations'])
    if (Array.isArray(layout[key]))
      layout[key] = layout[key].map((item: Attributes) => {
        const escaped = { ...item }
        if (typeof item.text === 'string') escaped.text = item.text.replaceAll('%{', '%\u200b{')
        for (const letter of ['x', 'y'] as const) {
          if (!isLabels(letter, item[`${letter}ref`] ?? letter)) continue
          for (const end of [letter, `${letter}0`, `${letter}1`])
            if (typeof item[end] === 'string') escaped[end] = escapeLabel(item[end])
        }
        return escaped
      })
}

/** Returns the label that is drawn for a label of the data. */
function escapeLabel(label: unknown): unknown {
  const shown = labelOf(label)
  return typeof shown === 'string' ? escapeText(shown) : shown
}

/** Escapes the texts of a table, in nested lists. */
function escapeCells(values: unknown[]): unknown[] {
  return values.map((item) =>
    Array.isArray(item) ? escapeCells(item) : typeof item === 'string' ? escapeText(item) : (item ?? ''),
  )
}

/** Escapes the labels, unit and title of an axis. */
function escapeAxis(axis: Attributes): Attributes {
  const escaped = { ...axis }
  for (const key of ['tickprefix', 'ticksuffix'])
    if (typeof axis[key] === 'string') escaped[key] = escapeMarkup(axis[key])
  if (Array.isArray(axis.categoryarray))
    escaped.categoryarray = [...new Set(axis.categoryarray.map(escapeLabel))]
  const title = axis.title?.text
  return typeof title === 'string'
    ? { ...escaped, title: { ...axis.title, text: title.replaceAll('%{', '%\u200b{') } }
    : escaped
}

/** Escapes labels. Missing labels are NO_LABEL, unless `values` has no value at their position. */
function escapeAxisLabels(labels: unknown, values: unknown): unknown {
  const list = listOf(labels)
  if (list.length === 0) return labels
  const drawn = listOf(values)
  const isDrawn = (at: number): boolean => drawn.length === 0 || (drawn[at] ?? undefined) !== undefined
  return Array.from(list, (label, at) => (isMissingLabel(label) && !isDrawn(at) ? null : escapeLabel(label)))
}
