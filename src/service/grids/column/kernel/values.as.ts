/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: reads column JSON 16 bytes at a time. Handles
 * plain values and rows only: each function stops at the first other one, which TypeScript code reads
 * (scalars.ts, rows.ts). The text is padded with commas.
 */

import { decimal, MAX_PLACES } from '../../../../json/decimal.as'
import { endOf, endOfText, escapes, skipBlanks, skipValues } from '../../../../json/scan.as'

/**
 * Memory layout of `rows`: constants of this file, row numbers, output. Columns, prefixes and texts are where the caller
 * puts them.
 */
export const COLUMN_BYTES: i32 = 24
export const LIST: i32 = 2048
export const MAX_ROWS: i32 = 4096
export const OUT: i32 = LIST + MAX_ROWS * 4

/** Memory layout of `gather`: row numbers, output, texts. */
export const OUT_BYTES: i32 = 524_288
export const TEXTS: i32 = OUT + OUT_BYTES + 64

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

/** Address at which the last call stopped; 1 if the next value or row is not plain. */
export let stop: i32 = 0
export let odd: i32 = 0
/** End of the output of `rows`. */
export let out: i32 = 0
/** Number of cached texts. */
export let known: i32 = 0

const LF: i32 = 0x0a
const BLANK: i32 = 0x20
const QUOTE: i32 = 0x22
const APOSTROPHE: i32 = 0x27
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const ZERO: i32 = 0x30
const NINE: i32 = 0x39
const COLON: i32 = 0x3a
const LETTER_T: i32 = 0x54
const LETTER_Z: i32 = 0x5a
const BRACKET: i32 = 0x5b
const BACKSLASH: i32 = 0x5c
const LETTER_N: i32 = 0x6e
const BRACE: i32 = 0x7b

/** Copies `length` bytes, and up to 31 more. Returns the end of the copy. */
function copy(from: i32, length: i32, target: i32): i32 {
  v128.store(target, v128.load(from))
  v128.store(target, v128.load(from, 16), 16)
  return length > 32 ? copyLong(from, length, target) : target + length
}

function copyLong(from: i32, length: i32, target: i32): i32 {
  for (let k = 32; k < length; k += 16) v128.store(target + k, v128.load(from + k))
  return target + length
}

let structs: i32 = 0
let structsEnd: i32 = 0
let cells: i32 = 0
let rowBytes: i32 = 0
let outEnd: i32 = 0
let separator: i32 = 0
let after: i32 = 0
let afterLength: i32 = 0

/**
 * Sets the format of `rows`: the address and number of the structs of columns, the size of the output, the separator
 * of CSV (−1 for JSON cells), and the text after a row. Room for the places of cells follows the structs.
 */
export function format(
  columnsAt: i32,
  columns: i32,
  outBytes: i32,
  cellSeparator: i32,
  rowEnd: i32,
  rowEndLength: i32,
): void {
  structs = columnsAt
  structsEnd = columnsAt + columns * COLUMN_BYTES
  cells = structsEnd
  rowBytes = columns << 3
  outEnd = OUT + outBytes
  separator = cellSeparator
  after = rowEnd
  afterLength = rowEndLength
}

/**
 * Place of a cell: start and end of the text that is written for it. Flags of the end: this is a string without its
 * quotes; it is empty, for a null; it must be changed, which `writeSpecial` does.
 */
const ADDRESS: i32 = 0x0fffffff
const STRING: i32 = 0x10000000
const NULL: i32 = 0x20000000
const SPECIAL: i32 = <i32>0x80000000
/** Maximum number of places, if a row does not have more. */
export const MAX_CELLS: i32 = 8192

/**
 * Finds the cells of up to `count` rows from LIST + `from` * 4, as far as there is room for their places. Returns their
 * number. Each column has a struct of 6 × i32: address and row of its next value; 1 if its values are simple; 1 if all
 * rows have the same value; address and length of the prefix of a cell.
 */
export function locate(from: i32, count: i32): i32 {
  const most = min(count, max(1, (MAX_CELLS << 3) / rowBytes))
  const list = LIST + (from << 2)
  let cell = cells
  for (let column = structs; column < structsEnd; column += COLUMN_BYTES, cell += 8) {
    if (load<i32>(column, 12) != 0) locateConstant(column, cell, most)
    else if (load<i32>(column, 8) != 0) locateSimple(column, cell, list, most)
    else locateOthers(column, cell, list, most)
  }
  return most
}

function locateConstant(column: i32, firstCell: i32, count: i32): void {
  const at = load<i32>(column)
  const end = endOf(at)
  let cell = firstCell
  for (let n = count; n > 0; n--, cell += rowBytes) placeOther(cell, at, end)
}

/** Returns the bits of the commas in 64 bytes. */
function commasIn(at: i32): u64 {
  const comma = i8x16.splat(<i8>COMMA)
  return (
    <u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(at), comma))) |
    ((<u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(at, 16), comma)))) << 16) |
    ((<u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(at, 32), comma)))) << 32) |
    ((<u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(at, 48), comma)))) << 48)
  )
}

/** Finds the cells of a column of simple values: numbers, booleans, dates and times. */
function locateSimple(column: i32, firstCell: i32, list: i32, count: i32): void {
  const step = rowBytes
  let at = load<i32>(column)
  let next = load<i32>(column, 4)
  let base = at
  let commas = commasIn(base)
  let cell = firstCell
  const listEnd = list + (count << 2)
  for (let place = list; place < listEnd; place += 4, cell += step, next++) {
    const row = load<i32>(place)
    if (row != next) {
      let behind = row - next
      next = row
      for (let passed = <i32>popcnt(commas); passed < behind; passed = <i32>popcnt(commas)) {
        behind -= passed
        base += 64
        commas = commasIn(base)
      }
      while (--behind > 0) commas &= commas - 1
      at = base + <i32>ctz(commas) + 1
      commas &= commas - 1
    }
    while (commas == 0) {
      base += 64
      commas = commasIn(base)
    }
    const end = base + <i32>ctz(commas)
    commas &= commas - 1
    const first = <i32>load<u8>(at)
    if (first > COMMA && first <= NINE && <i32>load<u8>(end - 1) > BLANK) {
      store<i32>(cell, at)
      store<i32>(cell, end, 4)
    } else placeSimple(cell, at, end)
    at = end + 1
  }
  store<i32>(column, at)
  store<i32>(column, next, 4)
}

function locateOthers(column: i32, firstCell: i32, list: i32, count: i32): void {
  const step = rowBytes
  let at = load<i32>(column)
  let next = load<i32>(column, 4)
  let cell = firstCell
  const listEnd = list + (count << 2)
  for (let place = list; place < listEnd; place += 4, cell += step, next++) {
    const row = load<i32>(place)
    if (row != next) {
      at = skipValues(at, row - next)
      next = row
    }
    if (<i32>load<u8>(at) <= BLANK) at = skipBlanks(at)
    const v = v128.load(at, 1)
    const found = i8x16.bitmask(
      v128.or(i8x16.eq(v, i8x16.splat(<i8>QUOTE)), i8x16.eq(v, i8x16.splat(<i8>BACKSLASH))),
    )
    let end = at + <i32>ctz(found) + 1
    if (found != 0 && <i32>load<u8>(at) == QUOTE && <i32>load<u8>(end) == QUOTE) {
      const separators = i8x16.bitmask(i8x16.eq(v, i8x16.splat(<i8>separator)))
      placeString(cell, at, ++end, (separators & (found - 1) & ~found) == 0)
    } else {
      end = endOf(at)
      placeOther(cell, at, end)
    }
    at = (<i32>load<u8>(end) == COMMA ? end : skipBlanks(end)) + 1
  }
  store<i32>(column, at)
  store<i32>(column, next, 4)
}

/** Stores the place of a simple value that may have blanks around it. */
function placeSimple(cell: i32, from: i32, to: i32): void {
  let at = from
  let end = to
  while (<i32>load<u8>(at) <= BLANK) at++
  while (<i32>load<u8>(end - 1) <= BLANK) end--
  if (<i32>load<u8>(at) == QUOTE) placeString(cell, at, end, true)
  else placeOther(cell, at, end)
}

/** Stores the place of a string without escapes. `isWhole`: it does not contain the separator. */
function placeString(cell: i32, at: i32, end: i32, isWhole: bool): void {
  if (separator >= 0 && isWhole && isPlainAtEnds(at + 1, end - 1)) {
    store<i32>(cell, at + 1)
    store<i32>(cell, (end - 1) | STRING, 4)
  } else {
    store<i32>(cell, at)
    store<i32>(cell, separator < 0 ? end : end | SPECIAL, 4)
  }
}

/** Stores the place of a value. Of a string, `escapes` must be set. */
function placeOther(cell: i32, at: i32, end: i32): void {
  const first = <i32>load<u8>(at)
  if (first == QUOTE && escapes == 0) {
    placeString(cell, at, end, separator < 0 || !hasSeparator(at + 1, end - 1))
    return
  }
  store<i32>(cell, at)
  if (first == BRACKET || first == BRACE || (first == QUOTE && separator >= 0))
    store<i32>(cell, end | SPECIAL, 4)
  else if (first == LETTER_N && separator >= 0) store<i32>(cell, at | NULL, 4)
  else store<i32>(cell, end, 4)
}

/**
 * Writes up to `count` rows from LIST + `from` * 4 to OUT, whose cells were located with places from `first` on. Returns
 * their number. The end of each written row in the output replaces its number in LIST. Sets `odd` if the next row is not
 * plain, and `stop` to the address of the places of its cells. A row for which the output has no room is left to the
 * next call; alone in the output, it is not plain.
 */
export function rows(from: i32, count: i32, first: i32): i32 {
  let target = OUT
  let n = 0
  let cell = cells + first * rowBytes
  let end = LIST + (from << 2)
  out = OUT
  odd = 0
  for (; n < count; n++, end += 4) {
    stop = cell
    for (let column = structs; column < structsEnd; column += COLUMN_BYTES, cell += 8) {
      const at = load<i32>(cell)
      const packed = load<i32>(cell, 4)
      const length = (packed & ADDRESS) - at
      const before = load<i32>(column, 20)
      // A decoded text is never longer than its JSON, except for doubled quotes.
      if (target + before + length * 2 + 64 > outEnd) {
        odd = <i32>(n == 0)
        return n
      }
      target = copy(load<i32>(column, 16), before, target)
      target = packed >= 0 ? copy(at, length, target) : writeSpecial(at, at + length, target)
      if (target == 0) {
        odd = 1
        return n
      }
    }
    store<u16>(target, <u16>after)
    target += afterLength
    store<i32>(end, target - OUT)
    out = target
  }
  return n
}

/** Writes a cell that is not copied as it is. Returns the end, or 0 if TypeScript code must do it. */
function writeSpecial(at: i32, end: i32, target: i32): i32 {
  if (<i32>load<u8>(at) == QUOTE) return unescaped(at, end, target)
  return separator >= 0 || hasLines(at, end) ? 0 : copy(at, end - at, target)
}

/** Maximum number of rows that `gather` copies at once. */
export const MAX_GATHERED: i32 = MAX_ROWS / 2

/**
 * Copies up to `count` texts to OUT. LIST has the start and end of each. Returns how many fit, and sets
 * `out`.
 */
export function gather(count: i32): i32 {
  let target = OUT
  let n = 0
  for (; n < count; n++) {
    const start = load<i32>(LIST + (n << 3))
    const length = load<i32>(LIST + (n << 3), 4) - start
    if (target + length > OUT + OUT_BYTES) break
    target = copy(start, length, target)
  }
  out = target
  return n
}

function hasLines(from: i32, to: i32): bool {
  for (let i = from; i < to; i++) if (<i32>load<u8>(i) < BLANK) return true
  return false
}

/** Returns whether the first and last byte of [from, to) need no quotes in CSV. */
function isPlainAtEnds(from: i32, to: i32): bool {
  const first = <i32>load<u8>(from)
  return from < to && first > BLANK && first != APOSTROPHE && <i32>load<u8>(to - 1) > BLANK
}

function hasSeparator(from: i32, to: i32): bool {
  for (let i = from; i < to; i += 16) {
    const left = to - i
    const valid: i32 = left >= 16 ? 0xffff : (1 << left) - 1
    if (i8x16.bitmask(i8x16.eq(v128.load(i), i8x16.splat(<i8>separator))) & valid) return true
  }
  return false
}

/** Writes a string that has escapes or needs quotes. Returns 0 for other escapes, such as \u. */
function unescaped(at: i32, end: i32, target: i32): i32 {
  const last = end - 1
  const start = target + 1
  let to = start
  let i = at + 1
  let quoted = false
  while (i < last) {
    const v = v128.load(i)
    v128.store(to, v)
    const found = i8x16.bitmask(i8x16.eq(v, i8x16.splat(<i8>BACKSLASH)))
    const plain = min(found ? <i32>ctz(found) : 16, last - i)
    i += plain
    to += plain
    if (i >= last || plain == 16) continue
    const c = <i32>load<u8>(i, 1)
    i += 2
    if (c == QUOTE) {
      store<u16>(to, 0x2222)
      to += 2
      quoted = true
    } else if (c == LETTER_N || c == 0x72) {
      store<u8>(to++, c == LETTER_N ? LF : 0x0d)
      quoted = true
    } else if (c == 0x74) store<u8>(to++, 0x09)
    else if (c == BACKSLASH || c == 0x2f) store<u8>(to++, c)
    else return 0
  }
  if (quoted || !isPlainAtEnds(start, to) || hasSeparator(start, to)) {
    store<u8>(target, QUOTE)
    store<u8>(to, QUOTE)
    return to + 1
  }
  return copy(start, to - start, target)
}

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

function two(at: i32): i32 {
  const a = <i32>load<u8>(at) - ZERO
  const b = <i32>load<u8>(at, 1) - ZERO
  return <u32>a < 10 && <u32>b < 10 ? a * 10 + b : -1
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
  const y = month <= 2 ? year - 1 : year
  const era = y / 400
  const yearOfEra = y - era * 400
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  const days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  const time = <f64>days * 86_400_000
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
