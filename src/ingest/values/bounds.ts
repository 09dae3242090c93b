/** The lowest and the highest value of a slice, and how many of its values are null. */
import { endOf, skipBlanks } from '../../json/index.ts'

export interface Bounds {
  /** JSON texts of numbers, or of texts; undefined without values, of other values, and of long texts. */
  low?: string
  high?: string
  nulls: number
}

/** Bytes of the longest text that is kept. */
const MAX_TEXT_BYTES = 100

/** Of the values of two slices together. `rows`: how many each has. */
export function boundsTogether(one: Bounds, other: Bounds, rows: readonly [number, number]): Bounds {
  const nulls = one.nulls + other.nulls
  if (one.nulls === rows[0]) return { ...other, nulls }
  if (other.nulls === rows[1]) return { ...one, nulls }
  const all = [one.low, one.high, other.low, other.high]
  if (all.some((text) => text === undefined)) return { nulls }
  const isText = all.map((text) => text!.startsWith('"'))
  if (isText.some((text) => text !== isText[0])) return { nulls }
  const low = compared(one.low!, other.low!) <= 0 ? one.low : other.low
  const high = compared(one.high!, other.high!) >= 0 ? one.high : other.high
  return { low, high, nulls }
}

function compared(a: string, b: string): number {
  if (!a.startsWith('"')) return Number(a) - Number(b)
  return Buffer.compare(Buffer.from(JSON.parse(a) as string), Buffer.from(JSON.parse(b) as string))
}

/** Returns the bounds of comma-separated JSON values. */
export function boundsOf(text: Buffer): Bounds {
  let nulls = 0
  /** The first byte that all values have in common: of texts a quote, of numbers 0. */
  let kind = -1
  let low = 0
  let lowStart = 0
  let lowEnd = 0
  let high = 0
  let highStart = 0
  let highEnd = 0
  const escapes = text.includes(0x5c)
  for (let i = skipBlanks(text, 0); i < text.length; ) {
    const end = endOf(text, i)
    const c = text[i]
    if (c === 0x6e) nulls++
    else if (kind !== MIXED) {
      const is = c === 0x22 ? c : c === 0x2d || (c >= 0x30 && c <= 0x39) ? 0 : MIXED
      const isFirst = kind < 0
      if (isFirst || is === MIXED) kind = is
      else if (is !== kind) kind = MIXED
      if (kind === MIXED) {
        // Its values have no order.
      } else if (is === 0) {
        const value = Number(text.toString('latin1', i, end))
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
        if (isFirst || isTextBefore(text, i, end, lowStart, lowEnd, escapes)) {
          lowStart = i
          lowEnd = end
        }
        if (isFirst || isTextBefore(text, highStart, highEnd, i, end, escapes)) {
          highStart = i
          highEnd = end
        }
      }
    }
    i = skipBlanks(text, end)
    if (text[i] === 0x2c) i = skipBlanks(text, i + 1)
  }
  if (kind === MIXED || kind < 0) return { nulls }
  return {
    low: kept(text.toString('utf8', lowStart, lowEnd)),
    high: kept(text.toString('utf8', highStart, highEnd)),
    nulls,
  }
}

const MIXED = 1

/** Returns whether the JSON text at [a, b) comes before that at [c, d), by the bytes of what they mean. */
function isTextBefore(text: Buffer, a: number, b: number, c: number, d: number, escapes: boolean): boolean {
  let i = a + 1
  let k = c + 1
  for (; i < b - 1 && k < d - 1; i++, k++) {
    if (escapes && (text[i] === 0x5c || text[k] === 0x5c))
      return textIn(text, a, b).compare(textIn(text, c, d)) < 0
    if (text[i] !== text[k]) return text[i] < text[k]
  }
  return i === b - 1 && k < d - 1
}

/** Returns a bound, unless it is long. */
export function kept(json: string): string | undefined {
  return json.length <= MAX_TEXT_BYTES ? json : undefined
}

/** Returns the bytes of a text in JSON. */
function textIn(text: Buffer, start: number, end: number): Buffer {
  return Buffer.from(JSON.parse(text.toString('utf8', start, end)) as string)
}
