// Parses the options that set the format of cells and numbers.
import { Problem } from '../../contract/errors.ts'
import type { DelimitedOptions, GivenType, NumberStyle } from '../values/dialect.ts'

const DELIMITER_BY_NAME = new Map([
  ['\\t', '\t'],
  ['tab', '\t'],
  ['comma', ','],
  ['semicolon', ';'],
  ['pipe', '|'],
  ['space', ' '],
])

/** Parses the delimiter option. Throws `invalid_request` unless it is one ASCII character or a known name. */
export function parseDelimiter(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const delimiter = DELIMITER_BY_NAME.get(name.toLowerCase()) ?? name
  if (delimiter.length === 1 && delimiter.charCodeAt(0) < 0x80 && !'"\r\n'.includes(delimiter))
    return delimiter
  throw new Problem('invalid_request', `invalid delimiter: ${JSON.stringify(name)}`, {
    field: 'delimiter',
    hint: 'Use one ASCII character, or tab, comma, semicolon, pipe or space.',
  })
}

/** Format options, as users give them. */
interface StyleOptions {
  quote?: string
  escape?: string
  comment?: string
  decimal?: string
  thousands?: string
  /** Language tag such as de or en-US. Sets decimal, thousands, and the order of day and month. */
  locale?: string
}

/** Parses options for the format of cells and numbers. Throws `invalid_request`. */
export function parseStyleOptions(
  options: StyleOptions,
): Pick<DelimitedOptions, 'quote' | 'escape' | 'comment' | 'numbers' | 'dates'> {
  const localeFormat = options.locale === undefined ? undefined : localeFormatOf(options.locale)
  const decimal = options.decimal ?? localeFormat?.numbers.decimal
  const thousands =
    options.thousands ?? (options.decimal === undefined ? localeFormat?.numbers.thousands : undefined)
  const style = {
    ...(localeFormat && { dates: localeFormat.dates }),
    quote: parseCharacter('quote', options.quote),
    escape: parseCharacter('escape', options.escape),
    comment: parseCharacter('comment', options.comment),
  }
  if (decimal === undefined && thousands === undefined) return style
  const point = decimal ?? (thousands === '.' ? ',' : '.')
  if (point !== '.' && point !== ',') throw invalidOption('decimal', decimal!, 'Use . or ,')
  const group = thousands === 'space' ? ' ' : (thousands ?? '')
  if (group.length > 1 || /[\d+-]/.test(group) || group === point)
    throw invalidOption(
      'thousands',
      thousands!,
      'Use a character other than the decimal separator, or space.',
    )
  return { ...style, numbers: { decimal: point, thousands: group } }
}

/** Returns how a locale writes numbers and dates. Throws `invalid_request` if it is unknown. */
function localeFormatOf(locale: string): { numbers: NumberStyle; dates: GivenType } {
  const tag = locale.replaceAll('_', '-').replace(/\..*/, '')
  let locales: string[] = []
  try {
    locales = Intl.NumberFormat.supportedLocalesOf(tag)
  } catch {
    // Not a language tag.
  }
  if (locales.length === 0)
    throw invalidOption('locale', locale, 'Use a language tag, such as de, fr, en-US or de-CH.')
  const parts = new Intl.NumberFormat(tag, { numberingSystem: 'latn' }).formatToParts(1234567.5)
  const part = (type: string): string => parts.find((candidate) => candidate.type === type)?.value ?? ''
  const group = part('group')
  const days = new Intl.DateTimeFormat(tag, {
    day: 'numeric',
    month: 'numeric',
    year: 'numeric',
  }).formatToParts(0)
  const order = days.flatMap(({ type }) => (type === 'day' || type === 'month' ? [type] : []))
  return {
    numbers: {
      decimal: part('decimal') === ',' ? ',' : '.',
      thousands: /\s/.test(group) ? ' ' : group === '’' ? "'" : group,
    },
    // If the year comes first, the order of day and month is clear.
    dates: days[0].type === 'year' ? 'date' : order[0] === 'month' ? 'date-mdy' : 'date-dmy',
  }
}

/** Parses an ASCII character; empty for `none`. */
function parseCharacter(field: string, value: string | undefined): string | undefined {
  if (value === undefined || value === '' || value === 'none') return value && ''
  if (value.length === 1 && value.charCodeAt(0) < 0x80 && !/[\r\n]/.test(value)) return value
  throw invalidOption(field, value, 'Use one ASCII character, or none.')
}

function invalidOption(field: string, value: string, hint: string): Problem {
  return new Problem('invalid_request', `invalid ${field}: ${JSON.stringify(value)}`, { field, hint })
}
