/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: reads lines of JSON that differ from an example
 * in their values only. All others are read by TypeScript code (records.ts).
 * Uses the memory of rows.as.ts: cells are values without quotes.
 */

import { configure, ENDS, keyed, LINES, moments, numbers, OUT, STARTS, times, weightAfter } from './rows.as'

export { keyed, moments, numbers, times }

/**
 * Texts between the values, and the one between two records unless that is a line end: address and length of each at
 * PARTS, which LINES of rows.as.ts does not need.
 */
export const PARTS: i32 = LINES
/** Results of `values`: row of the first value of each kind, as in records.ts; −1 without one. */
export const FIRSTS: i32 = 64

/** Number of complete rows of `scan`; 1 if the next row is another kind of line. */
export let rows: i32 = 0
export let odd: i32 = 0
/** Result of `cutRecords`: weight of the rows since the last end of a slice. */
export let size: i32 = 0

const LF: i32 = 0x0a
const CR: i32 = 0x0d
const QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const PLUS: i32 = 0x2b
const ZERO: i32 = 0x30
const BACKSLASH: i32 = 0x5c
const NULL_TEXT: i32 = 0x6c6c756e
const TRUE_TEXT: i32 = 0x65757274
const ALSE_TEXT: i32 = 0x65736c61
/** Flag of a cell that is a string, as in rows.as.ts. */
const QUOTED: i32 = 1

const BRACKET: i32 = 0x5b
const CLOSING_BRACKET: i32 = 0x5d
const BRACE: i32 = 0x7b
const CLOSING_BRACE: i32 = 0x7d
const COLON: i32 = 0x3a

let width: i32 = 0
let maxDepth: i32 = 0
let takesObjects: bool = false
let isSeparated: bool = false

/**
 * Sets the number of values per line. PARTS has one text more, and with `separated` another one, which separates records
 * instead of line ends. Lists are read up to a depth of `depth`, at most 64; so are objects if `objects`.
 */
export function begin(columns: i32, depth: i32, objects: bool, separated: bool): void {
  isSeparated = separated
  width = columns
  maxDepth = min(depth, 64)
  takesObjects = objects
  configure(columns, COMMA, 255, 256, -1, 0)
}

/** Returns whether the text at `at` is part `k`. */
function isPart(at: i32, k: i32): bool {
  const part = load<i32>(PARTS + (k << 3))
  const length = load<i32>(PARTS + (k << 3), 4)
  let i = 0
  for (; i + 8 <= length; i += 8) if (load<u64>(at + i) != load<u64>(part + i)) return false
  for (; i < length; i++) if (load<u8>(at + i) != load<u8>(part + i)) return false
  return true
}

function partLength(k: i32): i32 {
  return load<i32>(PARTS + (k << 3), 4)
}

function isHex(c: i32): bool {
  return <u32>(c - ZERO) < 10 || <u32>((c | 0x20) - 0x61) < 6
}

/** Returns the closing quote of the string whose first character is at `at`; 0 if it is not valid. */
function stringEnd(at: i32): i32 {
  let i = at
  while (true) {
    const v = v128.load(i)
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(v, i8x16.splat(<i8>QUOTE)), i8x16.eq(v, i8x16.splat(<i8>BACKSLASH))),
        i8x16.lt_u(v, i8x16.splat(0x20)),
      ),
    )
    if (!found) {
      i += 16
      continue
    }
    i += <i32>ctz(found)
    const c = <i32>load<u8>(i)
    if (c == QUOTE) return i
    if (c != BACKSLASH) return 0
    const next = <i32>load<u8>(i, 1)
    if (next == 0x75) {
      for (let k = 2; k < 6; k++) if (!isHex(<i32>load<u8>(i + k))) return 0
      i += 6
    } else if (
      next == QUOTE ||
      next == BACKSLASH ||
      next == 0x2f ||
      next == 0x62 ||
      next == 0x66 ||
      next == 0x6e ||
      next == 0x72 ||
      next == 0x74
    )
      i += 2
    else return 0
  }
}

/** Returns the end of the digits from `at` on. */
function digitsEnd(at: i32): i32 {
  let i = at
  while (<u32>(<i32>load<u8>(i) - ZERO) < 10) i++
  return i
}

/** Returns the end of the number at `at`; 0 if it is not valid. */
function numberEnd(at: i32): i32 {
  let i = at
  if (<i32>load<u8>(i) == MINUS) i++
  if (<i32>load<u8>(i) == ZERO) i++
  else {
    const end = digitsEnd(i)
    if (end == i) return 0
    i = end
  }
  if (<i32>load<u8>(i) == POINT) {
    const end = digitsEnd(i + 1)
    if (end == i + 1) return 0
    i = end
  }
  if ((<i32>load<u8>(i) | 0x20) == 0x65) {
    i++
    const sign = <i32>load<u8>(i)
    if (sign == PLUS || sign == MINUS) i++
    const end = digitsEnd(i)
    if (end == i) return 0
    i = end
  }
  return i
}

/** Skips blanks, and in records of an array line ends. */
function skipSpaces(at: i32): i32 {
  let i = at
  while (true) {
    const c = <i32>load<u8>(i)
    if (c != 0x20 && c != 0x09 && !(isSeparated && isLineEnd(c))) return i
    i++
  }
}

function isLineEnd(c: i32): bool {
  return c == LF || c == CR
}

/** Returns the end of the text, number, true, false or null at `at`; 0 if it is not valid. */
function scalarEnd(at: i32): i32 {
  const c = <i32>load<u8>(at)
  if (c == QUOTE) {
    const end = stringEnd(at + 1)
    return end == 0 ? 0 : end + 1
  }
  if (load<i32>(at) == NULL_TEXT || load<i32>(at) == TRUE_TEXT) return at + 4
  if (c == 0x66 && load<i32>(at, 1) == ALSE_TEXT) return at + 5
  return numberEnd(at)
}

/** Returns the end of the list or object at `at`; 0 if it is not valid, too deep, or a line ends in it. */
function nestedEnd(at: i32): i32 {
  let depth = 0
  /** Bit k: the bracket at depth k is a brace. */
  let braces: u64 = 0
  let i = at
  while (true) {
    // A value.
    const c = <i32>load<u8>(i)
    if (c == BRACKET || c == BRACE) {
      if (depth == maxDepth) return 0
      const bit = (<u64>1) << depth
      braces = c == BRACE ? braces | bit : braces & ~bit
      depth++
      i = skipSpaces(i + 1)
      if (<i32>load<u8>(i) != c + 2) {
        if (c == BRACE) {
          i = nameEnd(i)
          if (i == 0) return 0
        }
        continue
      }
      i++
      depth--
    } else {
      i = scalarEnd(i)
      if (i == 0) return 0
    }
    // Closing brackets, or a comma and the next value.
    while (true) {
      if (depth == 0) return i
      i = skipSpaces(i)
      const isBrace = ((braces >>> (depth - 1)) & 1) != 0
      const d = <i32>load<u8>(i)
      if (d == (isBrace ? CLOSING_BRACE : CLOSING_BRACKET)) {
        i++
        depth--
        continue
      }
      if (d != COMMA) return 0
      i = skipSpaces(i + 1)
      if (isBrace) {
        i = nameEnd(i)
        if (i == 0) return 0
      }
      break
    }
  }
}

/** Returns the start of the value after the name at `at`; 0 if there is no name and colon. */
function nameEnd(at: i32): i32 {
  if (<i32>load<u8>(at) != QUOTE) return 0
  const end = stringEnd(at + 1)
  if (end == 0) return 0
  const colon = skipSpaces(end + 1)
  return <i32>load<u8>(colon) == COLON ? skipSpaces(colon + 1) : 0
}

/** Returns the end of the value at `at`, and stores it as a cell; 0 for values that are left to others. */
function addValue(at: i32, cell: i32): i32 {
  const c = <i32>load<u8>(at)
  let end: i32
  if (c == QUOTE) {
    end = stringEnd(at + 1)
    if (end == 0) return 0
    store<i32>(STARTS + cell, at + 1)
    store<i32>(ENDS + cell, (end << 2) | QUOTED)
    return end + 1
  }
  if (load<i32>(at) == NULL_TEXT) {
    store<i32>(STARTS + cell, at)
    store<i32>(ENDS + cell, at << 2)
    return at + 4
  }
  end = c == BRACKET || (c == BRACE && takesObjects) ? nestedEnd(at) : scalarEnd(at)
  if (end == 0) return 0
  store<i32>(STARTS + cell, at)
  store<i32>(ENDS + cell, end << 2)
  return end
}

/** Finds rows in [from, to), which ends with a line end or before a zero byte. Returns the offset of the next row. */
export function scan(from: i32, to: i32, maxRows: i32): i32 {
  let row = from
  let n = 0
  odd = 0
  while (row < to && n < maxRows) {
    let i = row
    let cell = (n * width) << 2
    let k = 0
    for (; k < width; k++, cell += 4) {
      if (!isPart(i, k)) break
      i = addValue(i + partLength(k), cell)
      if (i == 0 || i >= to) break
    }
    if (k < width || !isPart(i, width)) {
      odd = 1
      break
    }
    i = recordEnd(i + partLength(width))
    if (i == 0 || i > to) {
      odd = 1
      break
    }
    row = i
    n++
  }
  rows = n
  return row
}

/** Returns the end of the line end, or of the text between two records, at `at`; 0 if it is another text. */
function recordEnd(at: i32): i32 {
  if (isSeparated) return isPart(at, width + 1) ? at + partLength(width + 1) : 0
  const end = <i32>load<u8>(at) == CR ? at + 1 : at
  return <i32>load<u8>(end) == LF ? end + 1 : 0
}

/** Returns the first of rows [from, to) after which slices end, as `cut` of rows.as.ts; −1 without one. */
export function cutRecords(from: i32, to: i32, before: i32): i32 {
  let now = before
  for (let r = from; r < to; r++) {
    const first = (r * width) << 2
    let bytes = 0
    for (let cell = first; cell < first + (width << 2); cell += 4) bytes += jsonLength(cell)
    now = weightAfter(first, bytes, now)
    if (now == 0) {
      size = 0
      return r
    }
  }
  size = now
  return -1
}

/** Returns the length of a value as JSON. */
function jsonLength(cell: i32): i32 {
  const end = load<i32>(ENDS + cell)
  const length = (end >> 2) - load<i32>(STARTS + cell)
  return end & QUOTED ? length + 2 : length == 0 ? 4 : length
}

/**
 * Writes the values `column` of rows [from, to) to OUT, each followed by a comma. Returns their end. Sets
 * FIRSTS.
 */
export function values(column: i32, from: i32, to: i32): i32 {
  memory.fill(FIRSTS, 0xff, 16)
  let out = OUT
  for (let r = from; r < to; r++) {
    const cell = (r * width + column) << 2
    const flagged = load<i32>(ENDS + cell)
    const isText = (flagged & QUOTED) != 0
    const length = jsonLength(cell)
    const start = load<i32>(STARTS + cell) - <i32>isText
    const c = <i32>load<u8>(start)
    const isNested = !isText && (c == BRACKET || c == BRACE)
    if (isNested && hasLineEnd(start, start + length)) out = copyCompact(start, start + length, out)
    else {
      for (let k = 0; k < length; k += 16) v128.store(out + k, v128.load(start + k))
      out += length
    }
    store<u8>(out++, COMMA)
    if (c == 0x6e && !isText) continue
    const kind = isText ? 0 : c == 0x74 || c == 0x66 ? 2 : isNested ? 3 : 1
    if (load<i32>(FIRSTS + (kind << 2)) < 0) store<i32>(FIRSTS + (kind << 2), r)
  }
  return out
}

function hasLineEnd(from: i32, to: i32): bool {
  for (let i = from; i < to; i++) if (isLineEnd(<i32>load<u8>(i))) return true
  return false
}

/** Copies the list or object [from, to) to `out` without blanks between values, as `compactValue`. Returns the end. */
function copyCompact(from: i32, to: i32, out: i32): i32 {
  let target = out
  let inString = false
  for (let i = from; i < to; i++) {
    const c = <i32>load<u8>(i)
    if (!inString && c <= 0x20) continue
    store<u8>(target++, c)
    if (inString && c == BACKSLASH) store<u8>(target++, load<u8>(++i))
    else if (c == QUOTE) inString = !inString
  }
  return target
}
