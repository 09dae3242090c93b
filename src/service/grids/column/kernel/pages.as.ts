/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: encodes column JSON as pages of Parquet files
 * (docs/adr/0057-parquet.md). A page has a level for each value, 0 for null, and the other values in the encoding
 * PLAIN. Stops at values that TypeScript code encodes (pages.ts). The text is padded with commas.
 */

import { decimal, MAX_PLACES } from '../../../../json/decimal.as'
import { days, micros, readMoment, UNREADABLE } from '../../../../json/moment.as'
import { endOf, endOfText, escapes, skipBlanks } from '../../../../json/scan.as'

/** Memory layout: constants of this file, levels and values of the page, text of the column. */
const LEVELS: i32 = 4096
const MAX_ROWS: i32 = 131_072
const VALUES: i32 = LEVELS + MAX_ROWS
const PAGE_BYTES: i32 = 1_048_576
const TEXT: i32 = VALUES + PAGE_BYTES + 64

/** Encodings of values. */
const INTEGER: i32 = 0
const DOUBLE: i32 = 1
const DAY: i32 = 2
const TIME: i32 = 3
const TEXT_VALUE: i32 = 4
const JSON_VALUE: i32 = 5
const BOOLEAN: i32 = 6

/** Facts about values, whatever their encoding, besides those about moments. */
const FRACTION: i32 = 1
const NEGATIVE_ZERO: i32 = 2
const WHOLE: i32 = 16_384
const PART: i32 = 32_768

/** Address at which the last call stopped. */
export let stop: i32 = 0
/** Why the last call stopped before its end: 1 for a value that is not plain, 2 for a full page. */
export let odd: i32 = 0
/** The page: end of its values, number of its rows and nulls, lowest and highest value. */
export let out: i32 = VALUES
export let rows: i32 = 0
export let nulls: i32 = 0
export let low: i64 = i64.MAX_VALUE
export let high: i64 = i64.MIN_VALUE
export let lowDouble: f64 = Infinity
export let highDouble: f64 = -Infinity
/** Facts about all values since they were set to 0. */
export let facts: i32 = 0

const ODD: i32 = 1
const FULL: i32 = 2
/** Space that a number and copies of 16 bytes need. */
const SLACK: i32 = 32

const LF: i32 = 0x0a
const BLANK: i32 = 0x20
const QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const SLASH: i32 = 0x2f
const ZERO: i32 = 0x30
const BRACKET: i32 = 0x5b
const BACKSLASH: i32 = 0x5c
const LETTER_E: i32 = 0x65
const LETTER_N: i32 = 0x6e
const LETTER_R: i32 = 0x72
const LOWER_T: i32 = 0x74
const BRACE: i32 = 0x7b

/** Maximum number of digits of an integer that always fits into 64 bits with its sign. */
const MAX_DIGITS: i32 = 18

/** Begins a page. */
export function begin(): void {
  out = VALUES
  rows = 0
  nulls = 0
  low = i64.MAX_VALUE
  high = i64.MIN_VALUE
  lowDouble = Infinity
  highDouble = -Infinity
}

/** Adds up to `most` values in [from, to) to the page. Returns their number; sets `stop` and `odd`. */
export function add(encoding: i32, from: i32, to: i32, most: i32): i32 {
  let i = from
  let n = 0
  odd = 0
  while (n < most) {
    stop = i
    i = skipBlanks(i)
    if (i >= to) {
      stop = to
      return n
    }
    if (rows == MAX_ROWS || out + SLACK > VALUES + PAGE_BYTES) {
      odd = FULL
      return n
    }
    const first = <i32>load<u8>(i)
    let level = 1
    if (first == LETTER_N) {
      level = 0
      nulls++
      i += 4
    } else if (encoding <= DOUBLE) i = number(encoding, i)
    else if (encoding <= TIME) i = moment(encoding, i)
    else if (encoding == BOOLEAN) {
      store<u8>(out++, first == LOWER_T ? 1 : 0)
      i = endOf(i)
    } else i = text(encoding, i)
    // The value is neither of them.
    if (odd) return n
    store<u8>(LEVELS + rows, level)
    rows++
    n++
    i = skipBlanks(i) + 1
  }
  stop = i
  return n
}

function addInteger(value: i64): void {
  store<i64>(out, value)
  out += 8
  low = min(low, value)
  high = max(high, value)
}

/** Adds a number. Returns its end. */
function number(encoding: i32, at: i32): i32 {
  let i = at
  let c = <i32>load<u8>(i)
  const isNegative = c == MINUS
  if (isNegative) c = <i32>load<u8>(++i)
  const start = i
  let digits: u64 = 0
  let point = 0
  while (true) {
    const digit = c - ZERO
    if (<u32>digit < 10) digits = digits * 10 + digit
    else if (c == POINT) point = i
    else break
    c = <i32>load<u8>(++i)
  }
  const hasExponent = (c | 0x20) == LETTER_E
  if (encoding == INTEGER) {
    if (hasExponent) {
      odd = ODD
      return i
    }
    if (point) return pointed(start, point, i, isNegative)
    if (i - start > MAX_DIGITS) odd = ODD
    else {
      facts |= isNegative && digits == 0 ? NEGATIVE_ZERO : WHOLE
      addInteger(isNegative ? -(<i64>digits) : <i64>digits)
    }
    return i
  }
  if (hasExponent || i - start > (point ? MAX_PLACES + 1 : MAX_PLACES)) {
    odd = ODD
    return i
  }
  let value = decimal(digits, point ? i - point - 1 : 0)
  if (isNegative) value = -value
  store<f64>(out, value)
  out += 8
  lowDouble = min(lowDouble, value)
  highDouble = max(highDouble, value)
  return i
}

/** Adds a number [start, end) with a point as an integer. Returns its end. */
function pointed(start: i32, point: i32, end: i32, isNegative: bool): i32 {
  facts |= FRACTION
  for (let k = point + 1; k < end; k++)
    if (<i32>load<u8>(k) != ZERO) {
      facts |= PART
      addInteger(0)
      return end
    }
  if (point - start > MAX_DIGITS) {
    odd = ODD
    return end
  }
  let digits: i64 = 0
  for (let k = start; k < point; k++) digits = digits * 10 + (<i32>load<u8>(k) - ZERO)
  facts |= isNegative && digits == 0 ? NEGATIVE_ZERO : WHOLE
  addInteger(isNegative ? -digits : digits)
  return end
}

/** Adds a day or a time. Returns its end. */
function moment(encoding: i32, at: i32): i32 {
  const isText = <i32>load<u8>(at) == QUOTE
  const end = isText ? endOfText(at) : endOf(at)
  const found = isText ? readMoment(at + 1, end - 1) : UNREADABLE
  facts |= found
  const isKnown = (found & UNREADABLE) == 0
  if (encoding == DAY) {
    const day = isKnown ? days : 0
    store<i32>(out, day)
    out += 4
    low = min(low, <i64>day)
    high = max(high, <i64>day)
  } else addInteger(isKnown ? micros : 0)
  return end
}

/** Adds a text, or a value as its JSON. Returns its end. */
function text(encoding: i32, at: i32): i32 {
  const first = <i32>load<u8>(at)
  const end = endOf(at)
  const isText = first == QUOTE && encoding == TEXT_VALUE
  const from = isText ? at + 1 : at
  const length = (isText ? end - 1 : end) - from
  if (out + length + SLACK > VALUES + PAGE_BYTES) {
    odd = FULL
    return end
  }
  const target = out + 4
  if (isText && escapes) {
    const last = unescape(from, from + length, target)
    if (last == 0) {
      odd = ODD
      return end
    }
    store<i32>(out, last - target)
    out = last
    return end
  }
  const isNested = first == BRACKET || first == BRACE
  if (isNested && encoding == TEXT_VALUE && hasLines(from, end)) {
    odd = ODD
    return end
  }
  for (let k = 0; k < length; k += 16) v128.store(target + k, v128.load(from + k))
  store<i32>(out, length)
  out = target + length
  return end
}

function hasLines(from: i32, to: i32): bool {
  for (let i = from; i < to; i++) if (<i32>load<u8>(i) < BLANK) return true
  return false
}

/** Writes the characters of a text. Returns their end; 0 for escapes such as \u. */
function unescape(from: i32, to: i32, target: i32): i32 {
  let i = from
  let at = target
  while (i < to) {
    const v = v128.load(i)
    v128.store(at, v)
    const found = i8x16.bitmask(i8x16.eq(v, i8x16.splat(<i8>BACKSLASH)))
    const plain = min(found ? <i32>ctz(found) : 16, to - i)
    i += plain
    at += plain
    if (i >= to || plain == 16) continue
    const c = <i32>load<u8>(i, 1)
    i += 2
    let decoded = c
    if (c == LETTER_N) decoded = LF
    else if (c == LETTER_R) decoded = 0x0d
    else if (c == LOWER_T) decoded = 0x09
    else if (c != QUOTE && c != BACKSLASH && c != SLASH) return 0
    store<u8>(at++, decoded)
  }
  return at
}
