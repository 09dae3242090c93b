// Which values of a column are equal (docs/filtering.md), however they are written: 1.50 and 1.5, dates of the same time.
import { parseInstant } from '../../../json/index.ts'
import { type Comparison, isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'

/** Digits of a second after milliseconds. */
const LATER_DIGITS = /(\.\d{3})(\d+)/
/** Minimum length of a date with digits after milliseconds, and maximum length of any. */
const MIN_LATER_CHARACTERS = '2024-01-31T00:00:00.0000'.length
const MAX_CHARACTERS = 64

/** A time in ms since 1970, and the digits of a second after it. */
export interface Instant {
  ms: number
  later: string
}

/** Reads an ISO 8601 text; `ms` is NaN for other texts. */
export function readInstant(text: string): Instant {
  if (text.length > MAX_CHARACTERS) return NO_INSTANT
  if (text.length < MIN_LATER_CHARACTERS) return { ms: Math.round(parseInstant(text)), later: '' }
  const later = LATER_DIGITS.exec(text)?.[2].replace(/0+$/, '') ?? ''
  return { ms: Math.round(parseInstant(text.replace(LATER_DIGITS, '$1'))), later }
}

export const NO_INSTANT: Instant = { ms: Number.NaN, later: '' }

/** Returns a text that equal values have in common, from the JSON of a value. */
export type Identify = (json: string) => string

/** Identifies values as each comparison finds them equal: numbers by all digits, texts without regard to their escapes. */
export const identifyBy: Readonly<Record<Comparison, Identify>> = {
  value: (json) => canonicalValue(json, false),
  text: (json) => canonicalValue(json, true),
  moment: identifyDate,
}

/** Returns the function that identifies the values of a column. `asText`: 5 and "5" are equal. */
export function createIdentify(type: ColumnType, asText = false): Identify {
  return identifyBy[asText ? 'text' : isDateType(type) ? 'moment' : 'value']
}

/** Lengths of the JSON of a day and of a time with seconds, and the offsets of its separator and last colon. */
export const DAY_JSON = 12
export const TIME_JSON = 21
export const JSON_SEPARATOR = 11
export const JSON_LAST_COLON = 17

/** Returns the usual form of a date: a day, or a time in UTC with seconds. Most dates have it. */
function identifyDate(json: string): string {
  if (json.length === DAY_JSON) return json
  if (json.length === TIME_JSON && json[JSON_LAST_COLON] === ':') {
    if (json.endsWith('00:00:00"')) return `${json.slice(0, JSON_SEPARATOR)}"`
    return json[JSON_SEPARATOR] === 'T'
      ? json
      : `${json.slice(0, JSON_SEPARATOR)}T${json.slice(JSON_SEPARATOR + 1)}`
  }
  if (json[0] !== '"') return json
  const { ms, later } = readInstant(json.slice(1, -1))
  if (Number.isNaN(ms)) return canonicalValue(json, false)
  const iso = new Date(ms).toISOString().slice(0, -1)
  if (later === '' && iso.endsWith('.000'))
    return `"${iso.endsWith('00:00:00.000') ? iso.slice(0, -'T00:00:00.000'.length) : iso.slice(0, -'.000'.length)}"`
  return `"${iso}${later}"`
}

/** Returns the canonical form of a JSON value: equal values have the same. `asText`: 5 and "5" are equal. */
function canonicalValue(json: string, asText: boolean): string {
  const first = json[0]
  if (first === '"') {
    const plain = json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json
    if (!asText) return plain
    const inner = plain.slice(1, -1)
    return NUMBER.test(inner) ? `"${canonicalNumber(inner)}"` : plain
  }
  const isNumber = first === '-' || (first >= '0' && first <= '9')
  const value = isNumber ? canonicalNumber(json) : json
  return asText && (isNumber || first === 't' || first === 'f') ? `"${value}"` : value
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i

/** Maximum position of the decimal point up to which an exponent is written out. */
const MAX_DIGITS = 400

/** Numbers without exponent and needless zeros. */
const CANONICAL_NUMBER = /^(?:0|-?[1-9]\d*|-?(?:0|[1-9]\d*)\.\d*[1-9])$/

/** Returns the canonical form of a number, with all digits: `1.50` → `1.5`, `1e3` → `1000`, `-0` → `0`. */
function canonicalNumber(text: string): string {
  if (CANONICAL_NUMBER.test(text)) return text
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(
    text,
  ) ?? [undefined, '', text]
  const shift = Number(exponent)
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '')
  if (/^0*$/.test(digits)) return '0'
  // Number of digits before the decimal point.
  const point = digits.length - fraction.length + shift
  if (Math.abs(point) > MAX_DIGITS) {
    const short = withoutLastZeros(digits)
    return `${sign}${short}e${point - short.length}`
  }
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = point <= 0 ? 1 : point
  const rest = withoutLastZeros(padded.slice(at))
  return `${sign}${padded.slice(0, at)}${rest && `.${rest}`}`
}

/** Removes zeros at the end. A pattern would look at each zero of a long run again and again. */
export function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
