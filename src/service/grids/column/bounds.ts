// What the bounds of slices tell of their values.
import type { Bounds } from '../../../ingest/slices.ts'
import { parseInstant } from '../../../json/index.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'

/** Length of `2024-01-31`. */
export const DAY_CHARACTERS = 10
export const DAY_MS = 86_400_000

/** Texts without these code units sort the same by bytes as by code units. */
const LATE_CODE_UNIT = /[\ud800-\uffff]/

/**
 * Returns the lowest and highest value of bounds; undefined if one is not known. A text between the two by its bytes is
 * between them for JavaScript, too.
 */
export function limitsOf({ low, high }: Bounds): [number, number] | [string, string] | undefined {
  if (low === undefined || high === undefined) return undefined
  const limits: [number, number] | [string, string] = [JSON.parse(low), JSON.parse(high)]
  return limits.some((limit) => typeof limit === 'string' && LATE_CODE_UNIT.test(limit)) ? undefined : limits
}

/** Days between which a few days more or less have four digits of a year. */
const FIRST_DAY = '0001-01-03'
const LAST_DAY = '9999-12-29'

/**
 * Returns a day that no value of a slice is before, or after, by the bound of the slice: texts are not in the order of
 * time. Undefined for columns of other types, and at the end of the calendar. `side`: −1 for before, 1 for after.
 */
export function outermostDay(bound: string, type: ColumnType, side: 1 | -1): string | undefined {
  const day = bound.slice(0, DAY_CHARACTERS)
  if (!isDateType(type) || day < FIRST_DAY || day > LAST_DAY) return undefined
  const hasTimes = bound.length > DAY_CHARACTERS || type.startsWith('datetime')
  // A zone moves a time by less than a day.
  const days = side * ((hasTimes && side === 1 ? 1 : 0) + (type === 'datetime-zone' ? 1 : 0))
  const time = Date.parse(day) + days * DAY_MS
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, DAY_CHARACTERS)
}

/**
 * Returns the lowest and highest time that values of a slice can have, in ms since 1970; undefined if one is not known.
 * Texts are in the order of time if they have no zone, and the same separator: on one day, a space is before a T.
 */
export function timeLimitsOf(bounds: Bounds, type: ColumnType): [number, number] | undefined {
  const [low, high] = limitsOf(bounds) ?? []
  if (typeof low !== 'string' || typeof high !== 'string') return undefined
  const isOneForm = low.slice(0, DAY_CHARACTERS + 1) === high.slice(0, DAY_CHARACTERS + 1)
  const mayBeEarlier = type === 'datetime-zone' || (low[DAY_CHARACTERS] === ' ' && !isOneForm)
  const mayBeLater = type === 'datetime-zone' || (high[DAY_CHARACTERS] === 'T' && !isOneForm)
  const first = parseInstant(mayBeEarlier ? (outermostDay(low, type, -1) ?? '') : low)
  const last = parseInstant(mayBeLater ? (outermostDay(high, type, 1) ?? '') : high)
  return Number.isNaN(first) || Number.isNaN(last) ? undefined : [first, last]
}
