// Parses dates of numbers, such as 31.01.2024, and writes them in ISO 8601.
import { isCalendarDay, parseTwoDigits } from '../../json/index.ts'
import { COLON, HYPHEN, QUOTE, SPACE, ZERO } from './characters.ts'
import type { DateOrder } from './date.ts'

/** Maximum length of a date written by `writeNumericDate`. */
export const MAX_NUMERIC_DATE_BYTES = 21

/** Offset at which `parseNumericDate` and its helpers read. */
let readOffset = 0

/** Parses up to `maxDigits` digits at `readOffset`; −1 if there are none. */
function readDigits(buf: Uint8Array, end: number, maxDigits: number): number {
  let value = 0
  const from = readOffset
  while (
    readOffset < end &&
    readOffset - from < maxDigits &&
    buf[readOffset] >= ZERO &&
    buf[readOffset] <= 0x39
  )
    value = value * 10 + buf[readOffset++] - ZERO
  return readOffset === from ? -1 : value
}

/** The last parsed date. `hour` is −1 without a time; `dmy` and `mdy`: whether the day or month can be first. */
const lastNumeric = {
  first: 0,
  second: 0,
  year: 0,
  hour: -1,
  minute: 0,
  seconds: 0,
  dmy: false,
  mdy: false,
  form: '',
}
const FORM_BY_SEPARATOR: Record<number, string> = { 47: '/', 46: '.', 45: '-' }

/** Parses `31.01.2024`, the most common form, into `lastNumeric`. */
function parsePaddedDay(buf: Uint8Array, i: number): boolean {
  const form = FORM_BY_SEPARATOR[buf[i + 2]]
  if (form === undefined || buf[i + 5] !== buf[i + 2]) return false
  const [first, second] = [parseTwoDigits(buf, i), parseTwoDigits(buf, i + 3)]
  const [century, ofCentury] = [parseTwoDigits(buf, i + 6), parseTwoDigits(buf, i + 8)]
  if (first < 0 || second < 0 || century < 0 || ofCentury < 0) return false
  const year = century * 100 + ofCentury
  lastNumeric.first = first
  lastNumeric.second = second
  lastNumeric.year = year
  lastNumeric.hour = -1
  lastNumeric.dmy = isCalendarDay(year, second, first)
  lastNumeric.mdy = isCalendarDay(year, first, second)
  lastNumeric.form = form
  return true
}

/**
 * Parses numeric dates such as `31.01.2024` and `1/31/2024`, also with ` 9:30` or ` 09:30:00`. Returns
 * `lastNumeric`, which the next call overwrites.
 */
export function parseNumericDate(
  buf: Uint8Array,
  start: number,
  end: number,
): typeof lastNumeric | undefined {
  if (end - start === 10 && parsePaddedDay(buf, start)) return lastNumeric
  readOffset = start
  const first = readDigits(buf, end, 2)
  const separator = buf[readOffset]
  const form = first < 0 ? undefined : FORM_BY_SEPARATOR[separator]
  if (form === undefined) return undefined
  readOffset++
  const second = readDigits(buf, end, 2)
  if (second < 0 || buf[readOffset++] !== separator) return undefined
  const from = readOffset
  const year = readDigits(buf, end, 4)
  if (readOffset - from !== 4) return undefined
  let hour = -1
  let minute = 0
  let seconds = 0
  if (readOffset < end) {
    if (buf[readOffset++] !== SPACE) return undefined
    hour = readDigits(buf, end, 2)
    if (hour < 0 || hour > 23 || buf[readOffset++] !== COLON) return undefined
    minute = readTwoDigits(buf, end)
    if (minute < 0 || minute > 59) return undefined
    if (readOffset < end && buf[readOffset] === COLON) {
      readOffset++
      seconds = readTwoDigits(buf, end)
      if (seconds < 0 || seconds > 59) return undefined
    }
    if (readOffset < end) return undefined
  }
  lastNumeric.first = first
  lastNumeric.second = second
  lastNumeric.year = year
  lastNumeric.hour = hour
  lastNumeric.minute = minute
  lastNumeric.seconds = seconds
  lastNumeric.dmy = isCalendarDay(year, second, first)
  lastNumeric.mdy = isCalendarDay(year, first, second)
  lastNumeric.form = form
  return lastNumeric
}

/** Writes `lastNumeric` as a JSON string in ISO 8601 at `to`. Returns the offset after it. */
export function writeNumericDate(out: Uint8Array, to: number, order: DateOrder): number {
  const { first, second, year, hour, minute, seconds } = lastNumeric
  const [day, month] = order === 'mdy' ? [second, first] : [first, second]
  let k = to
  const pair = (value: number): void => {
    out[k++] = ZERO + Math.floor(value / 10)
    out[k++] = ZERO + (value % 10)
  }
  out[k++] = QUOTE
  pair(Math.floor(year / 100))
  pair(year % 100)
  out[k++] = HYPHEN
  pair(month)
  out[k++] = HYPHEN
  pair(day)
  if (hour >= 0) {
    out[k++] = 0x54
    pair(hour)
    out[k++] = COLON
    pair(minute)
    out[k++] = COLON
    pair(seconds)
  }
  out[k++] = QUOTE
  return k
}

/** Parses exactly two digits at `readOffset`; −1 otherwise. */
function readTwoDigits(buf: Uint8Array, end: number): number {
  const from = readOffset
  const value = readDigits(buf, end, 2)
  return readOffset - from === 2 ? value : -1
}
