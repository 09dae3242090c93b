import type { Attributes, Transform } from './attributes.ts'
import { instant } from './axes.ts'

/** Gives bars the length from their `base` to their `y`: numbers, or times in ms. A bar without both ends is a gap. */
export function span(trace: Attributes, transform: Transform): void {
  const { base, y } = trace
  if (!Array.isArray(base) || !Array.isArray(y)) return
  let backwards = 0
  trace.y = y.map((end: unknown, k: number) => {
    const [from, to] = [placeOf(base[k]), placeOf(end)]
    if (from === undefined || to === undefined) return null
    // Numbers can fall; time does not.
    if (to >= from || (typeof end === 'number' && transform.isTime !== true)) return to - from
    backwards++
    return null
  })
  if (backwards > 0) transform.unseen = [backwards, 'row', 'with an end before the start']
}

function placeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return value === null || value === undefined ? undefined : instant(value)
}

/** Keeps values for the pointer, beside those of the other side. There is no side for a value below zero. */
export function amounts(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.y)) return
  const isPart = (value: unknown): boolean => typeof value === 'number' && value >= 0
  const below = trace.y.filter((value: unknown) => typeof value === 'number' && value < 0).length
  if (below > 0) transform.unseen = [below, 'value', 'below zero']
  trace.y = trace.y.map((value: unknown) => (isPart(value) ? value : null))
  trace.customdata = trace.y
}

/** The same on the other side of zero. The pointer shows values as they are, in `customdata`. */
export function negate(trace: Attributes, transform: Transform): void {
  amounts(trace, transform)
  if (Array.isArray(trace.y))
    trace.y = trace.y.map((value: unknown) => (value === null ? null : -(value as number)))
}
