// Parses and formats ranges, shares and durations in checks files.
import type { Range } from './types.ts'

/** Parses `100`, `1..`, `..500` or `1..500`; with `percent`, `-10%..+50%`. Undefined for other values. */
export function parseRange(value: unknown, percent = false): Range | undefined {
  if (typeof value === 'number')
    return percent || !Number.isFinite(value) ? undefined : { from: value, to: value }
  if (typeof value !== 'string') return undefined
  const pattern = percent ? /^[+-]?\d+(?:\.\d+)?\s*%$/ : /^\d+$/
  const ends = value.split('..').map((end) => end.trim())
  if (ends.length > 2 || ends.some((end) => end !== '' && !pattern.test(end))) return undefined
  const numbers = ends.map((end) => (end === '' ? undefined : Number(end.replace('%', ''))))
  const [from, to] = numbers.length === 1 ? [numbers[0], numbers[0]] : numbers
  if (from === undefined && to === undefined) return undefined
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  return range.from !== undefined && range.to !== undefined && range.from > range.to ? undefined : range
}

/** Parses `5%` or `0.05` to a number from 0 to 1. Returns undefined for other values. */
export function parseShare(text: unknown): number | undefined {
  const value =
    typeof text === 'number'
      ? text
      : typeof text === 'string' && /^\s*\d+(\.\d+)?\s*%\s*$/.test(text)
        ? Number(text.replace('%', '')) / 100
        : Number.NaN
  return value >= 0 && value <= 1 ? value : undefined
}

/** Milliseconds per unit of a duration. */
const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

/** Parses `30m`, `36h`, `2d`, `1w` or `2 days` to ms. Returns undefined for other values. */
export function parseDurationMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const match = /^\s*(\d+(?:\.\d+)?)\s*(m|h|d|w|min|minutes?|hours?|days?|weeks?)\s*$/.exec(value)
  return match ? Number(match[1]) * UNIT_MS[match[2][0]] : undefined
}

/** Formats a range: `5`, `2 to 10`, `1 or more`, `10 or less`. */
export function formatRange({ from, to }: Range, unit = ''): string {
  if (from !== undefined && to !== undefined)
    return from === to ? `${from}${unit}` : `${from}${unit} to ${to}${unit}`
  return from !== undefined ? `${from}${unit} or more` : `${to}${unit} or less`
}

/** Formats a share from 0 to 1: `2.5%`. */
export function formatPercent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`
}
