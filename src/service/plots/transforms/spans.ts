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
    if (to >= from || typeof end === 'number') return to - from
    backwards++
    return null
  })
  if (backwards > 0) transform.unseen = [backwards, 'row', 'with an end before the start']
}

function placeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return value === null || value === undefined ? undefined : instant(value)
}

/** Keeps values for the pointer, beside those of the other side. */
export function amounts(trace: Attributes): void {
  trace.customdata = trace.y
}

/** Puts values on the other side of zero. The pointer shows them as they are, in `customdata`. */
export function negate(trace: Attributes): void {
  if (!Array.isArray(trace.y)) return
  trace.customdata = trace.y
  trace.y = trace.y.map((value: unknown) => (typeof value === 'number' ? -value : null))
}
