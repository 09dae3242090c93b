/** Transform `per`: replaces dates by the start of their period. */
import type { Attributes } from '../figure/figure.ts'
import { resolveTarget, setAtPath, type Transform } from './attributes.ts'
import { parsePlotlyDate } from './axis-types.ts'

const DAY_MS = 86_400_000
/** Lengths of periods that are shorter than a day, in ms. */
const SHORT_PERIODS_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000 }
/** Days from Monday to 1970-01-01, a Thursday: weeks begin on Monday. */
const DAYS_SINCE_MONDAY = 3

/** Functions that return the first day of a period, in days since 1970. */
const PERIOD_STARTS: Readonly<Record<string, (date: Date) => number>> = {
  day: (date) => Math.floor(date.getTime() / DAY_MS),
  week: (date) => {
    const day = Math.floor(date.getTime() / DAY_MS)
    return day - ((((day + DAYS_SINCE_MONDAY) % 7) + 7) % 7)
  },
  month: (date) => firstDayOfMonth(date.getUTCFullYear(), date.getUTCMonth()),
  quarter: (date) => firstDayOfMonth(date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % 3)),
  year: (date) => firstDayOfMonth(date.getUTCFullYear(), 0),
}

/** Returns the start of the period that contains a time, in ms since 1970. */
export function startOfPeriod(unit: string, time: number): number {
  const short = SHORT_PERIODS_MS[unit]
  return short ? Math.floor(time / short) * short : PERIOD_STARTS[unit](new Date(time)) * DAY_MS
}

/** Returns the end of a period that begins at `start`: the start of the next one. */
export function endOfPeriod(unit: string, start: number): number {
  // At least one period and less than two.
  const days = { day: 1, week: 7, month: 32, quarter: 93, year: 367 }[unit]
  return days === undefined ? start + SHORT_PERIODS_MS[unit] : startOfPeriod(unit, start + days * DAY_MS)
}

/** Replaces each date by the start of its period in UTC, so that points of one period can be aggregated. */
export function truncateToPeriod(trace: Attributes, { target = 'x', unit }: Transform): void {
  const name = typeof unit === 'string' ? unit : ''
  const start = Object.hasOwn(PERIOD_STARTS, name) ? PERIOD_STARTS[name] : undefined
  const short = Object.hasOwn(SHORT_PERIODS_MS, name) ? SHORT_PERIODS_MS[name] : undefined
  const values = resolveTarget(trace, target)
  if (!values || !(start || short) || typeof target !== 'string') return
  const cache = new Map<unknown, string | null>()
  const periodOf = (value: unknown): string | null => {
    const time = parsePlotlyDate(value)
    if (time === undefined || typeof value === 'number') return null
    const text = new Date(startOfPeriod(name, time)).toISOString()
    return short ? text.slice(0, 16).replace('T', ' ') : text.slice(0, 10)
  }
  const periods = values.map((value) => {
    let period = cache.get(value)
    if (period === undefined) {
      period = periodOf(value)
      cache.set(value, period)
    }
    return period
  })
  setAtPath(trace, target, periods)
}

/** Returns the first day of a month, in days since 1970. */
function firstDayOfMonth(year: number, month: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month, 1)
  return date.getTime() / DAY_MS
}
