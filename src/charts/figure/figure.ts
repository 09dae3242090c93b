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

/** Whether two values of JSON are the same, whatever the order of members is. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, other] = [a as Attributes, b as Attributes]
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  )
}

/** Whether nothing of a figure changes. */
export function isSameFigure(a: Figure, b: Figure): boolean {
  return isSame(a, b)
}

/** The traces that show columns of a grid. */
export function tracesOf({ data }: Figure, fid: string): Attributes[] {
  return data.filter((trace) => JSON.stringify(trace).includes(`"${fid}:`))
}

/** The type of a chart: what it says itself, or what its first trace makes. */
export function kindOf({ data, layout }: Figure): ChartType | string {
  return layout.meta?.chart ?? (data[0] ? typeOf(data[0]) : '')
}

/** The type of chart that a trace makes. Lines may have points, and may be drawn with WebGL. */
export function typeOf({ type = 'scatter', mode, fill, stackgroup }: Attributes): ChartType | string {
  if (type !== 'scatter' && type !== 'scattergl') return type
  if (stackgroup !== undefined || (fill !== undefined && fill !== 'none')) return 'area'
  return mode === undefined || String(mode).includes('lines') ? 'line' : 'scatter'
}

/** The members that are not undefined. */
export function defined(members: Attributes): Attributes {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
