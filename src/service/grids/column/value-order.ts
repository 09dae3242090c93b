// Which value of a column comes first (docs/filtering.md): as in conditions and sorting.
import { jsonKindOf, parseShortNumber } from '../../../json/index.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { DAY_CHARACTERS } from './bounds.ts'
import type { Cell } from './cursor.ts'
import {
  DAY_JSON,
  type Instant,
  JSON_LAST_COLON,
  JSON_SEPARATOR,
  NO_INSTANT,
  readInstant,
  TIME_JSON,
} from './identify.ts'

function compareInstants(a: Instant, b: Instant): number {
  if (a.ms !== b.ms) return a.ms - b.ms
  return a.later < b.later ? -1 : a.later > b.later ? 1 : 0
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
      const isLong = Number.isInteger(value) && !Number.isSafeInteger(value)
      return { kind: NUMBER, value, rest: isLong ? BigInt(/^-?\d+$/.test(json) ? json : value) : '' }
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

/** Compares two values by their ranks, as `sort` orders them. */
export function compareRanks(a: Rank, b: Rank): number {
  if (a.kind !== b.kind) return a.kind - b.kind
  if (a.value === b.value) return a.rest < b.rest ? -1 : a.rest > b.rest ? 1 : 0
  if (a.kind === TEXT) return orderTexts(a.value as string, b.value as string)
  return a.value < b.value ? -1 : 1
}

/** Code units of texts are in another order than code points with these. */
const SURROGATE = /[\ud800-\udfff]/

/** Compares two texts by their code points. */
export function orderTexts(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Compares two values of a column by their bytes, as `sort` orders them. Undefined for those that need their ranks: most
 * do not.
 */
export function compareBytes(a: Cell, b: Cell, areDates: boolean): number | undefined {
  if (a.buf[a.start] !== QUOTE) return compareNumbers(a, b)
  return b.buf[b.start] === QUOTE ? compareTexts(a, b, areDates) : undefined
}

/** Compares short numbers; undefined for other values. */
function compareNumbers(a: Cell, b: Cell): number | undefined {
  const difference = parseShortNumber(a.buf, a.start, a.end) - parseShortNumber(b.buf, b.start, b.end)
  return Number.isNaN(difference) ? undefined : difference
}

/** Compares texts without escapes, and dates in the same form, by their bytes; undefined for others. */
function compareTexts(a: Cell, b: Cell, areDates: boolean): number | undefined {
  if (areDates) {
    const length = a.end - a.start
    const isUsual =
      length === DAY_JSON ||
      (length === TIME_JSON && isTimeInForm(a) && isTimeInForm(b) && separatorOf(a) === separatorOf(b))
    if (!isUsual || b.end - b.start !== length) return undefined
  }
  const [one, other] = [a.buf, b.buf]
  let i = a.start + 1
  let k = b.start + 1
  // Escapes and the last quote end the loop, too.
  while (one[i] === other[k] && one[i] !== QUOTE && one[i] !== BACKSLASH) {
    i++
    k++
  }
  const c = one[i]
  const d = other[k]
  if (c === BACKSLASH || d === BACKSLASH) return undefined
  if (c === QUOTE || d === QUOTE) return c === d ? 0 : c === QUOTE ? -1 : 1
  return c - d
}

function separatorOf({ buf, start }: Cell): number {
  return buf[start + JSON_SEPARATOR]
}

function isTimeInForm({ buf, start }: Cell): boolean {
  return buf[start + JSON_LAST_COLON] === COLON
}

const COLON = 0x3a
/** Length of `2024-01-31T09:30:00`, and where it has its last colon. */
const SECOND_CHARACTERS = 19
const LAST_COLON = 16

/** Creates the function that compares dates with one, by time. Other texts are compared as texts. */
export function createMomentComparison(moment: string): (text: string) => number {
  const instant = readInstant(moment)
  return (text) => {
    if (!areAlike(text, moment)) {
      const order = compareInstants(readInstant(text), instant)
      if (!Number.isNaN(order)) return order
    }
    return text < moment ? -1 : text > moment ? 1 : 0
  }
}

/** Returns whether two dates are in the same form without a zone: then they sort as texts do. */
export function areAlike(a: string, b: string): boolean {
  if (a.length !== b.length || a[DAY_CHARACTERS] !== b[DAY_CHARACTERS]) return false
  return (
    a.length === DAY_CHARACTERS ||
    (a.length === SECOND_CHARACTERS && a[LAST_COLON] === ':' && b[LAST_COLON] === ':')
  )
}
