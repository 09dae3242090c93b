// Labels of axes and names of series are the texts of the data: plotly.js would read markup in them.
import { listOf } from '../../charts/figure/lists.ts'
import { NO_LABEL } from '../../charts/figure/names.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import type { Attributes, Draft } from './draft.ts'

/**
 * A text as it is: without markup, without templates, and not a name that every object of JavaScript has, which plotly.js
 * would take for a label that it knows.
 */
export function asWritten(text: string): string {
  const safe = text in Object.prototype ? `${text}\u200b` : text
  return escapedMarkup(safe).replaceAll('%{', '%\u200b{')
}

/** Shows labels and names as they are, and rows without a label under a label of their own. */
export function writeLabels(draft: Draft): void {
  const { data, layout } = draft
  const isLabels = (letter: 'x' | 'y', id: unknown): boolean =>
    layout[`${letter}axis${String(id ?? letter).slice(1)}`]?.type === 'category'
  for (const [k, given] of data.entries()) {
    const trace = { ...given }
    for (const key of ['name', 'legendgroup'])
      if (typeof trace[key] === 'string') trace[key] = asWritten(trace[key])
    for (const key of ['text', 'theta', 'parents', 'ids'])
      if (listOf(trace[key]).length > 0)
        trace[key] = [...listOf(trace[key])].map((one) =>
          typeof one === 'string' ? asWritten(one) : key === 'theta' ? (one ?? NO_LABEL) : one,
        )
    if (trace.type === 'treemap' || trace.type === 'sunburst') trace.labels = written(trace.labels, undefined)
    for (const part of ['header', 'cells'])
      if (trace.type === 'table' && Array.isArray(trace[part]?.values))
        trace[part] = { ...trace[part], values: cellsOf(trace[part].values) }
    if (trace.type === 'sankey') trace.node = { ...trace.node, label: written(trace.node?.label, undefined) }
    for (const [letter, other] of [
      ['x', 'y'],
      ['y', 'x'],
    ] as const)
      if (isLabels(letter, trace[`${letter}axis`])) trace[letter] = written(trace[letter], trace[other])
    if (trace.type === 'pie') trace.labels = written(trace.labels, trace.values)
    data[k] = trace
  }
  for (const [key, axis] of Object.entries(layout))
    if (/^[xy]axis\d*$/.test(key)) layout[key] = withUnits(axis)
  const title = layout.title?.text
  if (typeof title === 'string') layout.title = { ...layout.title, text: title.replaceAll('%{', '%\u200b{') }
  for (const key of ['shapes', 'annotations'])
    if (Array.isArray(layout[key]))
      layout[key] = layout[key].map((one: Attributes) => {
        const moved = { ...one }
        if (typeof one.text === 'string') moved.text = one.text.replaceAll('%{', '%\u200b{')
        for (const letter of ['x', 'y'] as const) {
          if (!isLabels(letter, one[`${letter}ref`] ?? letter)) continue
          for (const end of [letter, `${letter}0`, `${letter}1`])
            if (typeof one[end] === 'string') moved[end] = asWritten(one[end])
        }
        return moved
      })
}

/** Texts of a table, and lists of them, as they are. */
function cellsOf(values: unknown[]): unknown[] {
  return values.map((one) =>
    Array.isArray(one) ? cellsOf(one) : typeof one === 'string' ? asWritten(one) : (one ?? ''),
  )
}

/** An axis, or a scale of colors, with its title and the unit of its numbers as they are. */
function withUnits(axis: Attributes): Attributes {
  const shown = { ...axis }
  for (const key of ['tickprefix', 'ticksuffix'])
    if (typeof axis[key] === 'string') shown[key] = escapedMarkup(axis[key])
  if (Array.isArray(axis.categoryarray))
    shown.categoryarray = axis.categoryarray.map((label: unknown) =>
      typeof label === 'string' ? asWritten(label) : (label ?? NO_LABEL),
    )
  const title = axis.title?.text
  return typeof title === 'string'
    ? { ...shown, title: { ...axis.title, text: title.replaceAll('%{', '%\u200b{') } }
    : shown
}

/** `values`: what is drawn at the labels; without one, nothing is drawn, and there is no label. */
function written(labels: unknown, values: unknown): unknown {
  const list = listOf(labels)
  if (list.length === 0) return labels
  const drawn = listOf(values)
  const isDrawn = (at: number): boolean => drawn.length === 0 || (drawn[at] ?? undefined) !== undefined
  return Array.from(list, (label, at) => {
    if (typeof label === 'string') return label === '' && drawn.length === 0 ? NO_LABEL : asWritten(label)
    return (label === null || label === undefined) && isDrawn(at) ? NO_LABEL : label
  })
}
