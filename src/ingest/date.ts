/** Characters of the longest date with a time. Longer texts are no dates, and take long to be matched. */
const LONGEST = 64

/** Orders of day and month that a column can be said to have; without one, only dates that are clear are read. */
export type DateOrder = 'dmy' | 'mdy' | undefined

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
 * A date, with an optional time, in ISO 8601: `2026-03-31` or `2026-03-31T09:30:00`. `ambiguous` if day and month can
 * be exchanged and no order is given; undefined if it is no date. Years have four digits.
 */
export function isoDate(text: string, order: DateOrder): string | 'ambiguous' | undefined {
  if (text.length > LONGEST) return undefined
  const match =
    /^(.*?)(?:[ T,]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*([ap]m)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(
      text.trim(),
    )
  if (!match) return undefined
  const day = isoDay(match[1].trim(), order)
  if (day === undefined || day === 'ambiguous' || match[2] === undefined) return day
  const time = isoTime(match[2], match[3]?.toLowerCase())
  // ISO 8601 has the colon in the offset too, where the time has one.
  return (
    time && `${day}T${time}${(match[4] ?? '').replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').replace('z', 'Z')}`
  )
}

function isoDay(text: string, order: DateOrder): string | 'ambiguous' | undefined {
  const iso = /^(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})$|^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text)
  if (iso) return dayOf(iso[1] ?? iso[4], iso[2] ?? iso[5], iso[3] ?? iso[6])
  const numbers = /^(\d{1,2})([-/.\s])\s?(\d{1,2})[-/.\s]\s?(\d{4})$/.exec(text)
  if (numbers) {
    const [, a, separator, b, year] = numbers
    // With points, the day is always first.
    if (order === 'dmy' || (order === undefined && separator === '.')) return dayOf(year, b, a)
    if (order === 'mdy') return dayOf(year, a, b)
    const [dmy, mdy] = [dayOf(year, b, a), dayOf(year, a, b)]
    return dmy && mdy && dmy !== mdy ? 'ambiguous' : (dmy ?? mdy)
  }
  const words = /^(?:\w+, )?(\d{1,2})(?:st|nd|rd|th|\.)?[-\s]([a-z]{3,9})\.?[-,\s]+(\d{4})$/i.exec(text)
  if (words) return dayOf(words[3], monthOf(words[2]), words[1])
  const american = /^(?:\w+, )?([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/i.exec(text)
  return american ? dayOf(american[3], monthOf(american[1]), american[2]) : undefined
}

function monthOf(name: string): string {
  const given = name.toLowerCase()
  // The whole name, or an abbreviation: three letters, or "sept".
  return String(
    MONTHS.findIndex(
      (month) =>
        month === given || month.slice(0, 3) === given || (given === 'sept' && month === 'september'),
    ) + 1,
  )
}

/** A day of the calendar; undefined if there is no such day. */
function dayOf(year: string, month: string, day: string): string | undefined {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  date.setUTCFullYear(Number(year))
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return Number(month) > 0 && date.toISOString().slice(0, 10) === iso ? iso : undefined
}

function isoTime(text: string, half: string | undefined): string | undefined {
  const [hour, minute, second = '00'] = text.split(':')
  const given = Number(hour)
  if (half && (given < 1 || given > 12)) return undefined
  const hours = half ? (given % 12) + (half === 'pm' ? 12 : 0) : given
  if (hours > 23 || Number(minute) > 59 || Number(second) >= 60) return undefined
  return `${String(hours).padStart(2, '0')}:${minute}:${second}`
}
