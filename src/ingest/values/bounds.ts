// Lowest and highest values of slices, and their number of nulls.

import {
  findValueEnd,
  nextItem,
  parseJsonString,
  parseShortNumber,
  skipWhitespace,
} from '../../json/index.ts'
import { ColumnKernel } from '../kernel/columns.ts'

export interface Bounds {
  /** JSON of a number or string; undefined without values, for other values, and for long strings. */
  low?: string
  high?: string
  nulls: number
}

/** Maximum length of a stored bound, in characters of JSON. */
const MAX_BOUND_CHARACTERS = 100

/** Merges the bounds of two slices. `rows`: number of rows of each. */
export function mergeBounds(first: Bounds, second: Bounds, rows: readonly [number, number]): Bounds {
  const nulls = first.nulls + second.nulls
  if (first.nulls === rows[0]) return { ...second, nulls }
  if (second.nulls === rows[1]) return { ...first, nulls }
  const limits = [first.low, first.high, second.low, second.high]
  if (limits.some((text) => text === undefined)) return { nulls }
  const isText = limits.map((text) => text!.startsWith('"'))
  if (isText.some((text) => text !== isText[0])) return { nulls }
  const low = compareJson(first.low!, second.low!) <= 0 ? first.low : second.low
  const high = compareJson(first.high!, second.high!) >= 0 ? first.high : second.high
  return { low, high, nulls }
}

/** Compares two numbers or strings, given as JSON. */
function compareJson(a: string, b: string): number {
  if (!a.startsWith('"')) return Number(a) - Number(b)
  return Buffer.compare(Buffer.from(parseJsonString(a)), Buffer.from(parseJsonString(b)))
}

/** Returns the bounds of comma-separated JSON values. */
export function boundsOf(text: Buffer): Bounds {
  const found = ColumnKernel.findBounds(text)
  if (found) {
    const json = (span: readonly [number, number] | undefined): string | undefined =>
      span && boundUnlessLong(text.toString('utf8', ...span))
    return found.low
      ? { low: json(found.low), high: json(found.high), nulls: found.nulls }
      : { nulls: found.nulls }
  }
  let nulls = 0
  /** Kind of all values: a quote for strings, 0 for numbers, −1 for none yet. */
  let kind = -1
  let low = 0
  let lowStart = 0
  let lowEnd = 0
  let high = 0
  let highStart = 0
  let highEnd = 0
  const escapes = text.includes(0x5c)
  for (let i = skipWhitespace(text, 0); i < text.length; ) {
    const end = findValueEnd(text, i)
    const c = text[i]
    if (c === 0x6e) nulls++
    else if (kind !== MIXED) {
      const is = c === 0x22 ? c : c === 0x2d || (c >= 0x30 && c <= 0x39) ? 0 : MIXED
      const isFirst = kind < 0
      if (isFirst || is === MIXED) kind = is
      else if (is !== kind) kind = MIXED
      if (kind === MIXED) {
        // Mixed values have no order.
      } else if (is === 0) {
        const short = parseShortNumber(text, i, end)
        const value = Number.isNaN(short) ? Number(text.toString('latin1', i, end)) : short
        if (isFirst || value < low) {
          low = value
          lowStart = i
          lowEnd = end
        }
        if (isFirst || value > high) {
          high = value
          highStart = i
          highEnd = end
        }
      } else {
        if (isFirst || isStringBefore(text, i, end, lowStart, lowEnd, escapes)) {
          lowStart = i
          lowEnd = end
        }
        if (isFirst || isStringBefore(text, highStart, highEnd, i, end, escapes)) {
          highStart = i
          highEnd = end
        }
      }
    }
    i = nextItem(text, end)
  }
  if (kind === MIXED || kind < 0) return { nulls }
  return {
    low: boundUnlessLong(text.toString('utf8', lowStart, lowEnd)),
    high: boundUnlessLong(text.toString('utf8', highStart, highEnd)),
    nulls,
  }
}

const MIXED = 1

/** Returns whether the JSON string at [a, b) sorts before that at [c, d), by the bytes of their values. */
function isStringBefore(text: Buffer, a: number, b: number, c: number, d: number, escapes: boolean): boolean {
  let i = a + 1
  let k = c + 1
  for (; i < b - 1 && k < d - 1; i++, k++) {
    if (escapes && (text[i] === 0x5c || text[k] === 0x5c))
      return decodeJsonString(text, a, b).compare(decodeJsonString(text, c, d)) < 0
    if (text[i] !== text[k]) return text[i] < text[k]
  }
  return i === b - 1 && k < d - 1
}

/** Returns a bound, unless it is too long to store. */
export function boundUnlessLong(json: string): string | undefined {
  return json.length <= MAX_BOUND_CHARACTERS ? json : undefined
}

/** Returns the bytes of a JSON string's value. */
function decodeJsonString(text: Buffer, start: number, end: number): Buffer {
  return Buffer.from(parseJsonString(text.toString('utf8', start, end)))
}
