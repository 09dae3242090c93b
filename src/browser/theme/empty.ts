import { isMissing, listOf } from '../../charts/figure/lists.ts'
import type { Attributes, Draft } from './draft.ts'
import { annotate } from './headings.ts'

/** Types of cells, which plotly.js cannot draw without a value, and what they need. */
const CELLS: Readonly<Record<string, readonly string[]>> = {
  heatmap: ['z'],
  contour: ['z'],
  histogram2d: ['x', 'y'],
}
/** Attributes with the values of other types. */
const VALUES = ['x', 'y', 'z', 'values', 'r', 'value', 'open', 'lat', 'locations', 'dimensions', 'cells']

/** A chart without any value says so. */
export function sayEmpty(draft: Draft): void {
  const { data, layout } = draft
  if (data.length === 0 || layout.sliders !== undefined) return
  const isLabels = (letter: 'x' | 'y'): boolean => layout[`${letter}axis`]?.type === 'category'
  // Labels need no value: rows without one have the label `(none)`.
  const places = (['x', 'y'] as const).filter((letter) => !isLabels(letter))
  const shown = data.filter((trace) => hasValues(trace, places))
  if (shown.length === data.length) return
  // Without their cells, their axes stay.
  draft.data = data.map((trace) =>
    (Object.hasOwn(CELLS, String(trace.type)) || trace.type === 'sankey' || trace.type === 'funnel') &&
    !shown.includes(trace)
      ? { type: 'scatter', x: [], y: [] }
      : trace,
  )
  if (shown.length === 0) showEmpty(layout)
}

/** Says in the middle of the plot that it has no values. */
export function showEmpty(layout: Attributes): void {
  annotate(layout, {
    name: 'gridline-empty',
    text: 'no values to show',
    ...{ xref: 'paper', yref: 'paper', x: 0.5, y: 0.5, xanchor: 'center', yanchor: 'middle' },
  })
}

function hasValues(trace: Attributes, places: readonly string[]): boolean {
  const cells = Object.hasOwn(CELLS, String(trace.type)) ? CELLS[trace.type] : undefined
  if (cells && !Array.isArray(trace.z?.[0])) return hasWholeRow(trace, [...places, ...cells])
  if (cells) return isSome(trace.z)
  if (trace.type === 'sankey') return listOf(trace.link?.value).length > 0
  if (trace.type === 'pie')
    return [...listOf(trace.values)].some((value) => Number(value) > 0) || trace.values === undefined
  if (Array.isArray(trace.x) && Array.isArray(trace.y)) return isSome(trace.x) && isSome(trace.y)
  return !VALUES.some((key) => Array.isArray(trace[key])) || VALUES.some((key) => isSome(trace[key]))
}

/** Whether a row has a value in each of these lists that there are. */
function hasWholeRow(trace: Attributes, keys: readonly string[]): boolean {
  const lists = keys.map((key) => listOf(trace[key])).filter(({ length }) => length > 0)
  const count = Math.max(0, ...lists.map(({ length }) => length))
  for (let k = 0; k < count; k++) if (lists.every((list) => !isMissing(list[k]))) return true
  return false
}

/** Whether a value, or a list of values or of lists, has one that is not missing. */
function isSome(value: unknown): boolean {
  const list = listOf(value)
  if (list.length === 0)
    return !Array.isArray(value) && value !== undefined && value !== null && !ArrayBuffer.isView(value)
  for (const one of list) if (isSome(one)) return true
  return false
}
