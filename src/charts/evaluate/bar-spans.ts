/** Transforms `span`, `negate` and `amounts`: bars between two values, and bars on two sides of zero. */
import type { Attributes } from '../figure/figure.ts'
import type { Transform } from './attributes.ts'
import { parsePlotlyDate } from './axis-types.ts'

/** Replaces `y` of bars by their length from `base`, in ms for times. A bar without both ends is a gap. */
export function replaceBySpans(trace: Attributes, transform: Transform): void {
  const { base, y } = trace
  if (!Array.isArray(base) || !Array.isArray(y)) return
  let backwards = 0
  trace.y = y.map((end: unknown, k: number) => {
    const [from, to] = [toPosition(base[k]), toPosition(end)]
    if (from === undefined || to === undefined) return null
    // Numbers can decrease, times cannot.
    if (to >= from || (typeof end === 'number' && transform.isTime !== true)) return to - from
    backwards++
    return null
  })
  if (backwards > 0) transform.unseen = [backwards, 'row', 'with an end before the start']
}

/** Returns a number, or a time in ms; undefined for other values. */
function toPosition(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return value === null || value === undefined ? undefined : parsePlotlyDate(value)
}

/** Copies values to `customdata`, for hover texts. Values below zero become gaps. */
export function keepAmounts(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.y)) return
  const isShown = (value: unknown): boolean => typeof value === 'number' && value >= 0
  const below = trace.y.filter((value: unknown) => typeof value === 'number' && value < 0).length
  if (below > 0) transform.unseen = [below, 'value', 'below zero']
  trace.y = trace.y.map((value: unknown) => (isShown(value) ? value : null))
  trace.customdata = trace.y
}

/** Negates values. `customdata` keeps the original ones, for hover texts. */
export function negateValues(trace: Attributes, transform: Transform): void {
  keepAmounts(trace, transform)
  if (Array.isArray(trace.y))
    trace.y = trace.y.map((value: number | null) => (value === null ? null : -value))
}
