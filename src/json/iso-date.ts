// Dates and times in the stored form of ISO 8601. See docs/formats.md#types.

/** Type of an ISO 8601 text: a day, a time without zone, or a time with one. */
export type Moment = 'date' | 'datetime' | 'datetime-zone'

const ZERO = 0x30
const HYPHEN = 0x2d
const COLON = 0x3a
const PLUS = 0x2b
const POINT = 0x2e
/** Length of `2024-01-31`. */
const DAY_BYTES = 10
/** Length of `2024-01-31T09:30`. */
const MINUTE_BYTES = 16
/** Maximum length of a text that is tried, since fractions of seconds can have any number of digits. */
const MAX_MOMENT_BYTES = 64

const DAYS_BY_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDigit(c: number): boolean {
  return c >= ZERO && c <= 0x39
}

/** Parses two digits at `i`; −1 if they are not digits. */
export function parseTwoDigits(buf: Uint8Array, i: number): number {
  const a = buf[i] - ZERO
  const b = buf[i + 1] - ZERO
  return a >= 0 && a <= 9 && b >= 0 && b <= 9 ? a * 10 + b : -1
}

/** Returns whether a year (1 to 9999), month (from 1) and day exist in the calendar. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > DAYS_BY_MONTH[month - 1]) return false
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0))
}

/**
 * Returns the type of the ISO 8601 text buf[start, end): `2024-01-31`, or `2024-01-31T09:30` (also with a
 * space for the T), with optional seconds, fraction and zone (`Z`, `+02`, `+0200` or `+02:00`). undefined for
 * other texts.
 */
export function detectMoment(buf: Uint8Array, start: number, end: number): Moment | undefined {
  const length = end - start
  if (length < DAY_BYTES || length > MAX_MOMENT_BYTES) return undefined
  if (buf[start + 4] !== HYPHEN || buf[start + 7] !== HYPHEN) return undefined
  const century = parseTwoDigits(buf, start)
  const year = parseTwoDigits(buf, start + 2)
  if (century < 0 || year < 0) return undefined
  if (!isCalendarDay(century * 100 + year, parseTwoDigits(buf, start + 5), parseTwoDigits(buf, start + 8)))
    return undefined
  if (length === DAY_BYTES) return 'date'
  const separator = buf[start + DAY_BYTES]
  if (length < MINUTE_BYTES || (separator !== 0x54 && separator !== 0x20)) return undefined
  const hour = parseTwoDigits(buf, start + 11)
  const minute = parseTwoDigits(buf, start + 14)
  if (hour < 0 || hour > 23 || buf[start + 13] !== COLON || minute < 0 || minute > 59) return undefined
  let i = start + MINUTE_BYTES
  if (buf[i] === COLON && i < end) {
    const second = i + 3 <= end ? parseTwoDigits(buf, i + 1) : -1
    if (second < 0 || second > 59) return undefined
    i += 3
    if (buf[i] === POINT && i < end) {
      const fraction = ++i
      while (i < end && isDigit(buf[i])) i++
      if (i === fraction) return undefined
    }
  }
  if (i === end) return 'datetime'
  return isZone(buf, i, end) ? 'datetime-zone' : undefined
}

/** Returns whether buf[i, end) is an offset from UTC. */
function isZone(buf: Uint8Array, i: number, end: number): boolean {
  if (buf[i] === 0x5a) return i + 1 === end
  if (buf[i] !== PLUS && buf[i] !== HYPHEN) return false
  const hours = i + 3 <= end ? parseTwoDigits(buf, i + 1) : -1
  // The largest offset in use is +14:00.
  if (hours < 0 || hours > 15) return false
  if (i + 3 === end) return true
  const minutes = buf[i + 3] === COLON ? i + 4 : i + 3
  const count = minutes + 2 === end ? parseTwoDigits(buf, minutes) : -1
  return count >= 0 && count <= 59
}

const DAY_MS = 86_400_000
/** Length of `2024-01-31T09:30:00`. */
const SECOND_BYTES = 19

/**
 * Returns `parseInstant` for the text buf[start, end). Fast for days, and times with seconds and an optional
 * `Z`.
 */
export function parseInstantBytes(buf: Buffer, start: number, end: number): number {
  const length = end - start
  const isPlain =
    length === DAY_BYTES || length === SECOND_BYTES || (length === SECOND_BYTES + 1 && buf[end - 1] === 0x5a)
  if (!isPlain || buf[start + 4] !== HYPHEN || buf[start + 7] !== HYPHEN)
    return parseInstant(buf.toString('latin1', start, end))
  const [century, year] = [parseTwoDigits(buf, start), parseTwoDigits(buf, start + 2)]
  const [month, day] = [parseTwoDigits(buf, start + 5), parseTwoDigits(buf, start + 8)]
  if (century < 0 || year < 0 || !isCalendarDay(century * 100 + year, month, day))
    return parseInstant(buf.toString('latin1', start, end))
  const time = daysSince1970(century * 100 + year, month, day) * DAY_MS
  if (length === DAY_BYTES) return time
  const [hour, minute, second] = [
    parseTwoDigits(buf, start + 11),
    parseTwoDigits(buf, start + 14),
    parseTwoDigits(buf, start + 17),
  ]
  const separator = buf[start + DAY_BYTES]
  const isTime =
    (separator === 0x54 || separator === 0x20) &&
    buf[start + 13] === COLON &&
    buf[start + 16] === COLON &&
    hour >= 0 &&
    hour < 24 &&
    minute >= 0 &&
    minute < 60 &&
    second >= 0 &&
    second < 60
  if (!isTime) return parseInstant(buf.toString('latin1', start, end))
  return time + ((hour * 60 + minute) * 60 + second) * 1000
}

/**
 * Returns the days from 1970-01-01 to a day of the Gregorian calendar. Counts years from March, so that leap
 * days come last.
 */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

const MOMENT_PARTS = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/

/**
 * Returns the time of an ISO 8601 text in ms since 1970, with fractions; NaN for other texts. Without a zone,
 * it is UTC.
 */
export function parseInstant(text: string): number {
  const match = MOMENT_PARTS.exec(text)
  if (!match) return Number.NaN
  const [, day, minute = '00:00', second = ':00', fraction = '', zone = 'Z'] = match
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.replace(':', '').slice(3) || '00'}`
  return Date.parse(`${day}T${minute}${second}${offset}`) + Number(`0${fraction}`) * 1000
}
