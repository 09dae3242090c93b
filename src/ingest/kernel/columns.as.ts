/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: reads column JSON, which is padded with commas.
 * Finds the lowest and highest value, as `boundsOf` (values/bounds.ts) does, and where slices end, as
 * `findSliceEnds` (values/slice-ends.ts) does.
 */

import { AMBIGUOUS_ESCAPE, endOf, escapes, skipBlanks, skipValues } from '../../json/scan.as'
import { moments, numbers, times, weightWith, withValue } from './rows.as'

export { moments, numbers, times }

/** Memory layout: constants of this file; hash and size of each row; ends of slices; the text. */
export const MAX_ROWS: i32 = 131_072
export const HASHES: i32 = 2048
export const SIZES: i32 = HASHES + MAX_ROWS * 4
export const MAX_ENDS: i32 = 1024
export const LIST: i32 = SIZES + MAX_ROWS * 4
export const TEXT: i32 = LIST + MAX_ENDS * 4

/** Results: number of nulls; address and end of the lowest and highest value. */
export let nulls: i32 = 0
export let low: i32 = 0
export let lowEnd: i32 = 0
export let high: i32 = 0
export let highEnd: i32 = 0

/** Results of `bounds`. Other values are left to TypeScript code. */
const ORDERED: i32 = 0
const UNORDERED: i32 = 1
const UNKNOWN: i32 = 2

const QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const ZERO: i32 = 0x30
const BACKSLASH: i32 = 0x5c
const LETTER_N: i32 = 0x6e
/** Maximum number of digits that a double represents exactly. */
const MAX_DIGITS: i32 = 15

/** Powers of ten, from 0 to 15. */
const POWERS: StaticArray<f64> = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
]

/** Returns the number in [at, end); NaN if it has many digits, or an exponent. */
function numberAt(at: i32, end: i32): f64 {
  const negative = <i32>load<u8>(at) == MINUS
  const from = at + <i32>negative
  if (end - from > MAX_DIGITS) return NaN
  let digits: u64 = 0
  let places = 0
  for (let i = from; i < end; i++) {
    const c = <i32>load<u8>(i)
    if (c == POINT) places = end - i - 1
    else if (<u32>(c - ZERO) < 10) digits = digits * 10 + (c - ZERO)
    else return NaN
  }
  const value = places == 0 ? <f64>digits : <f64>digits / unchecked(POWERS[places])
  return negative ? -value : value
}

/** Returns the byte that the escape with this letter stands for. */
function decoded(letter: i32): i32 {
  if (letter == LETTER_N) return 0x0a
  if (letter == 0x74) return 0x09
  if (letter == 0x72) return 0x0d
  if (letter == 0x62) return 0x08
  if (letter == 0x66) return 0x0c
  return letter
}

/** Returns whether the string [a, aEnd) sorts before [b, bEnd), by the bytes of their values. `plain`: without escapes. */
function isBefore(a: i32, aEnd: i32, b: i32, bEnd: i32, plain: bool): bool {
  return plain
    ? isPlainBefore(a + 1, aEnd - 1, b + 1, bEnd - 1)
    : isDecodedBefore(a + 1, aEnd - 1, b + 1, bEnd - 1)
}

function isPlainBefore(a: i32, aEnd: i32, b: i32, bEnd: i32): bool {
  const length = min(aEnd - a, bEnd - b)
  for (let i = 0; i < length; i += 8) {
    const word = load<u64>(a + i)
    const other = load<u64>(b + i)
    if (word != other && i + <i32>(ctz(word ^ other) >> 3) < length)
      return bswap<u64>(word) < bswap<u64>(other)
  }
  return aEnd - a < bEnd - b
}

function isDecodedBefore(a: i32, aEnd: i32, b: i32, bEnd: i32): bool {
  let i = a
  let k = b
  while (i < aEnd && k < bEnd) {
    let c = <i32>load<u8>(i++)
    let d = <i32>load<u8>(k++)
    if (c == BACKSLASH) c = decoded(<i32>load<u8>(i++))
    if (d == BACKSLASH) d = decoded(<i32>load<u8>(k++))
    if (c != d) return c < d
  }
  return i >= aEnd && k < bEnd
}

/** Returns whether two values have the same bytes. */
function isSame(a: i32, aEnd: i32, b: i32, bEnd: i32): bool {
  const length = aEnd - a
  if (bEnd - b != length) return false
  for (let i = 0; i < length; i += 8) {
    const different = load<u64>(a + i) ^ load<u64>(b + i)
    if (different && i + <i32>(ctz(different) >> 3) < length) return false
  }
  return true
}

/** First bytes of the value of a text, as a number. Texts of which these differ sort like these. */
function prefixOf(at: i32, end: i32, plain: bool): u64 {
  const length = end - at - 2
  if (plain) {
    const word = bswap<u64>(load<u64>(at + 1))
    return length >= 8 ? word : length == 0 ? 0 : word & ~(<u64>-1 >> (length << 3))
  }
  let prefix: u64 = 0
  for (let i = at + 1, bits = 56; bits >= 0 && i < end - 1; i++, bits -= 8) {
    let c = <i32>load<u8>(i)
    if (c == BACKSLASH) c = decoded(<i32>load<u8>(++i))
    prefix |= (<u64>c) << bits
  }
  return prefix
}

/**
 * Number of digits before the point, and first bytes, of the number in [at, end), as a number that sorts like it; 0 if it
 * has a sign or an exponent, or more than MAX_DIGITS characters. Numbers of which these differ sort like these.
 */
function magnitudeOf(at: i32, end: i32): u64 {
  const length = end - at
  if (length > MAX_DIGITS) return 0
  const v = v128.load(at)
  const mask = (1 << length) - 1
  const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, i8x16.splat(<i8>ZERO)), i8x16.splat(10))) & mask
  const point = i8x16.bitmask(i8x16.eq(v, i8x16.splat(<i8>POINT))) & mask
  if ((digits | point) != mask) return 0
  const word = bswap<u64>(load<u64>(at))
  const bytes = length >= 8 ? word : word & ~(<u64>-1 >> (length << 3))
  return ((<u64>ctz(point | (1 << length))) << 56) | (bytes >> 8)
}

/** Finds the bounds of the values in [from, to). `low` and `high` are valid if they are ordered. */
export function bounds(from: i32, to: i32): i32 {
  nulls = 0
  let isFirst = true
  let areNumbers = false
  let areMixed = false
  let lowest: f64 = 0
  let highest: f64 = 0
  let lowPlain = true
  let highPlain = true
  // A value whose key is between these is neither lower nor higher.
  let lowKey: u64 = -1
  let highKey: u64 = 0
  let i = skipBlanks(from)
  while (i < to) {
    const first = <i32>load<u8>(i)
    const end = endOf(i)
    if (first == LETTER_N) nulls++
    else if (!areMixed) {
      const isNumber = first == MINUS || <u32>(first - ZERO) < 10
      if ((!isNumber && first != QUOTE) || (!isFirst && isNumber != areNumbers)) areMixed = true
      else if (isNumber) {
        const key = magnitudeOf(i, end)
        if (key <= lowKey || key >= highKey) {
          const value = numberAt(i, end)
          if (value != value) return UNKNOWN
          if (isFirst || value < lowest) {
            lowest = value
            low = i
            lowEnd = end
            lowKey = value < 0 ? 0 : key
          }
          if (isFirst || value > highest) {
            highest = value
            high = i
            highEnd = end
            highKey = key
          }
        }
      } else {
        if (escapes & AMBIGUOUS_ESCAPE) return UNKNOWN
        const plain = escapes == 0
        const key = prefixOf(i, end, plain)
        if (
          isFirst ||
          key < lowKey ||
          (key == lowKey && !isSame(i, end, low, lowEnd) && isBefore(i, end, low, lowEnd, plain && lowPlain))
        ) {
          low = i
          lowEnd = end
          lowPlain = plain
          lowKey = key
        }
        if (
          isFirst ||
          key > highKey ||
          (key == highKey &&
            !isSame(i, end, high, highEnd) &&
            isBefore(high, highEnd, i, end, plain && highPlain))
        ) {
          high = i
          highEnd = end
          highPlain = plain
          highKey = key
        }
      }
      areNumbers = isNumber
      isFirst = false
    }
    i = skipBlanks(end)
    if (<i32>load<u8>(i) == COMMA) i = skipBlanks(i + 1)
  }
  return areMixed || isFirst ? UNORDERED : ORDERED
}

/** Clears the hashes and sizes of `count` rows. */
export function beginRows(count: i32): void {
  memory.fill(HASHES, 0, count << 2)
  memory.fill(SIZES, 0, count << 2)
}

/**
 * Adds a column, whose values are in [from, to), to the sizes of its rows and, if it is a key, to their hashes.
 * Returns the number of values, up to MAX_ROWS + 1.
 */
export function addColumn(from: i32, to: i32, isKey: bool): i32 {
  let i = skipBlanks(from)
  let n = 0
  while (i < to) {
    if (n == MAX_ROWS) return MAX_ROWS + 1
    const first = <i32>load<u8>(i)
    const end = endOf(i)
    const size = SIZES + (n << 2)
    store<i32>(size, load<i32>(size) + end - i)
    if (isKey) {
      const isText = <i32>(first == QUOTE)
      // A null is hashed as an empty cell.
      const length = first == LETTER_N ? 0 : end - i - (isText << 1)
      const hash = HASHES + (n << 2)
      store<i32>(hash, withValue(load<i32>(hash), i + isText, length))
    }
    n++
    i = skipBlanks(end)
    if (<i32>load<u8>(i) == COMMA) i = skipBlanks(i + 1)
  }
  return n
}

/** Returns the end of value `count`, from 1, of the values from `from` on. There are that many. */
export function endOfValue(from: i32, count: i32): i32 {
  return endOf(skipBlanks(skipValues(from, count - 1)))
}

/** Result of `findEnds`: weight of the rows since the last end. */
export let size: i32 = 0

/** Writes the rows, from 1, after which slices end to LIST. Returns their number, up to MAX_ENDS. */
export function findEnds(rows: i32, before: i32): i32 {
  let now = before
  let n = 0
  for (let r = 0; r < rows && n < MAX_ENDS; r++) {
    now = weightWith(load<i32>(HASHES + (r << 2)), load<i32>(SIZES + (r << 2)), now)
    if (now == 0) store<i32>(LIST + (n++ << 2), r + 1)
  }
  size = now
  return n
}
