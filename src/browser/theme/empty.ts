// Charts without values.
import { isMissing, listOf } from '../../charts/figure/lists.ts'
import type { Attributes, Draft } from './arrangement.ts'
import { annotate } from './titles.ts'

/** Attributes that types of cells need: plotly.js cannot draw them without a value. */
const REQUIRED_BY_CELLS: Readonly<Record<string, readonly string[]>> = {
  heatmap: ['z'],
  contour: ['z'],
  histogram2d: ['x', 'y'],
}
/** Trace types whose values are parts: those that are 0 are not seen. */
const PARTS: ReadonlySet<unknown> = new Set(['pie', 'treemap', 'sunburst'])
/** Attributes with the values of other trace types. */
const VALUE_ATTRIBUTES = 'x y z values r value open lat locations dimensions cells'.split(' ')

/** Adds a message to a chart without any value. */
export function markEmptyChart(draft: Draft): void {
  const { data, layout } = draft
  if (data.length === 0 || layout.sliders !== undefined) return
  const isLabels = (letter: 'x' | 'y'): boolean => layout[`${letter}axis`]?.type === 'category'
  // Labels are optional: rows without one get `(none)`.
  const required = (['x', 'y'] as const).filter((letter) => !isLabels(letter))
  const filled = data.filter((trace) => hasValues(trace, required))
  if (filled.length === data.length) return
  // Keep the axes: draw an empty trace.
  draft.data = data.map((trace) =>
    (Object.hasOwn(REQUIRED_BY_CELLS, String(trace.type)) ||
      trace.type === 'sankey' ||
      trace.type === 'funnel') &&
    !filled.includes(trace)
      ? { type: 'scatter', x: [], y: [] }
      : trace,
  )
  if (filled.length === 0) writeEmptyMessage(layout)
}

/** Writes "no values to show" in the middle of the plot. */
export function writeEmptyMessage(layout: Attributes): void {
  annotate(layout, {
    name: 'gridline-empty',
    text: 'no values to show',
    ...{ xref: 'paper', yref: 'paper', x: 0.5, y: 0.5, xanchor: 'center', yanchor: 'middle' },
  })
}

/** Returns whether a trace has a value that can be drawn. */
function hasValues(trace: Attributes, required: readonly string[]): boolean {
  const cells = Object.hasOwn(REQUIRED_BY_CELLS, String(trace.type))
    ? REQUIRED_BY_CELLS[trace.type]
    : undefined
  if (cells && !Array.isArray(trace.z?.[0])) return hasCompleteRow(trace, [...required, ...cells])
  if (cells) return hasSomeValue(trace.z)
  if (trace.type === 'sankey') return listOf(trace.link?.value).length > 0
  if (PARTS.has(trace.type))
    return [...listOf(trace.values)].some((value) => Number(value) > 0) || trace.values === undefined
  if (Array.isArray(trace.x) && Array.isArray(trace.y)) return hasSomeValue(trace.x) && hasSomeValue(trace.y)
  return (
    !VALUE_ATTRIBUTES.some((key) => Array.isArray(trace[key])) ||
    VALUE_ATTRIBUTES.some((key) => hasSomeValue(trace[key]))
  )
}

/** Returns whether some row has a value in each list that is not empty. */
function hasCompleteRow(trace: Attributes, keys: readonly string[]): boolean {
  const lists = keys.map((key) => listOf(trace[key])).filter(({ length }) => length > 0)
  const count = Math.max(0, ...lists.map(({ length }) => length))
  for (let k = 0; k < count; k++) if (lists.every((list) => !isMissing(list[k]))) return true
  return false
}

/** Returns whether a value, or any item of nested lists, is not missing. */
function hasSomeValue(value: unknown): boolean {
  const list = listOf(value)
  if (list.length === 0)
    return !Array.isArray(value) && value !== undefined && value !== null && !ArrayBuffer.isView(value)
  for (const item of list) if (hasSomeValue(item)) return true
  return false
}
