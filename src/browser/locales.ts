// Month names and number formats of charts in the language of `layout.meta.locale`.

import { findSupportedLocale } from '../charts/figure/locale.ts'
import type { PlotlyApi } from './plotly.ts'

interface Figure {
  layout: Record<string, unknown>
  config?: Record<string, unknown>
}

/** Registers the language of a figure with the plotly.js that draws it and returns the figure with its settings. */
export function registerLocale<T extends Figure>(figure: T, plotly: PlotlyApi): T {
  const tag = (figure.layout.meta as { locale?: unknown } | undefined)?.locale
  if (typeof tag !== 'string' || findSupportedLocale(tag) === undefined) return figure
  // 2023-01-01 was a Sunday.
  const format = (option: Intl.DateTimeFormatOptions, times: readonly number[]): string[] =>
    times.map((time) => new Intl.DateTimeFormat(tag, { ...option, timeZone: 'UTC' }).format(time))
  const days = Array.from({ length: 7 }, (_, k) => Date.UTC(2023, 0, k + 1))
  const months = Array.from({ length: 12 }, (_, k) => Date.UTC(2023, k, 1))
  plotly.register({
    moduleType: 'locale',
    name: tag,
    dictionary: {},
    format: {
      days: format({ weekday: 'long' }, days),
      shortDays: format({ weekday: 'short' }, days),
      months: format({ month: 'long' }, months),
      shortMonths: format({ month: 'short' }, months),
      ...createDateFormats(tag),
    },
  })
  return {
    ...figure,
    layout: { separators: findSeparators(tag), ...figure.layout },
    config: { ...figure.config, locale: tag },
  }
}

/** Returns the d3 date formats of a language: `%d.%m.%Y`, `%-d. %b`, `%-d. %b %Y`. */
function createDateFormats(tag: string): Record<'date' | 'dayMonth' | 'dayMonthYear', string> {
  const patternOf = (options: Intl.DateTimeFormatOptions, names: Record<string, string>): string =>
    new Intl.DateTimeFormat(tag, { ...options, calendar: 'gregory', numberingSystem: 'latn' })
      .formatToParts(0)
      .map(({ type, value }) =>
        // Month names that contain numbers: 1월.
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

/** Returns the decimal and the thousands separator of a language. */
function findSeparators(tag: string): string {
  const parts = new Intl.NumberFormat(tag, {
    useGrouping: 'always',
    numberingSystem: 'latn',
  } as Intl.NumberFormatOptions).formatToParts(12345.6)
  const partOf = (type: string): string => parts.find((part) => part.type === type)?.value ?? ''
  return `${partOf('decimal')}${partOf('group')}`
}
