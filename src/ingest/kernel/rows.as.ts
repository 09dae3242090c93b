/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: finds plain rows and cells and builds column
 * JSON, 16 bytes at a time. `tokenize` stops before the first row that is not plain, `column` before the
 * first such cell. The TypeScript code (tokenizer.ts, column.ts) reads those, so it implements all rules.
 */

/** Memory layout: input of `configure`, the text, the cells, and the JSON of one column of one batch. */
export const HEADER: i32 = 64
export const HEADER_BYTES: i32 = 64
export const NULLS: i32 = 128
export const NULL_BYTES: i32 = 32
export const MAX_NULLS: i32 = 16
export const TEXT: i32 = 4096
export const TEXT_BYTES: i32 = 4 * 1024 * 1024 + 64
export const MAX_BLOCK_CELLS: i32 = 524_288
export const MAX_BLOCK_ROWS: i32 = 65_536
export const STARTS: i32 = TEXT + TEXT_BYTES + 128
export const ENDS: i32 = STARTS + MAX_BLOCK_CELLS * 4
export const LINES: i32 = ENDS + MAX_BLOCK_CELLS * 4
export const OUT: i32 = LINES + MAX_BLOCK_ROWS * 4
/** A byte may become six; an empty cell becomes a space, `null` and a comma. */
export const OUT_BYTES: i32 = TEXT_BYTES * 6 + MAX_BLOCK_ROWS * 8 + 64

const LF: i32 = 0x0a
const CR: i32 = 0x0d
const BLANK: i32 = 0x20
const DOUBLE_QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const ZERO: i32 = 0x30
const FIVE: i32 = 0x35
const EQUALS: i32 = 0x3d
const LETTER_T: i32 = 0x54
const BACKSLASH: i32 = 0x5c
const NULL_TEXT: i32 = 0x6c6c756e

/** Flags of a cell, as in flags.ts. */
const QUOTED: i32 = 1
const ESCAPED: i32 = 2

/** Results of `tokenize`: number of rows, line after them, and whether the next row is not plain. */
export let rows: i32 = 0
export let line: i32 = 0
export let odd: i32 = 0
/**
 * Results of `column`: row at which it stopped, number of numbers before it, rows of the lowest and highest
 * values (−1: none), and number of nulls. If numbers differ only beyond 15 digits, any may be the lowest.
 */
export let stop: i32 = 0
export let numbers: i32 = 0
export let lowest: i32 = 0
export let highest: i32 = 0
export let missing: i32 = 0
/** Result of `moments`: number of times. */
export let times: i32 = 0

let width: i32 = 0
let delimiter: i32 = 0
let quote: i32 = 0
let comment: i32 = -1
let headerLength: i32 = -1
let nulls: i32 = 0
/** Bit n: a marker of missing values has n bytes. */
let nullLengths: u32 = 0

/**
 * Sets the settings of a table. A quote or comment of 255 or more means none. HEADER holds the first name of
 * the header, `header` bytes long (−1: headers are not compared). NULLS + k * NULL_BYTES holds marker k of
 * missing values: its length and its bytes.
 */
export function configure(
  columns: i32,
  separator: i32,
  quotes: i32,
  remark: i32,
  header: i32,
  texts: i32,
): void {
  width = columns
  delimiter = separator
  quote = quotes
  comment = remark
  headerLength = header
  nulls = texts
  nullLengths = 0
  for (let k = 0; k < texts; k++) nullLengths |= (<u32>1) << load<u8>(NULLS + k * NULL_BYTES)
}

function mask(v: v128): u64 {
  return <u64>(<u32>i8x16.bitmask(v))
}

/** Counts the line feeds in [from, to). */
export function newlines(from: i32, to: i32): i32 {
  const lf = i8x16.splat(<i8>LF)
  let count = 0
  let i = from
  for (; i + 16 <= to; i += 16) count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(i), lf)))
  for (; i < to; i++) count += <i32>(<i32>load<u8>(i) == LF)
  return count
}

/** Returns whether [start, end) is the first name of the header. */
function isFirstName(start: i32, end: i32): bool {
  const length = end - start
  if (length != headerLength) return false
  const most = min(length, HEADER_BYTES)
  for (let i = 0; i < most; i++) if (load<u8>(start + i) != load<u8>(HEADER + i)) return false
  return true
}

/** Returns whether the row at byte offset `first` of the arrays has only empty, unquoted cells. */
function isEmpty(first: i32): bool {
  for (let k = first; k < first + (width << 2); k += 4)
    if (load<i32>(ENDS + k) != load<i32>(STARTS + k) << 2) return false
  return true
}

/**
 * Finds complete plain rows in [from, to), at most `maxRows`: with one cell per column, and quotes only
 * around cells, doubled inside. Fills the cells and lines. Returns the offset of the next row.
 */
export function tokenize(from: i32, to: i32, maxRows: i32, firstLine: i32): i32 {
  const vd = i8x16.splat(<i8>delimiter)
  const vl = i8x16.splat(<i8>LF)
  const vq = i8x16.splat(<i8>quote)
  /** Start of the current row and cell. */
  let row = from
  let start = from
  let cell = 0
  let n = 0
  /** Byte offsets in the arrays of the next cell, and of the first cell of the row. */
  let at = 0
  let first = 0
  let rowLine = firstLine
  let newLines = 0
  /** All ones inside quotes. */
  let inside: u64 = 0
  /** Bit 0: a quote may open at the next byte. */
  let before: u64 = 1
  let halted = false
  odd = 0
  for (let base = from; base < to && !halted; base += 64) {
    const a = v128.load(base)
    const b = v128.load(base, 16)
    const c = v128.load(base, 32)
    const d = v128.load(base, 48)
    let ends =
      mask(v128.or(i8x16.eq(a, vd), i8x16.eq(a, vl))) |
      (mask(v128.or(i8x16.eq(b, vd), i8x16.eq(b, vl))) << 16) |
      (mask(v128.or(i8x16.eq(c, vd), i8x16.eq(c, vl))) << 32) |
      (mask(v128.or(i8x16.eq(d, vd), i8x16.eq(d, vl))) << 48)
    const qa = i8x16.eq(a, vq)
    const qb = i8x16.eq(b, vq)
    const qc = i8x16.eq(c, vq)
    const qd = i8x16.eq(d, vq)
    let misplaced: u64 = 0
    if (v128.any_true(v128.or(v128.or(qa, qb), v128.or(qc, qd)))) {
      const quotes = mask(qa) | (mask(qb) << 16) | (mask(qc) << 32) | (mask(qd) << 48)
      // Bit k: the number of quotes up to byte k is odd.
      let within = quotes
      within ^= within << 1
      within ^= within << 2
      within ^= within << 4
      within ^= within << 8
      within ^= within << 16
      within ^= within << 32
      within ^= inside
      const closing = quotes & ~within
      ends &= ~within
      // A quote can open at the start of a cell, or after a closing quote.
      const may = ((ends | closing) << 1) | before
      misplaced = quotes & within & ~may
      before = (ends | closing) >>> 63
      inside = <u64>(<i64>within >> 63)
    } else {
      ends &= ~inside
      before = ends >>> 63
    }
    const left = to - base
    if (left < 64) {
      const valid = ((<u64>1) << left) - 1
      ends &= valid
      misplaced &= valid
    }
    // Bytes after a misplaced quote may or may not be quoted.
    if (misplaced) ends &= (misplaced & (0 - misplaced)) - 1
    while (ends) {
      const p = base + <i32>ctz(ends)
      ends &= ends - 1
      let end = p
      const isLast = ++cell == width
      if ((<i32>load<u8>(p) == LF) != isLast) {
        odd = 1
        halted = true
        break
      }
      if (isLast && end > start && <i32>load<u8>(end - 1) == CR) end--
      if (start < end && <i32>load<u8>(start) == quote) {
        if (end - start < 2 || <i32>load<u8>(end - 1) != quote) {
          odd = 1
          halted = true
          break
        }
        let flags = QUOTED
        for (let i = start + 1; i < end - 1; i += 16) {
          const v = v128.load(i)
          const rest = end - 1 - i
          const valid: i32 = rest >= 16 ? 0xffff : (1 << rest) - 1
          if (i8x16.bitmask(i8x16.eq(v, vq)) & valid) flags = QUOTED | ESCAPED
          newLines += popcnt(i8x16.bitmask(i8x16.eq(v, vl)) & valid)
        }
        store<i32>(STARTS + at, start + 1)
        store<i32>(ENDS + at, ((end - 1) << 2) | flags)
      } else {
        store<i32>(STARTS + at, start)
        store<i32>(ENDS + at, end << 2)
      }
      at += 4
      start = p + 1
      if (!isLast) continue
      const firstStart = load<i32>(STARTS + first)
      const firstEnd = load<i32>(ENDS + first) >> 2
      // Left to the tokenizer: comments, blank lines, empty rows, repeated headers.
      if (
        <i32>load<u8>(row) == comment ||
        (firstStart == firstEnd && isEmpty(first)) ||
        isFirstName(firstStart, firstEnd)
      ) {
        odd = 1
        halted = true
        break
      }
      store<i32>(LINES + (n << 2), rowLine)
      rowLine += newLines + 1
      newLines = 0
      row = start
      first = at
      cell = 0
      if (++n == maxRows) {
        halted = true
        break
      }
    }
    if (misplaced && !halted) {
      odd = 1
      halted = true
    }
  }
  rows = n
  line = rowLine
  return row
}

/** Returns the bits of the bytes that JSON escapes. */
function special(v: v128): i32 {
  return i8x16.bitmask(
    v128.or(
      i8x16.lt_u(v, i8x16.splat(0x20)),
      v128.or(i8x16.eq(v, i8x16.splat(<i8>DOUBLE_QUOTE)), i8x16.eq(v, i8x16.splat(<i8>BACKSLASH))),
    ),
  )
}

function hex(digit: i32): i32 {
  return digit < 10 ? 0x30 + digit : 0x57 + digit
}

/** Writes [from, to) with JSON escapes. With `doubled`, undoubles quotes. Returns the end of the output. */
function escaped(from: i32, to: i32, doubled: bool, target: i32): i32 {
  let out = target
  let i = from
  while (i < to) {
    const v = v128.load(i)
    let matches = special(v)
    if (doubled && quote != DOUBLE_QUOTE) matches |= i8x16.bitmask(i8x16.eq(v, i8x16.splat(<i8>quote)))
    v128.store(out, v)
    const n = matches ? <i32>ctz(matches) : 16
    if (i + n >= to) {
      out += to - i
      break
    }
    out += n
    i += n
    if (n == 16) continue
    const c = <i32>load<u8>(i++)
    if (doubled && c == quote) i++
    if (c < 0x20) {
      store<u8>(out++, BACKSLASH)
      if (c == LF) store<u8>(out++, 0x6e)
      else if (c == CR) store<u8>(out++, 0x72)
      else if (c == 0x09) store<u8>(out++, 0x74)
      else {
        store<u8>(out, 0x75)
        store<u8>(out, 0x30, 1)
        store<u8>(out, 0x30, 2)
        store<u8>(out, 0x30 + (c >> 4), 3)
        store<u8>(out, hex(c & 15), 4)
        out += 5
      }
    } else {
      if (c == DOUBLE_QUOTE || c == BACKSLASH) store<u8>(out++, BACKSLASH)
      store<u8>(out++, c)
    }
  }
  return out
}

/** Returns whether a cell is a marker of a missing value. */
function isNull(start: i32, length: i32): bool {
  for (let k = 0; k < nulls; k++) {
    const text = NULLS + k * NULL_BYTES
    if (<i32>load<u8>(text) != length) continue
    let i = 0
    while (i < length && load<u8>(start + i) == load<u8>(text + 1 + i)) i++
    if (i == length) return true
  }
  return false
}

function mayBeNull(length: i32): bool {
  return length < NULL_BYTES && ((nullLengths >>> length) & 1) == 1
}

/** Returns whether up to 32 bytes are digits with one point and an optional minus sign. */
function isLongDecimal(start: i32, length: i32): bool {
  const zero = i8x16.splat(<i8>ZERO)
  const ten = i8x16.splat(10)
  const digits =
    i8x16.bitmask(i8x16.lt_u(i8x16.sub(v128.load(start), zero), ten)) |
    (i8x16.bitmask(i8x16.lt_u(i8x16.sub(v128.load(start, 16), zero), ten)) << 16)
  let nonDigits = <u32>~digits
  if (length < 32) nonDigits &= ((<u32>1) << length) - 1
  const sign = <i32>(<i32>load<u8>(start) == MINUS)
  if (sign) nonDigits &= ~1
  if (nonDigits == 0 || (nonDigits & (nonDigits - 1)) != 0) return false
  return isPointAt(start, length, sign, <i32>ctz(nonDigits))
}

/** Returns whether byte `at` is a point between digits, and the number has no leading zero. */
function isPointAt(start: i32, length: i32, sign: i32, at: i32): bool {
  if (at == sign || at == length - 1 || <i32>load<u8>(start + at) != POINT) return false
  return <i32>load<u8>(start + sign) != ZERO || at == sign + 1
}

/** Returns whether the 1 to 16 bytes in `v` are a number: at most 15 digits, or digits with a point. */
function isShortNumber(v: v128, start: i32, length: i32): bool {
  const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, i8x16.splat(<i8>ZERO)), i8x16.splat(10)))
  let nonDigits = ((1 << length) - 1) & ~digits
  const sign = <i32>(<i32>load<u8>(start) == MINUS)
  if (sign) {
    nonDigits &= ~1
    if (length == 1) return false
  }
  if (nonDigits == 0) {
    if (length - sign > 15) return false
    return <i32>load<u8>(start + sign) != ZERO || length == sign + 1
  }
  return (nonDigits & (nonDigits - 1)) == 0 && isPointAt(start, length, sign, <i32>ctz(nonDigits))
}

/**
 * Writes the values of cells `index` of rows [from, to), each followed by a comma, to OUT. Returns the end of
 * the output. Sets `stop` to the row of the first cell that is not plain, or `to`.
 */
export function column(index: i32, from: i32, to: i32, numeric: bool): i32 {
  return numeric ? writeNumberColumn(index, from, to) : writeTextColumn(index, from, to)
}

/**
 * Writes number cells as `column` does. Returns the end of the output, and sets `numbers`, `missing`,
 * `lowest`, `highest` and `stop`.
 */
function writeNumberColumn(index: i32, from: i32, to: i32): i32 {
  const step = width << 2
  const first = index << 2
  let k = from * step + first
  let out = OUT
  let count = 0
  let absent = 0
  let lowAt = -1
  let highAt = -1
  let low: f64 = Infinity
  let high: f64 = -Infinity
  /** Distance of the point from the end, if all texts so far share it and have up to 8 bytes; else −1. */
  let place = -1
  let lowKey: u64 = 0
  let highKey: u64 = 0
  let r = from
  for (; r < to; r++, k += step) {
    const start = load<i32>(STARTS + k)
    const end = load<i32>(ENDS + k)
    const length = (end >> 2) - start
    if (length == 0 || (mayBeNull(length) && isNull(start, length))) {
      if (length == 0 && end & QUOTED) store<u8>(out++, BLANK)
      store<i32>(out, NULL_TEXT)
      store<u8>(out, COMMA, 4)
      out += 5
      absent++
      continue
    }
    if (length <= 16) {
      const v = v128.load(start)
      if (!isShortNumber(v, start, length)) break
      v128.store(out, v)
    } else {
      if (length > 32 || !isLongDecimal(start, length)) break
      v128.store(out, v128.load(start))
      v128.store(out, v128.load(start, 16), 16)
    }
    out += length
    store<u8>(out++, COMMA)
    count++
    if (length <= 8 && length > place && place >= 0) {
      const shift = <u64>(64 - (length << 3))
      const v = load<u64>(start + length - 8) >>> shift
      const isSame = place == 0 ? hasNoPoint(v) : <i32>load<u8>(start + length - place) == POINT
      if (isSame && <i32>load<u8>(start) >= ZERO) {
        const key = bswap(v << shift)
        if (key < lowKey) {
          lowKey = key
          lowAt = r
        } else if (key > highKey) {
          highKey = key
          highAt = r
        }
        continue
      }
    }
    if (place >= 0) {
      low = valueOf(lowAt * step + first)
      high = valueOf(highAt * step + first)
    }
    const value = numberAt(start, length)
    if (value < low) {
      low = value
      lowAt = r
    }
    if (value > high) {
      high = value
      highAt = r
    }
    place = low < 0 ? -1 : commonPlace(lowAt * step + first, highAt * step + first)
    if (place < 0) continue
    lowKey = keyOf(lowAt * step + first)
    highKey = keyOf(highAt * step + first)
  }
  numbers = count
  missing = absent
  lowest = lowAt
  highest = highAt
  stop = r
  return out
}

const PLACES = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
const REVERSED = i8x16(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)

function writeTextColumn(index: i32, from: i32, to: i32): i32 {
  const step = width << 2
  let k = (from * width + index) << 2
  let out = OUT
  let absent = 0
  let lowAt = -1
  let highAt = -1
  let low = 0
  let lowEnd = 0
  let lowFirst: u64 = 0
  let lowSecond: u64 = 0
  let lowCertain: u64 = 0
  let lowFlags = 0
  let high = 0
  let highEnd = 0
  let highFirst: u64 = 0
  let highSecond: u64 = 0
  let highCertain: u64 = 0
  let highFlags = 0
  let r = from
  for (; r < to; r++, k += step) {
    const start = load<i32>(STARTS + k)
    const packed = load<i32>(ENDS + k)
    const end = packed >> 2
    const length = end - start
    if (length == 0 && packed & QUOTED) {
      store<u16>(out, 0x2222)
      store<u8>(out, COMMA, 2)
      out += 3
    } else if (length == 0 || (mayBeNull(length) && isNull(start, length))) {
      store<i32>(out, NULL_TEXT)
      store<u8>(out, COMMA, 4)
      out += 5
      absent++
      continue
    } else {
      // Spreadsheets protect text as a formula: ="007".
      if (<i32>load<u8>(start) == EQUALS && length >= 3 && <i32>load<u8>(end - 1) == DOUBLE_QUOTE) break
      store<u8>(out++, DOUBLE_QUOTE)
      const doubled = (packed & ESCAPED) != 0
      for (let i = start; i < end; i += 16) {
        const v = v128.load(i)
        const left = end - i
        const valid: i32 = left >= 16 ? 0xffff : (1 << left) - 1
        let matches = special(v)
        if (doubled && quote != DOUBLE_QUOTE) matches |= i8x16.bitmask(i8x16.eq(v, i8x16.splat(<i8>quote)))
        if (matches & valid) {
          out = escaped(i, end, doubled, out)
          break
        }
        v128.store(out, v)
        out += left >= 16 ? 16 : left
      }
      store<u16>(out, 0x2c22)
      out += 2
    }
    // The first 16 bytes, as two numbers with the same order.
    let head = v128.load(start)
    if (length < 16) head = v128.and(head, i8x16.lt_u(PLACES, i8x16.splat(<i8>length)))
    head = i8x16.swizzle(head, REVERSED)
    const first = <u64>i64x2.extract_lane(head, 0)
    const second = <u64>i64x2.extract_lane(head, 1)
    const certainBits = packed & ESCAPED ? certain(first) : u64.MAX_VALUE
    if (lowAt < 0) {
      low = high = start
      lowEnd = highEnd = end
      lowFirst = highFirst = first
      lowSecond = highSecond = second
      lowCertain = highCertain = certainBits
      lowFlags = highFlags = packed
      lowAt = highAt = r
      continue
    }
    let isLower = false
    let isHigher = false
    if (((packed | lowFlags | highFlags) & ESCAPED) == 0) {
      isLower =
        first != lowFirst
          ? first < lowFirst
          : second != lowSecond
            ? second < lowSecond
            : isBefore(start, end, low, lowEnd)
      isHigher =
        first != highFirst
          ? first > highFirst
          : second != highSecond
            ? second > highSecond
            : isBefore(high, highEnd, start, end)
    } else {
      const toLow = certainBits & lowCertain
      const toHigh = certainBits & highCertain
      isLower = (first & toLow) < (lowFirst & toLow)
      isHigher = (first & toHigh) > (highFirst & toHigh)
      if ((first & toLow) == (lowFirst & toLow)) isLower = isBeforeUnquoted(start, end, low, lowEnd)
      if ((first & toHigh) == (highFirst & toHigh)) isHigher = isBeforeUnquoted(high, highEnd, start, end)
    }
    if (isLower) {
      low = start
      lowEnd = end
      lowFirst = first
      lowSecond = second
      lowCertain = certainBits
      lowFlags = packed
      lowAt = r
    }
    if (isHigher) {
      high = start
      highEnd = end
      highFirst = first
      highSecond = second
      highCertain = certainBits
      highFlags = packed
      highAt = r
    }
  }
  numbers = 0
  missing = absent
  lowest = lowAt
  highest = highAt
  stop = r
  return out
}

/**
 * Scans days (`"2024-01-31",`), times in seconds (`"2024-01-31T09:30:00",`, also with a space) and nulls
 * (`null,`) in bytes [from, to), which end with a comma. Returns the offset of the first other value, or
 * `to`. Sets `stop`, the number of values, and `numbers` and `times`, the numbers of days and times.
 */
export function moments(from: i32, to: i32): i32 {
  const zero = i8x16.splat(<i8>ZERO)
  const ten = i8x16.splat(10)
  let i = from
  let passed = 0
  let days = 0
  times = 0
  while (i < to) {
    if (load<i32>(i) == NULL_TEXT) {
      i += 5
      passed++
      continue
    }
    const v = v128.load(i)
    const digit = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, zero), ten))
    const punctuation = i8x16.bitmask(
      i8x16.eq(v, i8x16(0x22, 0, 0, 0, 0, 0x2d, 0, 0, 0x2d, 0, 0, 0x22, 0x2c, 0, 0, 0)),
    )
    // Digits of year, month and day; quote and hyphens around them.
    if ((digit & 0x6de) != 0x6de || (punctuation & 0x121) != 0x121) break
    const isDay = (punctuation & 0x1800) == 0x1800
    if (!isDay) {
      const c = <i32>load<u8>(i, 11)
      if (c != LETTER_T && c != BLANK) break
      const w = v128.load(i, 11)
      const digitOfTime = i8x16.bitmask(i8x16.lt_u(i8x16.sub(w, zero), ten))
      const otherOfTime = i8x16.bitmask(
        i8x16.eq(w, i8x16(0, 0, 0, 0x3a, 0, 0, 0x3a, 0, 0, 0x22, 0x2c, 0, 0, 0, 0, 0)),
      )
      if ((digitOfTime & 0x1b6) != 0x1b6 || (otherOfTime & 0x648) != 0x648) break
      const hour = (<i32>load<u8>(i, 12) - ZERO) * 10 + <i32>load<u8>(i, 13) - ZERO
      if (hour > 23 || <i32>load<u8>(i, 15) > FIVE || <i32>load<u8>(i, 18) > FIVE) break
    }
    const month = (<i32>load<u8>(i, 6) - ZERO) * 10 + <i32>load<u8>(i, 7) - ZERO
    const day = (<i32>load<u8>(i, 9) - ZERO) * 10 + <i32>load<u8>(i, 10) - ZERO
    if (month < 1 || month > 12 || day < 1 || load<i32>(i, 1) == NO_YEAR) break
    if (day > 28) {
      // Bits of 0x15aa: months with 31 days.
      if (day > 31 || (day == 31 && ((0x15aa >> month) & 1) == 0) || (month == 2 && day > 29)) break
      if (month == 2 && !isLeap(i + 1)) break
    }
    passed++
    if (isDay) {
      i += 13
      days++
    } else {
      i += 22
      times++
    }
  }
  stop = passed
  numbers = days
  return i
}

/** The text 0000. */
const NO_YEAR: i32 = 0x30303030

function isLeap(at: i32): bool {
  let year = 0
  for (let k = 0; k < 4; k++) year = year * 10 + <i32>load<u8>(at + k) - ZERO
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/**
 * Positions of the key columns, which decide where slices end (docs/adr/0024). As in values/slice-ends.ts.
 */
export const KEYS: i32 = 640
export const MAX_KEYS: i32 = 64
const UNITS: i32 = 1024
const PER_BYTE: i32 = 3
const HEAVIEST: i32 = 1 << 21
const MIN_SLICE_UNITS: i32 = 16_384 * UNITS
const USUAL: i32 = 40_960 * UNITS
const MAX_SLICE_UNITS: i32 = 131_072 * UNITS
const RARE: u64 = 41
const OFTEN: u64 = 1365
const PRIME_1: i32 = <i32>0x9e3779b1
const PRIME_2: i32 = <i32>0x85ebca77
const PRIME_3: i32 = <i32>0xc2b2ae3d

/** Result of `cut`: weight of the rows since the last end of a slice. */
export let size: i32 = 0

let keys: i32 = 0

/** Sets the number of key columns at KEYS; 0: all columns count. */
export function keyed(count: i32): void {
  keys = count
}

function withCell(hash: i32, column: i32): i32 {
  const start = load<i32>(STARTS + column)
  return withValue(hash, start, (load<i32>(ENDS + column) >> 2) - start)
}

/** Adds a value to the hash of a row: its last 8 bytes and its length. */
export function withValue(hash: i32, start: i32, length: i32): i32 {
  let word: u64 = 0
  if (length > 0) {
    word = load<u64>(start + length - 8)
    if (length < 8) word >>= <u64>(64 - (length << 3))
  }
  const low = <i32>word
  const high = <i32>(word >> 32)
  return (rotl(hash, 13) ^ ((low ^ length) * PRIME_1 + high * PRIME_2)) * PRIME_3
}

/** Returns the hash of the row at byte offset `first` of the arrays. */
function hashOf(first: i32): u32 {
  let hash = 0
  if (keys == 0) for (let k = first; k < first + (width << 2); k += 4) hash = withCell(hash, k)
  else for (let k = 0; k < keys; k++) hash = withCell(hash, first + (load<i32>(KEYS + (k << 2)) << 2))
  return mixed(hash)
}

function mixed(value: i32): u32 {
  let hash = value
  hash ^= hash >>> 15
  hash *= PRIME_2
  hash ^= hash >>> 13
  hash *= PRIME_1
  hash ^= hash >>> 16
  return <u32>hash
}

/**
 * Returns the first of rows [from, to) after which slices end; −1 if there is none. `before`: weight of the
 * rows since the last end.
 */
export function cut(from: i32, to: i32, before: i32): i32 {
  const step = width << 2
  let first = from * step
  let now = before
  for (let r = from; r < to; r++, first += step) {
    const bytes = (load<i32>(ENDS + first + step - 4) >> 2) - load<i32>(STARTS + first)
    now = weightAfter(first, bytes, now)
    if (now == 0) {
      size = 0
      return r
    }
  }
  size = now
  return -1
}

/** Adds a row, whose cells begin at `first`, to the weight since the last end; 0 if a slice ends after it. */
export function weightAfter(first: i32, bytes: i32, before: i32): i32 {
  const weight = weightOf(bytes)
  const now = before + weight
  if (now < MIN_SLICE_UNITS) return now
  return now >= MAX_SLICE_UNITS || isEnd(hashOf(first), weight, now) ? 0 : now
}

/** Adds a row with the hash of its values, which is not mixed yet. */
export function weightWith(hash: i32, bytes: i32, before: i32): i32 {
  const weight = weightOf(bytes)
  const now = before + weight
  if (now < MIN_SLICE_UNITS) return now
  return now >= MAX_SLICE_UNITS || isEnd(mixed(hash), weight, now) ? 0 : now
}

function weightOf(bytes: i32): i32 {
  return max(UNITS, min(HEAVIEST, bytes * PER_BYTE))
}

function isEnd(hash: u32, weight: i32, now: i32): bool {
  return <u64>hash < <u64>weight * (now < USUAL ? RARE : OFTEN)
}

/** Powers of ten, written by the caller. */
export const TENS: i32 = 1024
/** Maximum number of digits by which numbers are compared. */
const MAX_DIGITS: i32 = 18

/**
 * Returns the distance of the point from the end in two number cells of up to 8 bytes: 0 if neither has one,
 * −1 if it differs or a cell is longer.
 */
function commonPlace(first: i32, second: i32): i32 {
  if ((load<i32>(ENDS + first) >> 2) - load<i32>(STARTS + first) > 8) return -1
  if ((load<i32>(ENDS + second) >> 2) - load<i32>(STARTS + second) > 8) return -1
  const place = placeOfPoint(first)
  return place == placeOfPoint(second) ? place : -1
}

/** Returns the distance of the point from the end of a number; 0 if it has none. */
function placeOfPoint(cell: i32): i32 {
  const start = load<i32>(STARTS + cell)
  const end = load<i32>(ENDS + cell) >> 2
  for (let i = start; i < end; i++) if (<i32>load<u8>(i) == POINT) return end - i
  return 0
}

/** Returns the bytes of a cell of up to 8 bytes as a number with the same order, aligned at the end. */
function keyOf(cell: i32): u64 {
  const start = load<i32>(STARTS + cell)
  const length = (load<i32>(ENDS + cell) >> 2) - start
  const shift = <u64>(64 - (length << 3))
  return bswap((load<u64>(start + length - 8) >>> shift) << shift)
}

function valueOf(cell: i32): f64 {
  const start = load<i32>(STARTS + cell)
  return numberAt(start, (load<i32>(ENDS + cell) >> 2) - start)
}

function hasNoPoint(v: u64): bool {
  const x = v ^ 0x2e2e2e2e2e2e2e2e
  return ((x - 0x0101010101010101) & ~x & 0x8080808080808080) == 0
}

function bswap(word: u64): u64 {
  let v = ((word & 0x00ff00ff00ff00ff) << 8) | ((word >>> 8) & 0x00ff00ff00ff00ff)
  v = ((v & 0x0000ffff0000ffff) << 16) | ((v >>> 16) & 0x0000ffff0000ffff)
  return (v << 32) | (v >>> 32)
}

/** Returns the value of plain digits, with an optional minus sign and point. */
function numberAt(start: i32, length: i32): f64 {
  const sign = <i32>(<i32>load<u8>(start) == MINUS)
  let whole: i64 = 0
  let digits = 0
  let point = 0
  let i = sign
  for (; i < length && digits < MAX_DIGITS; i++) {
    const digit = <i32>load<u8>(start + i) - ZERO
    if (digit < 0) point = i
    else {
      whole = whole * 10 + digit
      if (whole) digits++
    }
  }
  let value = <f64>whole
  if (point > 0) value /= load<f64>(TENS + ((i - 1 - point) << 3))
  else for (; i < length && <i32>load<u8>(start + i) != POINT; i++) value *= 10
  return sign ? -value : value
}

/** Loads the first 8 bytes of [i, end) as a big-endian u64, padded with zeros. */
function prefix(i: i32, end: i32): u64 {
  const length = end - i
  if (length <= 0) return 0
  let v = load<u64>(i)
  if (length < 8) v &= ((<u64>1) << (length << 3)) - 1
  return bswap(v)
}

/** Returns whether text [a, b) sorts before [c, d), if their first 16 bytes are equal. */
function isBefore(a: i32, b: i32, c: i32, d: i32): bool {
  let i = a + 16
  let k = c + 16
  for (; i < b && k < d; i += 8, k += 8) {
    const x = prefix(i, b)
    const y = prefix(k, d)
    if (x != y) return x < y
  }
  return b - a < d - c
}

/** Returns whether text [a, b) sorts before [c, d). Doubled quotes count as one. */
function isBeforeUnquoted(a: i32, b: i32, c: i32, d: i32): bool {
  let i = a
  let k = c
  while (i < b && k < d) {
    const x = <i32>load<u8>(i++)
    const y = <i32>load<u8>(k++)
    if (x != y) return x < y
    if (x == quote) {
      i += <i32>(i < b && <i32>load<u8>(i) == quote)
      k += <i32>(k < d && <i32>load<u8>(k) == quote)
    }
  }
  return i == b && k < d
}

/**
 * Returns a mask of the bytes of a prefix up to the first quote: bytes after it may belong to a doubled
 * quote.
 */
function certain(first: u64): u64 {
  for (let shift = 56; shift >= 0; shift -= 8)
    if (<i32>((first >>> <u64>shift) & 0xff) == quote)
      return shift == 0 ? u64.MAX_VALUE : u64.MAX_VALUE << (<u64>shift)
  return u64.MAX_VALUE
}
