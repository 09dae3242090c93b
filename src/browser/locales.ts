// Months and numbers of charts in the language that `layout.meta.locale` names.

import { knownLocale } from '../charts/figure/locale.ts'

interface Figure {
  layout: Record<string, unknown>
  config?: Record<string, unknown>
}

/** The figure with the settings that plotly.js needs for its language, which it then knows; unchanged without one. */
export function inLocale<T extends Figure>(figure: T): T {
  const tag = (figure.layout.meta as { locale?: unknown } | undefined)?.locale
  if (typeof tag !== 'string' || knownLocale(tag) === undefined) return figure
  // 2023-01-01 was a Sunday.
  const named = (option: Intl.DateTimeFormatOptions, times: readonly number[]): string[] =>
    times.map((time) => new Intl.DateTimeFormat(tag, { ...option, timeZone: 'UTC' }).format(time))
  const days = Array.from({ length: 7 }, (_, k) => Date.UTC(2023, 0, k + 1))
  const months = Array.from({ length: 12 }, (_, k) => Date.UTC(2023, k, 1))
  Plotly.register({
    moduleType: 'locale',
    name: tag,
    dictionary: {},
    format: {
      days: named({ weekday: 'long' }, days),
      shortDays: named({ weekday: 'short' }, days),
      months: named({ month: 'long' }, months),
      shortMonths: named({ month: 'short' }, months),
      ...dateFormats(tag),
    },
  })
  return {
    ...figure,
    layout: { separators: separatorsOf(tag), ...figure.layout },
    config: { ...figure.config, locale: tag },
  }
}

/** How a language writes dates: `%d.%m.%Y`, `%-d. %b`, `%-d. %b %Y`. */
function dateFormats(tag: string): Record<'date' | 'dayMonth' | 'dayMonthYear', string> {
  const patternOf = (options: Intl.DateTimeFormatOptions, names: Record<string, string>): string =>
    new Intl.DateTimeFormat(tag, { ...options, calendar: 'gregory', numberingSystem: 'latn' })
      .formatToParts(0)
      .map(({ type, value }) =>
        // Names of months that are numbers: 1월.
        type === 'month' && names.month === '%b' && /^\d/.test(value)
          ? value.replace(/^\d+/, '%-m')
          : (names[type] ?? (type === 'literal' ? value : '')),
      )
      .join('')
  const [day, short] = [{ day: 'numeric', month: 'short' } as const, { day: '%-d', month: '%b', year: '%Y' }]
  return {
    date: patternOf(
      { year: 'numeric', month: '2-digit', day: '2-digit' },
      { day: '%d', month: '%m', year: '%Y' },
    ),
    dayMonth: patternOf(day, short),
    dayMonthYear: patternOf({ ...day, year: 'numeric' }, short),
  }
}

/** The decimal and the thousands separator of a language. */
function separatorsOf(tag: string): string {
  const parts = new Intl.NumberFormat(tag, {
    useGrouping: 'always',
    numberingSystem: 'latn',
  } as Intl.NumberFormatOptions).formatToParts(12345.6)
  const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? ''
  return `${of('decimal')}${of('group')}`
}
