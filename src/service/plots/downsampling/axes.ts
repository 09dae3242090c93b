/** Reads which part of an x axis is visible, and whether it is logarithmic. */
import { parseInstant } from '../../../json/index.ts'

/** Visible ranges by axis name (`xaxis2`), in units of the data. */
export type VisibleRanges = ReadonlyMap<string, readonly [string, string]>

/** An axis of numbers or dates. */
export interface VisibleAxis {
  /** Returns the position of a value: its logarithm on logarithmic axes; NaN if it is not drawn. */
  toPosition: (value: number) => number
  /** Visible range, as positions; undefined for all values. */
  range: readonly [number, number] | undefined
}

/** Reads an axis from its layout settings; undefined for labels. `visible` overrides the layout's range. */
export function readVisibleAxis(
  settings: { type?: unknown; range?: unknown; autorange?: unknown } | undefined,
  areDates: boolean,
  visible: readonly [string, string] | undefined,
): VisibleAxis | undefined {
  const { type, range, autorange } = settings ?? {}
  if (type === 'category' || type === 'multicategory') return undefined
  const isLog = type === 'log' && !areDates
  const place = isLog ? log10OrNaN : nanIfInfinite
  const parseEnd = (end: unknown): number =>
    areDates && typeof end === 'string'
      ? parseInstant(end)
      : typeof end === 'boolean'
        ? Number.NaN
        : Number(end)
  if (visible)
    return { toPosition: place, range: sortedRange(place(parseEnd(visible[0])), place(parseEnd(visible[1]))) }
  const isSet = Array.isArray(range) && range.length === 2 && autorange !== true
  // A layout stores the range of a logarithmic axis as powers of ten.
  return {
    toPosition: place,
    range: isSet
      ? sortedRange(nanIfInfinite(parseEnd(range[0])), nanIfInfinite(parseEnd(range[1])))
      : undefined,
  }
}

function nanIfInfinite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN
}

function log10OrNaN(value: number): number {
  return value > 0 ? nanIfInfinite(Math.log10(value)) : Number.NaN
}

/** Returns an ascending range; undefined if an end is NaN. */
function sortedRange(from: number, to: number): readonly [number, number] | undefined {
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined
  return from <= to ? [from, to] : [to, from]
}
