/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: decodes column JSON 16 bytes at a time. Handles plain
 * values only: each function stops at the first other one, which TypeScript code reads (scalars.ts). The text is padded
 * with commas.
 */

import { decimal, MAX_PLACES } from '../../../../json/decimal.as'
import { daysSince1970, two } from '../../../../json/moment.as'
import { endOf, endOfText, skipBlanks } from '../../../../json/scan.as'

/** Memory layout of `doubles` and `codes`: cached texts, results, text of the column. */
export const MAX_KNOWN: i32 = 4096
export const KNOWN_BYTES: i32 = 64
export const PLACES: i32 = 8192
export const KNOWN: i32 = 4096
export const LENGTHS: i32 = KNOWN + MAX_KNOWN * KNOWN_BYTES + 16
export const TABLE: i32 = LENGTHS + MAX_KNOWN * 4
export const MAX_VALUES: i32 = 16_384
export const RESULTS: i32 = TABLE + PLACES * 4
export const STARTS: i32 = RESULTS + MAX_VALUES * 8
export const ENDS: i32 = STARTS + MAX_VALUES * 4
export const TEXT: i32 = ENDS + MAX_VALUES * 4

/** Address at which the last call stopped; 1 if the next value is not plain. */
export let stop: i32 = 0
export let odd: i32 = 0
/** Number of cached texts. */
export let known: i32 = 0

const BLANK: i32 = 0x20
const QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const ZERO: i32 = 0x30
const COLON: i32 = 0x3a
const LETTER_T: i32 = 0x54
const LETTER_Z: i32 = 0x5a
const LETTER_N: i32 = 0x6e

/** Maximum number of digits before the point: more may be an integer that no double is. */
const MAX_EXACT: i32 = 15

/**
 * Decodes the values in [from, to) to doubles in RESULTS: numbers of up to 15 digits before the point and 20 characters, without an exponent;
 * days and times in seconds as ms since 1970; NaN for null. Returns their number. Stops at the first other
 * value (sets `odd`), and when RESULTS is full.
 */
export function doubles(from: i32, to: i32): i32 {
  let n = 0
  let i = from
  odd = 0
  while (n < MAX_VALUES) {
    stop = i
    i = skipBlanks(i)
    if (i >= to) {
      stop = to
      break
    }
    let c = <i32>load<u8>(i)
    let value: f64 = NaN
    if (c == QUOTE) {
      const end = endOfText(i)
      value = instant(i + 1, end - 1)
      if (value != value) {
        odd = 1
        break
      }
      i = end
    } else if (c == LETTER_N) i += 4
    else {
      const start = i
      const negative = c == MINUS
      if (negative) c = <i32>load<u8>(++i)
      let digits: u64 = 0
      let point = 0
      while (true) {
        const digit = c - ZERO
        if (<u32>digit < 10) digits = digits * 10 + digit
        else if (c == POINT) point = i
        else break
        c = <i32>load<u8>(++i)
      }
      const first = start + <i32>negative
      const isLong = (point ? point : i) - first > MAX_EXACT || i - first > MAX_PLACES + 1
      if ((c != COMMA && c > BLANK) || isLong) {
        odd = 1
        break
      }
      value = decimal(digits, point ? i - point - 1 : 0)
      if (negative) value = -value
    }
    store<f64>(RESULTS + (n << 3), value)
    n++
    i = skipBlanks(i) + 1
  }
  if (n == MAX_VALUES) stop = i
  return n
}

/** Parses a day, or a time with seconds, to ms since 1970; NaN for others. */
function instant(at: i32, end: i32): f64 {
  const length = end - at
  if (length != 10 && length != 19 && (length != 20 || <i32>load<u8>(end - 1) != LETTER_Z)) return NaN
  if (<i32>load<u8>(at, 4) != MINUS || <i32>load<u8>(at, 7) != MINUS) return NaN
  const century = two(at)
  const decade = two(at + 2)
  const month = two(at + 5)
  const day = two(at + 8)
  if (century < 0 || decade < 0 || month < 1 || month > 12 || day < 1 || day > 31) return NaN
  // Bits of months with 31 days. February 29 is left to TypeScript code.
  if (day > 28 && (month == 2 || (day == 31 && ((0x15aa >>> month) & 1) == 0))) return NaN
  const year = century * 100 + decade
  if (year < 1) return NaN
  const time = <f64>daysSince1970(year, month, day) * 86_400_000
  if (length == 10) return time
  const separator = <i32>load<u8>(at, 10)
  if (separator != LETTER_T && separator != BLANK) return NaN
  if (<i32>load<u8>(at, 13) != COLON || <i32>load<u8>(at, 16) != COLON) return NaN
  const hour = two(at + 11)
  const minute = two(at + 14)
  const second = two(at + 17)
  if (<u32>hour > 23 || <u32>minute > 59 || <u32>second > 59) return NaN
  return time + <f64>((hour * 60 + minute) * 60 + second) * 1000
}

/** Clears the cache of texts. */
export function forget(): void {
  memory.fill(TABLE, 0, PLACES * 4)
  known = 0
}

/**
 * Encodes up to `most` values in [from, to) as i32 in RESULTS: the number of a cached text, −1 for null, −2 for all
 * others, whose bytes are [STARTS, ENDS). Caches up to MAX_KNOWN texts. Returns the number of values; sets
 * `stop` to the address where it continues when RESULTS is full. `multiplier` is odd and random, so that nobody can construct colliding texts.
 */
export function codes(from: i32, to: i32, multiplier: i32, most: i32): i32 {
  let n = 0
  let i = skipBlanks(from)
  while (n < most && i < to) {
    const end = endOf(i)
    let code = -2
    if (<i32>load<u8>(i) == LETTER_N) code = -1
    else if (<i32>load<u8>(i) == QUOTE && end - i <= KNOWN_BYTES) code = codeOf(i, end - i, multiplier)
    if (code == -2) {
      store<i32>(STARTS + (n << 2), i)
      store<i32>(ENDS + (n << 2), end)
    }
    store<i32>(RESULTS + (n << 2), code)
    n++
    i = skipBlanks(skipBlanks(end) + 1)
  }
  stop = i
  return n
}

/** Maximum number of probes per text. */
const MAX_TRIES: i32 = 8

function codeOf(at: i32, length: i32, multiplier: i32): i32 {
  let hash = length
  let k = 0
  for (; k + 4 <= length; k += 4) hash = ((hash ^ load<i32>(at + k)) * multiplier) ^ (hash >>> 15)
  for (; k < length; k++) hash = (hash ^ <i32>load<u8>(at + k)) * multiplier
  let place = (hash ^ (hash >>> 15)) & (PLACES - 1)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const code = load<i32>(TABLE + (place << 2)) - 1
    if (code < 0) {
      if (known == MAX_KNOWN) return -2
      const text = KNOWN + known * KNOWN_BYTES
      for (k = 0; k < length; k++) store<u8>(text + k, load<u8>(at + k))
      store<i32>(LENGTHS + (known << 2), length)
      store<i32>(TABLE + (place << 2), ++known)
      return known - 1
    }
    if (load<i32>(LENGTHS + (code << 2)) == length && isSame(KNOWN + code * KNOWN_BYTES, at, length))
      return code
    place = (place + 1) & (PLACES - 1)
  }
  return -2
}

function isSame(a: i32, b: i32, length: i32): bool {
  for (let k = 0; k < length; k += 16) {
    const left = length - k
    const valid: i32 = left >= 16 ? 0xffff : (1 << left) - 1
    if ((i8x16.bitmask(i8x16.eq(v128.load(a + k), v128.load(b + k))) & valid) != valid) return false
  }
  return true
}
