import { type Attributes, setAt, type Transform, targetOf } from './attributes.ts'
import { instant } from './axes.ts'

const DAY_MS = 86_400_000
/** Periods that are shorter than a day, in ms. */
const SHORT: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000 }
/** 1970-01-01 was a Thursday, and weeks begin with Monday. */
const MONDAY_DAYS = 3

/** The first day of the period of a day, in days since 1970. */
const starts: Readonly<Record<string, (date: Date) => number>> = {
  day: (date) => Math.floor(date.getTime() / DAY_MS),
  week: (date) => {
    const day = Math.floor(date.getTime() / DAY_MS)
    return day - ((((day + MONDAY_DAYS) % 7) + 7) % 7)
  },
  month: (date) => firstOf(date.getUTCFullYear(), date.getUTCMonth()),
  quarter: (date) => firstOf(date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % 3)),
  year: (date) => firstOf(date.getUTCFullYear(), 0),
}

/** The start of the period of a time, in ms since 1970. */
export function startOf(unit: string, time: number): number {
  const short = SHORT[unit]
  return short ? Math.floor(time / short) * short : starts[unit](new Date(time)) * DAY_MS
}

/** The end of a period that begins at a time: the start of the next one. */
export function endOf(unit: string, start: number): number {
  // Longer than any period of the unit before it, and shorter than two.
  const days = { day: 1, week: 7, month: 32, quarter: 93, year: 367 }[unit]
  return days === undefined ? start + SHORT[unit] : startOf(unit, start + days * DAY_MS)
}

/** Gives each date the first day of its period, in UTC: points of one period can then be aggregated. */
export function per(trace: Attributes, { target = 'x', unit }: Transform): void {
  const name = typeof unit === 'string' ? unit : ''
  const start = Object.hasOwn(starts, name) ? starts[name] : undefined
  const short = Object.hasOwn(SHORT, name) ? SHORT[name] : undefined
  const values = targetOf(trace, target)
  if (!values || !(start || short) || typeof target !== 'string') return
  const known = new Map<unknown, string | null>()
  const periodOf = (value: unknown): string | null => {
    const time = instant(value)
    if (time === undefined || typeof value === 'number') return null
    const text = new Date(startOf(name, time)).toISOString()
    return short ? text.slice(0, 16).replace('T', ' ') : text.slice(0, 10)
  }
  const periods = values.map((value) => {
    let period = known.get(value)
    if (period === undefined) {
      period = periodOf(value)
      known.set(value, period)
    }
    return period
  })
  setAt(trace, target, periods)
}

function firstOf(year: number, month: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month, 1)
  return date.getTime() / DAY_MS
}
