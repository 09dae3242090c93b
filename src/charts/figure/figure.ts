// Figures as JSON, and what their traces tell about the chart.
import type { ChartType } from '../spec/types.ts'

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
export type Attributes = Record<string, any>

export interface Figure {
  data: Attributes[]
  layout: Attributes
}

export function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns whether a theme draws the figure of a layout; others were made elsewhere. */
export function isThemed(layout: unknown): boolean {
  return isObject(layout) && isObject(layout.meta) && typeof layout.meta.theme === 'string'
}

/** Returns an object unchanged; an empty one for other values. */
export function toObject(value: unknown): Attributes {
  return isObject(value) ? value : {}
}

/** Returns whether two JSON values are equal, regardless of key order. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right]: Attributes[] = [a, b]
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isDeepEqual(left[key], right[key]))
  )
}

/** Returns whether two figures are equal. */
export function isSameFigure(a: Figure, b: Figure): boolean {
  return isDeepEqual(a, b)
}

/** Returns the traces that refer to columns of the grid `fid`. */
export function listGridTraces({ data }: Figure, fid: string): Attributes[] {
  return data.filter((trace) => JSON.stringify(trace).includes(`"${fid}:`))
}

/** Returns the chart type of a figure: as stored in the layout, else that of its first trace. */
export function chartTypeOf({ data, layout }: Figure): ChartType | string {
  return layout.meta?.chart ?? (data[0] ? traceChartTypeOf(data[0]) : '')
}

/** Returns the chart type of a trace. Line charts may have markers or use WebGL. */
export function traceChartTypeOf({
  type = 'scatter',
  mode,
  fill,
  stackgroup,
}: Attributes): ChartType | string {
  if (type !== 'scatter' && type !== 'scattergl') return type
  if (stackgroup !== undefined || (fill !== undefined && fill !== 'none')) return 'area'
  return mode === undefined || String(mode).includes('lines') ? 'line' : 'scatter'
}

/** Returns the members that are not undefined. */
export function omitUndefined(members: Attributes): Attributes {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
