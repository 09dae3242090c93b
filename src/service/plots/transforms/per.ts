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
    if (short) return new Date(Math.floor(time / short) * short).toISOString().slice(0, 16).replace('T', ' ')
    return new Date(start!(new Date(time)) * DAY_MS).toISOString().slice(0, 10)
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
