import { type Attributes, keyOf, rowsByKey, setAt, takeRows } from './attributes.ts'
import { instant } from './axes.ts'

/** Gives bars the length from their `base` to their `y`: numbers, or times in ms. A bar without both ends is a gap. */
export function span(trace: Attributes): void {
  const { base, y } = trace
  if (!Array.isArray(base) || !Array.isArray(y)) return
  trace.y = y.map((end: unknown, k: number) => {
    const [from, to] = [placeOf(base[k]), placeOf(end)]
    return from === undefined || to === undefined ? null : to - from
  })
}

function placeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return value === null || value === undefined ? undefined : instant(value)
}

/** Puts values on the other side of zero. The pointer shows them as they are, in `customdata`. */
export function negate(trace: Attributes): void {
  if (!Array.isArray(trace.y)) return
  trace.customdata = trace.y
  trace.y = trace.y.map((value: unknown) => (typeof value === 'number' ? -value : null))
}

/** The share of the values that are at most as large as each of them, in percent. */
export function cumulate(trace: Attributes): void {
  if (!Array.isArray(trace.x)) return
  const values: unknown[] = trace.x
  const rows = [...values.keys()].filter((k) => typeof values[k] === 'number')
  takeRows(
    trace,
    rows.sort((a, b) => (values[a] as number) - (values[b] as number)),
  )
  // Of equal values, each has the share of the last.
  const shares: number[] = []
  let done = 0
  for (const [, own] of rowsByKey((trace.x as unknown[]).map(keyOf))) {
    done += own.length
    for (const k of own) shares[k] = (100 * done) / rows.length
  }
  setAt(trace, 'y', shares)
}
