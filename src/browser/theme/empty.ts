import { listOf } from '../../charts/figure/lists.ts'
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
  const shown = data.filter(hasValues)
  if (shown.length === data.length) return
  // Without their cells, their axes stay.
  draft.data = data.map((trace) =>
    (Object.hasOwn(CELLS, String(trace.type)) || trace.type === 'sankey' || trace.type === 'funnel') &&
    !shown.includes(trace)
      ? { type: 'scatter', x: [], y: [] }
      : trace,
  )
  if (shown.length > 0) return
  annotate(layout, {
    name: 'gridline-empty',
    text: 'no values to show',
    ...{ xref: 'paper', yref: 'paper', x: 0.5, y: 0.5, xanchor: 'center', yanchor: 'middle' },
  })
}

function hasValues(trace: Attributes): boolean {
  const cells = Object.hasOwn(CELLS, String(trace.type)) ? CELLS[trace.type] : undefined
  if (cells) return cells.every((key) => isSome(trace[key]))
  if (trace.type === 'sankey') return listOf(trace.link?.value).length > 0
  if (trace.type === 'pie')
    return [...listOf(trace.values)].some((value) => Number(value) > 0) || trace.values === undefined
  if (Array.isArray(trace.x) && Array.isArray(trace.y)) return isSome(trace.x) && isSome(trace.y)
  return !VALUES.some((key) => Array.isArray(trace[key])) || VALUES.some((key) => isSome(trace[key]))
}

/** Whether a value, or a list of values or of lists, has one that is not missing. */
function isSome(value: unknown): boolean {
  const list = listOf(value)
  if (list.length === 0)
    return !Array.isArray(value) && value !== undefined && value !== null && !ArrayBuffer.isView(value)
  for (const one of list) if (isSome(one)) return true
  return false
}
