/** Values in checks files: ranges, shares and durations. */
import type { Range } from './types.ts'

/** `100`, `1..`, `..500`, `1..500`; with `percent`, `-10%..+50%`. Undefined: no range. */
export function rangeOf(given: unknown, percent = false): Range | undefined {
  if (typeof given === 'number')
    return percent || !Number.isFinite(given) ? undefined : { from: given, to: given }
  if (typeof given !== 'string') return undefined
  const number = percent ? String.raw`[+-]?\d+(?:\.\d+)?\s*%` : String.raw`\d+`
  const found = new RegExp(`^\\s*(${number})?\\s*(\\.\\.)?\\s*(${number})?\\s*$`).exec(given)
  if (!found) return undefined
  const [from, dots, to] = [found[1], found[2], found[3]].map((text) => text?.replace('%', ''))
  if (from === undefined && to === undefined) return undefined
  if (dots === undefined) {
    if (from === undefined || to !== undefined) return undefined
    return { from: Number(from), to: Number(from) }
  }
  const range = {
    ...(from !== undefined && { from: Number(from) }),
    ...(to !== undefined && { to: Number(to) }),
  }
  return range.from !== undefined && range.to !== undefined && range.from > range.to ? undefined : range
}

/** `5%` or `0.05`, as a number from 0 to 1. */
export function shareOf(given: unknown): number | undefined {
  const value =
    typeof given === 'number'
      ? given
      : typeof given === 'string' && /^\s*\d+(\.\d+)?\s*%\s*$/.test(given)
        ? Number(given.replace('%', '')) / 100
        : Number.NaN
  return value >= 0 && value <= 1 ? value : undefined
}

const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

/** `30m`, `36h`, `2d`, `1w`, also `2 days`: milliseconds. */
export function durationOf(given: unknown): number | undefined {
  if (typeof given !== 'string') return undefined
  const found = /^\s*(\d+(?:\.\d+)?)\s*(m|h|d|w|min|minutes?|hours?|days?|weeks?)\s*$/.exec(given)
  return found ? Number(found[1]) * UNITS[found[2][0]] : undefined
}

/** A range in words: `1 or more`, `2 to 10`. */
export function rangeText({ from, to }: Range, unit = ''): string {
  if (from !== undefined && to !== undefined)
    return from === to ? `${from}${unit}` : `${from}${unit} to ${to}${unit}`
  return from !== undefined ? `${from}${unit} or more` : `${to}${unit} or less`
}

export function percentText(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`
}
