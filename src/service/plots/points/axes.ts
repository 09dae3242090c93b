import { instantOf } from '../../../json/index.ts'

/** The parts of axes that are shown, by name of the axis: `xaxis2`. In the units of the data. */
export type Ranges = ReadonlyMap<string, readonly [string, string]>

/** What is known of an axis: how its values are placed, and which part of it is shown. */
export interface ShownAxis {
  /** The place of a value; NaN for one that is not drawn. */
  place: (value: number) => number
  range: readonly [number, number] | undefined
}

/**
 * The axis of values that are numbers or dates, by its settings in the layout; undefined for one of labels, which are
 * places by their order. `asked`: the part that is shown now.
 */
export function shownAxis(
  settings: { type?: unknown; range?: unknown; autorange?: unknown } | undefined,
  areDates: boolean,
  asked: readonly [string, string] | undefined,
): ShownAxis | undefined {
  const { type, range, autorange } = settings ?? {}
  if (type === 'category' || type === 'multicategory') return undefined
  const isLog = type === 'log' && !areDates
  const place = isLog ? logarithm : finite
  const read = (end: unknown): number =>
    areDates && typeof end === 'string' ? instantOf(end) : typeof end === 'boolean' ? Number.NaN : Number(end)
  if (asked) return { place, range: inOrder(place(read(asked[0])), place(read(asked[1]))) }
  const isSet = Array.isArray(range) && range.length === 2 && autorange !== true
  // The range of a logarithmic axis is written in powers of ten.
  return { place, range: isSet ? inOrder(finite(read(range[0])), finite(read(range[1]))) : undefined }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN
}

function logarithm(value: number): number {
  return value > 0 ? finite(Math.log10(value)) : Number.NaN
}

function inOrder(from: number, to: number): readonly [number, number] | undefined {
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined
  return from <= to ? [from, to] : [to, from]
}
