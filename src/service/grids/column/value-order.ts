// Which values of a column are equal, and which comes first (docs/filtering.md): as in conditions and sorting.
import { jsonKindOf, parseInstant, parseShortNumber } from '../../../json/index.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { type Cell, jsonOf } from './cursor.ts'
import { canonicalValue } from './kernel/cells.ts'

/** Digits of a second after milliseconds. */
const LATER_DIGITS = /(\.\d{3})(\d+)/

/** A time in ms since 1970, and the digits of a second after it. */
interface Instant {
  ms: number
  later: string
}

/** Reads an ISO 8601 text; `ms` is NaN for other texts. */
function readInstant(text: string): Instant {
  const later = LATER_DIGITS.exec(text)?.[2].replace(/0+$/, '') ?? ''
  return { ms: Math.round(parseInstant(text.replace(LATER_DIGITS, '$1'))), later }
}

/** Returns a text that equal values of a column have in common, from the JSON of a value. */
export type Identify = (json: string) => string

/**
 * Creates the function that identifies the values of a column: numbers by all digits, dates by time, texts without regard
 * to their escapes. `asText`: 5 and "5" are equal.
 */
export function createIdentify(type: ColumnType, asText = false): Identify {
  if (asText) return (json) => canonicalValue(json, true)
  return isDateType(type) ? identifyDate : (json) => canonicalValue(json, false)
}

/** Lengths of the JSON of a day and of a time with seconds, and the offsets of its separator and last colon. */
const DAY_JSON = 12
const TIME_JSON = 21
const JSON_SEPARATOR = 11
const JSON_LAST_COLON = 17

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

/** A value that can be compared. Kinds are in their order: numbers, other values, texts. */
export interface Rank {
  kind: number
  value: number | string
  /** Decides if `value` is equal: an integer beyond 2^53, or the last digits of a second. */
  rest: bigint | string
}

const NUMBER = 0
const OTHER = 1
const TEXT = 2

/** Returns the rank of a value of a column, given as JSON. Dates are ranked by time. */
export function rankOf(json: string, type: ColumnType): Rank {
  switch (jsonKindOf(json.charCodeAt(0))) {
    case 'number': {
      const value = Number(json)
      const isLong = !Number.isSafeInteger(value) && /^-?\d+$/.test(json)
      return { kind: NUMBER, value, rest: isLong ? BigInt(json) : '' }
    }
    case 'string': {
      const text: string = JSON.parse(json)
      const { ms, later } = isDateType(type) ? readInstant(text) : NO_INSTANT
      return Number.isNaN(ms)
        ? { kind: TEXT, value: text, rest: '' }
        : { kind: NUMBER, value: ms, rest: later }
    }
    default:
      return { kind: OTHER, value: json, rest: '' }
  }
}

const NO_INSTANT: Instant = { ms: Number.NaN, later: '' }

/** Compares two values, as `sort` orders them. */
export function compareRanks(a: Rank, b: Rank): number {
  if (a.kind !== b.kind) return a.kind - b.kind
  if (a.value === b.value) return a.rest < b.rest ? -1 : a.rest > b.rest ? 1 : 0
  if (a.kind === TEXT && (SURROGATE.test(a.value as string) || SURROGATE.test(b.value as string)))
    return Buffer.compare(Buffer.from(a.value as string), Buffer.from(b.value as string))
  return a.value < b.value ? -1 : 1
}

/** Texts are ordered by code point; their code units are in another order with these. */
const SURROGATE = /[\ud800-\udfff]/

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Compares two values of a column, as `sort` orders them. Most are compared by their bytes. */
export function compareCells(a: Cell, b: Cell, type: ColumnType): number {
  const first = a.buf[a.start]
  const order =
    first !== QUOTE ? compareNumbers(a, b) : b.buf[b.start] === QUOTE ? compareTexts(a, b, type) : undefined
  return order ?? compareRanks(rankOf(jsonOf(a), type), rankOf(jsonOf(b), type))
}

/** Compares short numbers; undefined for other values. */
function compareNumbers(a: Cell, b: Cell): number | undefined {
  const difference = parseShortNumber(a.buf, a.start, a.end) - parseShortNumber(b.buf, b.start, b.end)
  return Number.isNaN(difference) ? undefined : difference
}

/** Compares texts without escapes, and dates in the same form, by their bytes; undefined for others. */
function compareTexts(a: Cell, b: Cell, type: ColumnType): number | undefined {
  if (isDateType(type)) {
    const length = a.end - a.start
    const isUsual =
      length === DAY_JSON ||
      (length === TIME_JSON && isTimeInForm(a) && isTimeInForm(b) && separatorOf(a) === separatorOf(b))
    if (!isUsual || b.end - b.start !== length) return undefined
  }
  for (let i = a.start + 1, k = b.start + 1; ; i++, k++) {
    const c = a.buf[i]
    const d = b.buf[k]
    if (c === BACKSLASH || d === BACKSLASH) return undefined
    if (c === QUOTE || d === QUOTE) return c === d ? 0 : c === QUOTE ? -1 : 1
    if (c !== d) return c - d
  }
}

function separatorOf({ buf, start }: Cell): number {
  return buf[start + JSON_SEPARATOR]
}

function isTimeInForm({ buf, start }: Cell): boolean {
  return buf[start + JSON_LAST_COLON] === COLON
}

const COLON = 0x3a
const DAY_CHARACTERS = 10
/** Length of `2024-01-31T09:30:00`, and where it has its last colon. */
const SECOND_CHARACTERS = 19
const LAST_COLON = 16
const DAY_MS = 86_400_000

/** Compares two dates by time. Other texts are compared as texts. */
export function compareMoments(a: string, b: string): number {
  if (!areAlike(a, b)) {
    const [one, other] = [readInstant(a), readInstant(b)]
    if (one.ms !== other.ms && !Number.isNaN(one.ms - other.ms)) return one.ms - other.ms
    if (one.ms === other.ms) return one.later < other.later ? -1 : one.later > other.later ? 1 : 0
  }
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns whether two dates are in the same form without a zone: then they sort as texts do. */
export function areAlike(a: string, b: string): boolean {
  if (a.length !== b.length || a[DAY_CHARACTERS] !== b[DAY_CHARACTERS]) return false
  return (
    a.length === DAY_CHARACTERS ||
    (a.length === SECOND_CHARACTERS && a[LAST_COLON] === ':' && b[LAST_COLON] === ':')
  )
}

/**
 * Returns a day that no value of a slice is before, or after, by the bound of the slice: of texts, which are not in the
 * order of time. `side`: −1 for before, 1 for after.
 */
export function outermostDay(bound: string, type: ColumnType, side: 1 | -1): string {
  const day = bound.slice(0, DAY_CHARACTERS)
  const hasTimes = bound.length > DAY_CHARACTERS || type.startsWith('datetime')
  // A zone moves a time by less than a day.
  const days = side * ((hasTimes && side === 1 ? 1 : 0) + (type === 'datetime-zone' ? 1 : 0))
  return days === 0 ? day : new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, DAY_CHARACTERS)
}
