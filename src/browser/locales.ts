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
      ...dateFormat(tag),
    },
  })
  return {
    ...figure,
    layout: { separators: separatorsOf(tag), ...figure.layout },
    config: { ...figure.config, locale: tag },
  }
}

/** How a language writes a day: `%d.%m.%Y`. */
function dateFormat(tag: string): { date: string } {
  const parts = new Intl.DateTimeFormat(tag, {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    calendar: 'gregory',
  }).formatToParts(0)
  const written: Record<string, string> = { year: '%Y', month: '%m', day: '%d' }
  return { date: parts.map(({ type, value }) => written[type] ?? (type === 'literal' ? value : '')).join('') }
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
