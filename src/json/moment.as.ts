/** AssemblyScript, a part of kernels: reads days and times in ISO 8601 (docs/formats.md#types). */

/** Facts about a day or time: bits, beside those of `FACTS` in the kernel for pages of Parquet (1, 2, from 16,384). */
export const UNREADABLE: i32 = 16
const IS_DAY: i32 = 32
const LETTER: i32 = 64
const SPACE: i32 = 128
const LOCAL: i32 = 256
const UTC: i32 = 512
const OFFSET: i32 = 1024
const NO_SECONDS: i32 = 2048
/** More than six digits of a second, which `micros` lacks. */
const NANOSECONDS: i32 = 4096
const PADDED: i32 = 8192

/** Days since 1970, and microseconds since then in UTC, of the last call of `readMoment`. */
export let days: i32 = 0
export let micros: i64 = 0
/** Addresses of the digits after microseconds, without zeros at the end. Equal without such digits. */
export let laterFrom: i32 = 0
export let laterTo: i32 = 0

const BLANK: i32 = 0x20
const PLUS: i32 = 0x2b
const MINUS: i32 = 0x2d
const POINT: i32 = 0x2e
const ZERO: i32 = 0x30
const COLON: i32 = 0x3a
const LETTER_T: i32 = 0x54
const LETTER_Z: i32 = 0x5a

/** Parses two digits; −1 for others. */
export function two(at: i32): i32 {
  const a = <i32>load<u8>(at) - ZERO
  const b = <i32>load<u8>(at, 1) - ZERO
  return <u32>a < 10 && <u32>b < 10 ? a * 10 + b : -1
}

/** Returns the days from 1970-01-01 to a day of the Gregorian calendar. Counts years from March, so that leap days come last. */
export function daysSince1970(year: i32, month: i32, day: i32): i32 {
  const y = month <= 2 ? year - 1 : year
  const era = (y >= 0 ? y : y - 399) / 400
  const yearOfEra = y - era * 400
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

/** Reads the day or time [at, end). Returns facts about it; UNREADABLE for others. */
export function readMoment(at: i32, end: i32): i32 {
  if (end - at < 10 || <i32>load<u8>(at, 4) != MINUS || <i32>load<u8>(at, 7) != MINUS) return UNREADABLE
  const century = two(at)
  const decade = two(at + 2)
  const month = two(at + 5)
  const day = two(at + 8)
  if (century < 0 || decade < 0 || month < 1 || month > 12 || day < 1) return UNREADABLE
  const year = century * 100 + decade
  const isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
  // Bits of months with 31 days.
  const last = month == 2 ? (isLeap ? 29 : 28) : 30 + ((0x15aa >>> month) & 1)
  if (day > last) return UNREADABLE
  days = daysSince1970(year, month, day)
  micros = <i64>days * 86_400_000_000
  laterFrom = laterTo = 0
  if (end - at == 10) return IS_DAY
  let i = at + 16
  const separator = <i32>load<u8>(at, 10)
  if (i > end || (separator != LETTER_T && separator != BLANK)) return UNREADABLE
  let found = separator == BLANK ? SPACE : LETTER
  const hour = two(at + 11)
  const minute = two(at + 14)
  if (<u32>hour > 23 || <u32>minute > 59 || <i32>load<u8>(at, 13) != COLON) return UNREADABLE
  micros += <i64>(hour * 60 + minute) * 60_000_000
  if (i + 3 <= end && <i32>load<u8>(i) == COLON) {
    const second = two(i + 1)
    if (<u32>second > 59) return UNREADABLE
    micros += <i64>second * 1_000_000
    i += 3
    if (i < end && <i32>load<u8>(i) == POINT) {
      const from = ++i
      let unit: i64 = 100_000
      let digit = <i32>load<u8>(i) - ZERO
      let lastDigit = 0
      while (i < end && <u32>digit < 10) {
        micros += unit * digit
        unit /= 10
        lastDigit = digit
        digit = <i32>load<u8>(++i) - ZERO
      }
      if (i == from) return UNREADABLE
      if (i - from > 6) {
        found |= NANOSECONDS
        laterFrom = from + 6
        laterTo = i
        while (laterTo > laterFrom && <i32>load<u8>(laterTo - 1) == ZERO) laterTo--
      }
      if (lastDigit == 0) found |= PADDED
    }
  } else found |= NO_SECONDS
  if (i == end) return found | LOCAL
  const sign = <i32>load<u8>(i)
  if (sign == LETTER_Z) return i + 1 == end ? found | UTC : UNREADABLE
  if (sign != PLUS && sign != MINUS) return UNREADABLE
  const hours = i + 3 <= end ? two(i + 1) : -1
  let minutes = 0
  if (i + 3 < end) {
    const from = <i32>load<u8>(i + 3) == COLON ? i + 4 : i + 3
    minutes = from + 2 == end ? two(from) : -1
  }
  if (<u32>hours > 23 || <u32>minutes > 59) return UNREADABLE
  const offset = <i64>(hours * 60 + minutes) * 60_000_000
  micros += sign == PLUS ? -offset : offset
  return found | OFFSET
}
