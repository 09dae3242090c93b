/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: writes rows of columns as CSV and JSON, 16 bytes at a
 * time. Stops at a cell that is not plain, which TypeScript code writes (row-writers.ts). The texts are padded with commas.
 */

import { endOf, escapes, skipBlanks, skipValues } from '../../../../json/scan.as'

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

/** Address of the places of the cells of a row that is not plain, at which `rows` stopped; whether it did so. */
export let stop: i32 = 0
export let odd: i32 = 0
/** End of the output of `rows` and `gather`. */
export let out: i32 = 0

const LF: i32 = 0x0a
const BLANK: i32 = 0x20
const QUOTE: i32 = 0x22
const APOSTROPHE: i32 = 0x27
const COMMA: i32 = 0x2c
const NINE: i32 = 0x39
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
