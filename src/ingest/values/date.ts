// Parses dates and times to ISO 8601.

/** Maximum length of a date with a time. Bounds the time of the regular expressions. */
const MAX_DATE_CHARACTERS = 64

/** Order of day and month in a column. undefined: only unambiguous dates are read. */
export type DateOrder = 'dmy' | 'mdy' | undefined

/** Orders of day and month that the user has given, or that the target column has: of dates with dots, and of others. */
export interface KnownOrders {
  usual: DateOrder
  dotted: DateOrder
}

/** A day and month before a year of two digits: `31/1/24`, `31-Jan-24`, `Jan 31, 24`. */
const SHORT_YEAR =
  /^((?:\d{1,2}[-/.\s]\s?(?:\d{1,2}|[\p{L}\p{M}]{3,12}\.?)[-/.\s]\s?)|(?:[\p{L}\p{M}]{3,12}\.? \d{1,2},? ))(\d{2})(?=$|[ T,])/u

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

/**
 * Returns a date, with an optional time, in ISO 8601: `2026-03-31` or `2026-03-31T09:30:00`. `ambiguous` if
 * no order is given and day and month can be swapped; undefined if it is not a date. `isDeclared`: the user
 * declared the column as dates. Months, weeks and quarters are then read as their first day, and with an
 * order, years may have two digits: 69 to 99 are in the 20th century, as in POSIX.
 */
export function parseDate(
  text: string,
  order: DateOrder,
  isDeclared = false,
): string | 'ambiguous' | undefined {
  if (text.length > MAX_DATE_CHARACTERS) return undefined
  if (isDeclared) {
    const first = parsePeriodStart(text.trim())
    if (first) return first
    const short = order && SHORT_YEAR.exec(text.trim())
    if (short) {
      const century = Number(short[2]) < 69 ? '20' : '19'
      return parseDate(`${short[1]}${century}${text.trim().slice(short[1].length)}`, order)
    }
  }
  const compact = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})?(Z?)$/.exec(text.trim())
  if (compact) {
    const [, year, month, date, hour, minute, second = '00', zone] = compact
    const time = parseTime(`${hour}:${minute}:${second}`, undefined)
    const day = toIsoDay(year, month, date)
    return day && time && `${day}T${time}${zone}`
  }
  const match =
    /^(.*?)(?:[ T,]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*([ap]m)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?$/i.exec(
      text.trim(),
    )
  if (!match) return undefined
  const day = parseDay(match[1].trim(), order)
  if (day === undefined || day === 'ambiguous' || match[2] === undefined) return day
  const time = parseTime(match[2], match[3]?.toLowerCase())
  // ISO 8601 requires a colon in the offset if the time has one.
  return (
    time &&
    `${day}T${time}${(match[4] ?? '').replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').replace(/^(z|utc|gmt)$/i, 'Z')}`
  )
}

/**
 * Returns the first day of a month (`2024-03`, `03/2024`), ISO week (`2024-W05`) or quarter (`2024-Q1`, `Q1
 * 2024`), or the ordinal day `2024-091`; undefined for other texts.
 */
function parsePeriodStart(text: string): string | undefined {
  const month = /^(?<year>\d{4})[-/.](?<month>\d{1,2})$|^(?<late>\d{1,2})[-/.](?<after>\d{4})$/.exec(
    text,
  )?.groups
  if (month) return toIsoDay(month.year ?? month.after, month.month ?? month.late, '1')
  const quarter = /^(\d{4})[-/ ]?Q([1-4])$|^Q([1-4])[-/ ]?(\d{4})$/i.exec(text)
  if (quarter) {
    const [, year = quarter[4], number = quarter[3]] = quarter
    return toIsoDay(year, String(Number(number) * 3 - 2), '1')
  }
  const day = /^(\d{4})-(\d{3})$/.exec(text)
  if (day) {
    const date = new Date(Date.UTC(Number(day[1]), 0, Number(day[2])))
    return Number(day[2]) > 0 && date.getUTCFullYear() === Number(day[1])
      ? date.toISOString().slice(0, 10)
      : undefined
  }
  const week = /^(\d{4})-?W(\d{2})$/i.exec(text)
  if (!week) return undefined
  const [year, number] = [Number(week[1]), Number(week[2])]
  // The first week contains January 4. Weeks begin on Monday.
  const start = (isoYear: number): number => {
    const fourth = new Date(Date.UTC(isoYear, 0, 4))
    return fourth.getTime() - ((fourth.getUTCDay() + 6) % 7) * 86_400_000
  }
  const at = start(year) + (number - 1) * 7 * 86_400_000
  return number > 0 && year > 99 && at < start(year + 1) ? new Date(at).toISOString().slice(0, 10) : undefined
}

/** Parses a day to ISO 8601; `ambiguous` if day and month can be swapped, undefined for other texts. */
function parseDay(text: string, order: DateOrder): string | 'ambiguous' | undefined {
  const iso = /^(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})$|^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text)
  if (iso) return toIsoDay(iso[1] ?? iso[4], iso[2] ?? iso[5], iso[3] ?? iso[6])
  const numbers = /^(\d{1,2})([-/.\s])\s?(\d{1,2})[-/.\s]\s?(\d{4})$/.exec(text)
  if (numbers) {
    const [, a, separator, b, year] = numbers
    // With points, the day comes first.
    if (order === 'dmy' || (order === undefined && separator === '.')) return toIsoDay(year, b, a)
    if (order === 'mdy') return toIsoDay(year, a, b)
    const [dmy, mdy] = [toIsoDay(year, b, a), toIsoDay(year, a, b)]
    return dmy && mdy && dmy !== mdy ? 'ambiguous' : (dmy ?? mdy)
  }
  const han = /^(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]$/u.exec(text)
  if (han) return toIsoDay(han[1], han[2], han[3])
  // Names of days and months: `Sun, 31 Mar 2024`, `31. März 2024`, `31 de marzo de 2024`.
  const words =
    /^(?:\p{L}+\.?,? )?(\d{1,2})(?:st|nd|rd|th|er|º|\.)?[-\s](?:de )?([\p{L}\p{M}]{3,12})\.?(?: de)?[-,\s]+(\d{4})(?: г\.)?$/iu.exec(
      text,
    )
  if (words) return toIsoDay(words[3], monthNumberOf(words[2]), words[1])
  const american = /^(?:\p{L}+\.?,? )?([\p{L}\p{M}]{3,12})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/iu.exec(
    text,
  )
  return american ? toIsoDay(american[3], monthNumberOf(american[1]), american[2]) : undefined
}

/** Returns whether a text has the form of a date, unlike an id such as `2024-0101`, or `Paid 5 Feb 2024`. */
export function looksLikeDate(cell: string): boolean {
  const text = cell.trim()
  if (/^\d{4}/.test(text))
    return /^(?:\d{4}([-/.])\d{1,2}\1\d{1,2}(?!\d)|\d{4}\s?[年년]|\d{8}T\d{4})/u.test(text)
  const word = /^(\p{L}[\p{L}\p{M}]*)/u.exec(text)?.[1]
  return word === undefined || monthNumberOf(word) !== '0' || isWeekday(word)
}

let weekdays: ReadonlySet<string> | undefined

/** Returns whether a word is a weekday, in full or abbreviated. */
function isWeekday(word: string): boolean {
  weekdays ??= new Set(
    ['en', ...LANGUAGES].flatMap((language) =>
      (['long', 'short'] as const).flatMap((weekday) => {
        const format = new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' })
        return Array.from({ length: 7 }, (_, day) =>
          format
            .format(Date.UTC(2024, 0, 1 + day))
            .toLowerCase()
            .replace(/\.$/, '')
            .normalize('NFC'),
        )
      }),
    ),
  )
  return weekdays.has(word.toLowerCase().normalize('NFC'))
}

/** Returns the number of a month by its name or abbreviation; 0 if unknown. */
function monthNumberOf(name: string): string {
  const lowerCase = name.toLowerCase()
  // Abbreviations have three letters, except "sept".
  const english = MONTHS.findIndex(
    (month) =>
      month === lowerCase ||
      month.slice(0, 3) === lowerCase ||
      (lowerCase === 'sept' && month === 'september'),
  )
  if (english >= 0) return String(english + 1)
  foreignMonths ??= listMonthNames(LANGUAGES)
  return String(foreignMonths.get(lowerCase.normalize('NFC')) ?? 0)
}

/** Languages other than English whose month names are read. */
const LANGUAGES = 'de fr es it pt nl sv da nb fi pl cs sk hu ro hr sl tr el ru uk bg et lv lt ca'.split(' ')

let foreignMonths: ReadonlyMap<string, number> | undefined

/** Returns month names, long and short, with their numbers; 0 for names that differ between languages. */
function listMonthNames(languages: readonly string[]): ReadonlyMap<string, number> {
  const months = new Map<string, number>()
  for (const language of languages)
    for (const form of ['long', 'short'] as const) {
      const inDate = new Intl.DateTimeFormat(language, { day: 'numeric', month: form, timeZone: 'UTC' })
      const standalone = new Intl.DateTimeFormat(language, { month: form, timeZone: 'UTC' })
      for (let month = 1; month <= 12; month++)
        for (const format of [inDate, standalone]) {
          const part = format
            .formatToParts(Date.UTC(2024, month - 1, 15))
            .find(({ type }) => type === 'month')
          const name = part!.value.toLowerCase().replace(/\.$/, '').normalize('NFC')
          if (/\d/.test(name)) continue
          const previous = months.get(name)
          months.set(name, previous === undefined || previous === month ? month : 0)
        }
    }
  return months
}

/** Returns a date in ISO 8601; undefined if the day does not exist or the year has fewer than four digits. */
function toIsoDay(year: string, month: string, day: string): string | undefined {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  date.setUTCFullYear(Number(year))
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return Number(month) > 0 && date.toISOString().slice(0, 10) === iso ? iso : undefined
}

/** Parses a time to ISO 8601; undefined if it is invalid. `half`: am or pm. */
function parseTime(text: string, half: string | undefined): string | undefined {
  const [hour, minute, second = '00'] = text.split(':')
  const clockHour = Number(hour)
  if (half && (clockHour < 1 || clockHour > 12)) return undefined
  const hours = half ? (clockHour % 12) + (half === 'pm' ? 12 : 0) : clockHour
  if (hours > 23 || Number(minute) > 59 || Number(second) >= 60) return undefined
  return `${String(hours).padStart(2, '0')}:${minute}:${second}`
}
