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

/** Other words for days, and what they stand for. */
const PERIODS: Readonly<Record<string, string>> = {
  day: 'day',
  daily: 'day',
  weekday: 'weekday',
  weekdays: 'weekday',
  month: 'month',
  monthly: 'month',
}

/** Parses a schedule. Throws `invalid_request`. */
export function parseSchedule(given: { every: string; at?: string; on?: number; zone?: string }): Schedule {
  const { on, zone = 'UTC' } = given
  const every = parseDays(given.every.slice(0, MAX_CHARACTERS))
  const isMonth = every === 'month'
  const at = parseTime(given.at ?? '07:00')
  if (on !== undefined && !isMonth) throw invalidField('on', 'needs every: month')
  if (on !== undefined && (on < 1 || on > 31)) throw invalidField('on', 'must be from 1 to 31')
  const zones = Intl.supportedValuesOf('timeZone')
  const known = zones.find((one) => one.toLowerCase() === zone.toLowerCase()) ?? zone
  if (!isZone(known))
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
  return { every, at, day: isMonth ? (on ?? 1) : null, zone: known }
}

/** Parses `day`, `weekday`, `month`, or days of the week, also shortened: `mon, thu`, `mondays`. */
function parseDays(text: string): string {
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '' && word !== 'and')
  const [only = ''] = words
  if (words.length === 1 && Object.hasOwn(PERIODS, only)) return PERIODS[only]
  const days = words.map((word) => DAYS.find((day) => word === `${day}s` || isStartOf(word, day)))
  if (words.length > 0 && !days.includes(undefined)) return [...new Set(days)].join(',')
  throw new Problem('invalid_request', `every: ${JSON.stringify(text)} is no day`, {
    field: 'every',
    hint: 'Use day, weekday, month, or days of the week: monday, or monday,thursday.',
  })
}

/** Returns whether a word is a day of the week, or its first three letters or more. */
function isStartOf(word: string, day: string): boolean {
  return word.length >= 3 && day.startsWith(word)
}

/** Parses a time of day, such as 7, 7:30, 07:30 or 7pm, to `07:30`. */
function parseTime(text: string): string {
  const [, hours, minutes = '00', half] = /^(\d{1,2})(?:[:.](\d{2}))?\s*([ap]m)?$/i.exec(text.trim()) ?? []
  const isHalf = half !== undefined && Number(hours) >= 1 && Number(hours) <= 12
  const hour = isHalf ? (Number(hours) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0) : Number(hours)
  if (hours === undefined || hour > 23 || Number(minutes) > 59 || (half !== undefined && !isHalf))
    throw invalidField('at', `${JSON.stringify(text)} is no time of day, such as 07:00 or 16:30`)
  return `${String(hour).padStart(2, '0')}:${minutes}`
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
