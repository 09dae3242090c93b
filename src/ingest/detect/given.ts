import { Problem } from '../../contract/errors.ts'
import type { DelimitedOptions, GivenType, NumberStyle } from '../values/dialect.ts'

const delimiterNames = new Map([
  ['\\t', '\t'],
  ['tab', '\t'],
  ['comma', ','],
  ['semicolon', ';'],
  ['pipe', '|'],
  ['space', ' '],
])

export function givenDelimiter(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const delimiter = delimiterNames.get(given.toLowerCase()) ?? given
  if (delimiter.length === 1 && delimiter.charCodeAt(0) < 0x80 && !'"\r\n'.includes(delimiter))
    return delimiter
  throw new Problem('invalid_request', `invalid delimiter: ${JSON.stringify(given)}`, {
    field: 'delimiter',
    hint: 'Use one ASCII character, or tab, comma, semicolon, pipe or space.',
  })
}

/** Options that say how cells and numbers are written, as users give them. */
interface GivenStyle {
  quote?: string
  escape?: string
  comment?: string
  decimal?: string
  thousands?: string
  /** A language tag, such as de or en-US: sets both, and the order of day and month. */
  locale?: string
}

/** Checks options about how cells and numbers are written. Throws `invalid_request`. */
export function givenStyle(
  given: GivenStyle,
): Pick<DelimitedOptions, 'quote' | 'escape' | 'comment' | 'numbers' | 'dates'> {
  const written = given.locale === undefined ? undefined : writtenAt(given.locale)
  const decimal = given.decimal ?? written?.numbers.decimal
  const thousands = given.thousands ?? (given.decimal === undefined ? written?.numbers.thousands : undefined)
  const style = {
    ...(written && { dates: written.dates }),
    quote: character('quote', given.quote),
    escape: character('escape', given.escape),
    comment: character('comment', given.comment),
  }
  if (decimal === undefined && thousands === undefined) return style
  const point = decimal ?? (thousands === '.' ? ',' : '.')
  if (point !== '.' && point !== ',') throw invalid('decimal', decimal!, 'Use . or ,')
  const group = thousands === 'space' ? ' ' : (thousands ?? '')
  if (group.length > 1 || /[\d+-]/.test(group) || group === point)
    throw invalid('thousands', thousands!, 'Use a character other than the decimal separator, or space.')
  return { ...style, numbers: { decimal: point, thousands: group } }
}

/** How numbers and dates are written in a language or region. Throws `invalid_request`. */
function writtenAt(locale: string): { numbers: NumberStyle; dates: GivenType } {
  const tag = locale.replaceAll('_', '-').replace(/\..*/, '')
  let known: string[] = []
  try {
    known = Intl.NumberFormat.supportedLocalesOf(tag)
  } catch {
    // Not a language tag.
  }
  if (known.length === 0)
    throw invalid('locale', locale, 'Use a language tag, such as de, fr, en-US or de-CH.')
  const parts = new Intl.NumberFormat(tag, { numberingSystem: 'latn' }).formatToParts(1234567.5)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
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
    // Where the year is first, day and month cannot be exchanged.
    dates: days[0].type === 'year' ? 'date' : order[0] === 'month' ? 'date-mdy' : 'date-dmy',
  }
}

/** Returns an ASCII character; empty for `none`. */
function character(field: string, given: string | undefined): string | undefined {
  if (given === undefined || given === '' || given === 'none') return given && ''
  if (given.length === 1 && given.charCodeAt(0) < 0x80 && !/[\r\n]/.test(given)) return given
  throw invalid(field, given, 'Use one ASCII character, or none.')
}

function invalid(field: string, given: string, hint: string): Problem {
  return new Problem('invalid_request', `invalid ${field}: ${JSON.stringify(given)}`, { field, hint })
}
