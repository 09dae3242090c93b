/**
 * AssemblyScript, compiled to WebAssembly by esbuild.config.js: writes the plain values of a columnar file, which are
 * little-endian, as column JSON. Each value ends with a comma. At a value that needs more than a look at its bytes it
 * stops, and TypeScript code writes that one.
 */

/** Memory layout: constants of this file; levels, indexes, ends of words, words; values; the JSON. */
export const MAX_ROWS: i32 = 8192
export const LEVELS: i32 = 2048
export const INDEXES: i32 = LEVELS + MAX_ROWS
export const MAX_WORDS: i32 = 262_144
export const WORD_ENDS: i32 = INDEXES + MAX_ROWS * 4
export const WORDS: i32 = WORD_ENDS + (MAX_WORDS + 1) * 4
export const WORDS_BYTES: i32 = 4_194_304
/** Space after words and values, for reads of 16 bytes. */
export const SLACK: i32 = 16
export const VALUES: i32 = WORDS + WORDS_BYTES + SLACK
export const VALUES_BYTES: i32 = 262_144
export const OUT: i32 = VALUES + VALUES_BYTES + SLACK
export const OUT_BYTES: i32 = 524_288
/** Maximum size of a value that is not a text. */
const MAX_VALUE_BYTES: i32 = 64

/** Kinds of values: see `PLAIN_KINDS` in plain.ts. */
const INTEGER: i32 = 0
const DOUBLE: i32 = 1
const SINGLE: i32 = 2
const DAY: i32 = 3
const TIME: i32 = 4
const TEXT: i32 = 5

/** Results of `write` and `writeWords`: number of rows written, address of the next value; 1 if that one is odd. */
export let rows: i32 = 0
export let next: i32 = 0
export let odd: i32 = 0
/** 1 if a text has bytes other than ASCII, which are not checked here. */
export let wide: i32 = 0

const NULL: u32 = 0x6c6c_756e
const QUOTE: i32 = 0x22
const COMMA: i32 = 0x2c
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const ZERO: i32 = 0x30
const COLON: i32 = 0x3a
const BACKSLASH: i32 = 0x5c
const BLANK: i32 = 0x20
/** First byte of a byte order mark, which readers drop. */
const FIRST_OF_MARK: i32 = 0xef

/** Powers of ten. */
const POWERS: StaticArray<u64> = [
  1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
  100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
  10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000,
]
const REAL_POWERS: StaticArray<f64> = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
/** Maximum number of decimals of a floating-point number that is written here. */
const MAX_PLACES: i32 = 9
/** Doubles of up to 15 digits, and singles of up to 6, are exact: the decimal that is found is the only one. */
const DOUBLE_LIMIT: f64 = 1e15
const SINGLE_LIMIT: f64 = 1e6
/** Maximum of a single with 9 digits, which all singles have. */
const LONG_SINGLE_LIMIT: f64 = 1e9
/** Numbers from here on are written without an exponent. */
const MIN_DECIMAL: f64 = 1e-6
const MAX_SAFE: f64 = 9_007_199_254_740_991

const SECONDS_PER_DAY: i64 = 86_400
/** Days since 1970 of 0000-01-01 and 9999-12-31. */
const MIN_DAY: i64 = -719_528
const MAX_DAY: i64 = 2_932_896
const DAYS_FROM_MARCH_0000: i32 = 719_468
const DAYS_PER_400_YEARS: i32 = 146_097

let kind: i32 = 0
/** Size of an integer; digits of the fraction of a time. */
let size: i32 = 0
/** Decimals of an integer. */
let decimals: i32 = 0
/** Separator of day and time. */
let separator: i32 = 0
/** Last letter of a time; a quote around integers; 0 for none. */
let mark: i32 = 0
/** Number of decimals of the last number, which most numbers of a column have. */
let places: i32 = 0
/** The last day, and its ten characters. */
let lastDay: i32 = i32.MIN_VALUE
let lastDayLow: u64 = 0
let lastDayHigh: u32 = 0

/** Says how values are written. See `PlainForm` in plain.ts. */
export function begin(ofKind: i32, ofSize: i32, withDecimals: i32, withSeparator: i32, withMark: i32): void {
  kind = ofKind
  size = ofSize
  decimals = withDecimals
  separator = withSeparator
  mark = withMark
}

/** Returns two digits as the bytes of a text. */
function pairOf(value: u32): u32 {
  const tens = (value * 103) >> 10
  return 0x3030 + tens + ((value - tens * 10) << 8)
}

function countDigits(value: u32): i32 {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4
  if (value < 100_000_000) return value < 1_000_000 ? (value < 100_000 ? 5 : 6) : value < 10_000_000 ? 7 : 8
  return value < 1_000_000_000 ? 9 : 10
}

/** Writes an integer with this number of digits. Returns the end. */
function putDigits(out: i32, value: u32, digits: i32): i32 {
  let i = out + digits
  let left = value
  while (i - out >= 2) {
    const rest = left / 100
    i -= 2
    store<u16>(i, <u16>pairOf(left - rest * 100))
    left = rest
  }
  if (i > out) store<u8>(out, ZERO + left)
  return out + digits
}

function putInteger(out: i32, value: u64): i32 {
  if (value >> 32 == 0) return putDigits(out, <u32>value, countDigits(<u32>value))
  const high = value / 100_000_000
  return putDigits(putInteger(out, high), <u32>(value - high * 100_000_000), 8)
}

/** Writes a fraction of `digits` digits. */
function putFraction(out: i32, value: u64, digits: i32): i32 {
  if (digits <= 9) return putDigits(out, <u32>value, digits)
  const high = value / 1_000_000_000
  return putDigits(putFraction(out, high, digits - 9), <u32>(value - high * 1_000_000_000), 9)
}

function putSigned(out: i32, value: i64): i32 {
  let at = out
  if (mark) store<u8>(at++, mark)
  let amount = <u64>value
  if (value < 0) {
    store<u8>(at++, MINUS)
    amount = 0 - amount
  }
  if (decimals == 0) at = putInteger(at, amount)
  else {
    const power = unchecked(POWERS[decimals])
    const whole = amount / power
    at = putInteger(at, whole)
    store<u8>(at, POINT)
    at = putFraction(at + 1, amount - whole * power, decimals)
  }
  if (mark) store<u8>(at++, mark)
  return at
}

/** Returns amount × 10^k if that is an integer below the limit, to the last bit; −1 otherwise. */
function scaledBy(amount: f64, k: i32, limit: f64): f64 {
  const power = unchecked(REAL_POWERS[k])
  const scaled = Math.floor(amount * power + 0.5)
  if (scaled >= limit) return -1
  const again = scaled / power
  return (kind == SINGLE ? <f64>(<f32>again) : again) == amount ? scaled : -1
}

/** Writes a floating-point number as `String` does; a single as the shortest equal one. Returns 0 for odd ones. */
function putReal(out: i32, value: f64): i32 {
  const amount = Math.abs(value)
  // Also of NaN.
  if (!(amount <= MAX_SAFE)) return 0
  let at = out
  if (value < 0) store<u8>(at++, MINUS)
  const whole = Math.floor(amount)
  if (whole == amount) return putInteger(at, <u64>amount)
  if (amount < MIN_DECIMAL) return 0
  let count = places
  let scaled = scaledBy(amount, count, kind == SINGLE ? SINGLE_LIMIT : DOUBLE_LIMIT)
  if (scaled < 0)
    for (count = 1; count <= MAX_PLACES; count++) {
      scaled = scaledBy(amount, count, kind == SINGLE ? LONG_SINGLE_LIMIT : DOUBLE_LIMIT)
      if (scaled >= 0) break
    }
  if (scaled < 0) return 0
  places = count
  let rest = <u32>(scaled - whole * unchecked(REAL_POWERS[count]))
  while (rest % 10 == 0) {
    rest /= 10
    count--
  }
  at = putInteger(at, <u64>whole)
  store<u8>(at, POINT)
  return putDigits(at + 1, rest, count)
}

/** Writes a day of the years 0 to 9999: `2024-01-31`. */
function putDay(out: i32, day: i32): i32 {
  if (day != lastDay) {
    const shifted = day + DAYS_FROM_MARCH_0000
    const cycle = (shifted >= 0 ? shifted : shifted - (DAYS_PER_400_YEARS - 1)) / DAYS_PER_400_YEARS
    const dayOfCycle = shifted - cycle * DAYS_PER_400_YEARS
    const year = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    const dayOfYear = dayOfCycle - (365 * year + year / 4 - year / 100)
    // Years begin in March.
    const month = (5 * dayOfYear + 2) / 153
    const date = dayOfYear - (153 * month + 2) / 5 + 1
    const calendarMonth = month < 10 ? month + 3 : month - 9
    putDigits(out, year + cycle * 400 + <i32>(calendarMonth <= 2), 4)
    store<u8>(out + 4, MINUS)
    store<u16>(out + 5, <u16>pairOf(calendarMonth))
    store<u8>(out + 7, MINUS)
    store<u16>(out + 8, <u16>pairOf(date))
    lastDay = day
    lastDayLow = load<u64>(out)
    lastDayHigh = load<u16>(out + 8)
  } else {
    store<u64>(out, lastDayLow)
    store<u16>(out + 8, <u16>lastDayHigh)
  }
  return out + 10
}

/** Writes a day as a string; 0 for other years. */
function putDate(out: i32, day: i32): i32 {
  if (<i64>day < MIN_DAY || <i64>day > MAX_DAY) return 0
  store<u8>(out, QUOTE)
  const at = putDay(out + 1, day)
  store<u8>(at, QUOTE)
  return at + 1
}

/** Writes a time in ticks since 1970 as a string; 0 for other years. */
function putTime(out: i32, ticks: i64): i32 {
  const perSecond = <i64>unchecked(POWERS[size])
  let seconds = ticks / perSecond
  let fraction = ticks - seconds * perSecond
  if (fraction < 0) {
    fraction += perSecond
    seconds--
  }
  let day = seconds / SECONDS_PER_DAY
  let second = <i32>(seconds - day * SECONDS_PER_DAY)
  if (second < 0) {
    second += <i32>SECONDS_PER_DAY
    day--
  }
  if (day < MIN_DAY || day > MAX_DAY) return 0
  store<u8>(out, QUOTE)
  let at = putDay(out + 1, <i32>day)
  const minute = second / 60
  const hour = minute / 60
  store<u8>(at, separator)
  store<u16>(at + 1, <u16>pairOf(hour))
  store<u8>(at + 3, COLON)
  store<u16>(at + 4, <u16>pairOf(minute - hour * 60))
  store<u8>(at + 6, COLON)
  store<u16>(at + 7, <u16>pairOf(second - minute * 60))
  at += 9
  if (fraction != 0) {
    store<u8>(at, POINT)
    at = putDigits(at + 1, <u32>fraction, size)
    while (<i32>load<u8>(at - 1) == ZERO) at--
  }
  if (mark) store<u8>(at++, mark)
  store<u8>(at, QUOTE)
  return at + 1
}

/** Writes a text as a string; 0 for one with control characters, or a mark of the order. */
function putText(out: i32, from: i32, to: i32): i32 {
  if (from < to && <i32>load<u8>(from) == FIRST_OF_MARK) return 0
  store<u8>(out, QUOTE)
  let at = out + 1
  let i = from
  while (i < to) {
    const v = v128.load(i)
    const special = v128.or(
      v128.or(i8x16.eq(v, i8x16.splat(<i8>QUOTE)), i8x16.eq(v, i8x16.splat(<i8>BACKSLASH))),
      // Signed: also of bytes other than ASCII.
      i8x16.lt_s(v, i8x16.splat(<i8>BLANK)),
    )
    v128.store(at, v)
    const found = i8x16.bitmask(special)
    const plain = found ? <i32>ctz(found) : 16
    if (plain >= to - i) {
      at += to - i
      break
    }
    at += plain
    i += plain
    if (plain == 16) continue
    const c = <i32>load<u8>(i++)
    if (c < BLANK) return 0
    if (c >= 0x80) wide = 1
    else store<u8>(at++, BACKSLASH)
    store<u8>(at++, c)
  }
  store<u8>(at, QUOTE)
  return at + 1
}

/** Writes the value at `at`. Returns its end, or 0 for an odd one. */
function put(out: i32, at: i32): i32 {
  switch (kind) {
    case INTEGER:
      return putSigned(out, size == 4 ? <i64>load<i32>(at) : load<i64>(at))
    case DOUBLE:
      return putReal(out, load<f64>(at))
    case SINGLE:
      return putReal(out, <f64>load<f32>(at))
    case DAY:
      return putDate(out, load<i32>(at))
    case TIME:
      return putTime(out, load<i64>(at))
    default:
      return 0
  }
}

/** Writes a null with its comma. */
function putNull(out: i32): i32 {
  store<u32>(out, NULL)
  store<u8>(out + 4, COMMA)
  return out + 5
}

function isNull(row: i32, leveled: bool): bool {
  return leveled && load<u8>(LEVELS + row) != 1
}

/**
 * Writes up to `count` rows, whose values are in [at, to), until the JSON is full, a value is odd or the next one ends
 * after `to`. `leveled`: whether LEVELS says which rows have a value. Returns the end of the JSON.
 */
export function write(at: i32, to: i32, count: i32, leveled: bool): i32 {
  let i = at
  let out = OUT
  let n = 0
  odd = 0
  wide = 0
  const width = kind == DOUBLE || kind == TIME ? 8 : kind == INTEGER ? size : 4
  for (; n < count && out <= OUT + OUT_BYTES - MAX_VALUE_BYTES; n++) {
    if (isNull(n, leveled)) {
      out = putNull(out)
      continue
    }
    let end = i + width
    if (end > to) break
    let stop: i32
    if (kind == TEXT) {
      const length = load<u32>(i)
      if (length > <u32>(to - end)) break
      // Each byte can be escaped.
      if (out + 2 * <i32>length > OUT + OUT_BYTES - MAX_VALUE_BYTES) break
      const from = end
      end += <i32>length
      stop = putText(out, from, end)
    } else stop = put(out, i)
    if (stop == 0) {
      odd = 1
      break
    }
    store<u8>(stop, COMMA)
    out = stop + 1
    i = end
  }
  rows = n
  next = i
  return out
}

/** Writes rows as `write` does, of `words` words by their INDEXES from the address `at` on. Words end with commas. */
export function writeWords(at: i32, count: i32, leveled: bool, words: u32): i32 {
  let i = at
  let out = OUT
  let n = 0
  wide = 0
  for (; n < count && out <= OUT + OUT_BYTES - MAX_VALUE_BYTES; n++) {
    if (isNull(n, leveled)) {
      out = putNull(out)
      continue
    }
    const index = load<u32>(i)
    if (index >= words) break
    const end = WORD_ENDS + <i32>(index << 2)
    let from = load<i32>(end)
    const stop = out + load<i32>(end + 4) - from
    if (stop > OUT + OUT_BYTES - MAX_VALUE_BYTES) break
    do {
      v128.store(out, v128.load(from))
      from += 16
      out += 16
    } while (out < stop)
    out = stop
    i += 4
  }
  rows = n
  next = i
  return out
}
