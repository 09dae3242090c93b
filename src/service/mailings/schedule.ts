/** When something is sent: on days of the week or the month, at a time of day in a time zone. */
import { invalidField, Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'

export interface Schedule {
  every: string
  /** Time of day: `07:00`. */
  at: string
  /** Day of the month, if `every` is `month`. */
  day: number | null
  zone: string
}

/** Maximum length of the days of a schedule. */
const MAX_CHARACTERS = 200
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
/** The last day that each month has. */
const MIN_MONTH_DAYS = 28

/** Parses a schedule. Throws `invalid_request`. */
export function parseSchedule(given: { every: string; at?: string; on?: number; zone?: string }): Schedule {
  const { at = '07:00', on, zone = 'UTC' } = given
  const words = given.every.slice(0, MAX_CHARACTERS).toLowerCase().split(',')
  const every = [...new Set(words.map((word) => word.trim()))].join(',')
  const isMonth = every === 'month'
  if (!isMonth && every !== 'day' && every !== 'weekday' && every.split(',').some((day) => !isDay(day)))
    throw invalidField('every', `${JSON.stringify(every)} is none of day, weekday, month, ${DAYS.join(', ')}`)
  if (!/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(at))
    throw invalidField('at', 'must be a time of day, such as 07:00 or 16:30')
  if (on !== undefined && !isMonth) throw invalidField('on', 'needs every: month')
  if (on !== undefined && (on < 1 || on > 31)) throw invalidField('on', 'must be from 1 to 31')
  if (!isZone(zone))
    throw new Problem(
      'invalid_request',
      `zone: no time zone ${JSON.stringify(zone.slice(0, MAX_CHARACTERS))}`,
      {
        field: 'zone',
        hint: withSuggestion(
          findZone(zone.slice(0, MAX_CHARACTERS)),
          'Zones are named as Europe/Oslo or UTC.',
        ),
      },
    )
  return { every, at, day: isMonth ? (on ?? 1) : null, zone }
}

function isDay(text: string): boolean {
  return DAYS.some((day) => day === text)
}

/** Returns the zone of a city, or with a similar name; undefined without one. */
function findZone(name: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone')
  const city = name.trim().replace(/ /g, '_').toLowerCase()
  return zones.find((zone) => zone.toLowerCase().endsWith(`/${city}`)) ?? findClosest(name, zones)
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/**
 * Returns the next time of a schedule after `after`, in ms since 1970. A time that a day lacks, when clocks are set
 * forward, is the first one after it; one that it has twice is the first. Months without the day use their last one.
 */
export async function nextTime({ every, at, day, zone }: Schedule, after: number): Promise<number> {
  const { Cron } = await import('../../vendor/cron.ts')
  const [hour, minute] = at.split(':').map(Number)
  const next = (days: string, from: number): number => {
    const cron = new Cron(`${minute} ${hour} ${days}`, { timezone: zone, paused: true })
    return cron.nextRun(new Date(from))!.getTime()
  }
  if (day === null) {
    const days =
      every === 'day' ? '*' : every === 'weekday' ? '1-5' : every.split(',').map(numberOf).join(',')
    return next(`* * ${days}`, after)
  }
  const onDay = next(`${day} * *`, after)
  if (day <= MIN_MONTH_DAYS) return onDay
  // The last day of the first month that lacks the day.
  for (let from = after; ; ) {
    from = next('L * *', from)
    if (from >= onDay) return onDay
    const last = new Intl.DateTimeFormat('en', { timeZone: zone, day: 'numeric' }).format(from)
    if (Number(last) < day) return from
  }
}

function numberOf(day: string): number {
  return DAYS.indexOf(day as (typeof DAYS)[number])
}

/** Formats a schedule: `every monday at 07:00 (Europe/Oslo)`. */
export function formatSchedule({ every, at, day, zone }: Schedule): string {
  const on = day === null ? '' : ` on day ${day}`
  return `every ${every.replaceAll(',', ', ')}${on} at ${at} (${zone})`
}
