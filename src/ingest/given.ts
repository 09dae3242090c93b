import { Problem } from '../contract/errors.ts'
import type { DelimitedOptions } from './dialect.ts'

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
}

/** Checks options about how cells and numbers are written. Throws `invalid_request`. */
export function givenStyle(
  given: GivenStyle,
): Pick<DelimitedOptions, 'quote' | 'escape' | 'comment' | 'numbers'> {
  const { decimal, thousands } = given
  const style = {
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

/** An ASCII character; empty for `none`. */
function character(field: string, given: string | undefined): string | undefined {
  if (given === undefined || given === '' || given === 'none') return given && ''
  if (given.length === 1 && given.charCodeAt(0) < 0x80 && !/[\r\n]/.test(given)) return given
  throw invalid(field, given, 'Use one ASCII character, or none.')
}

function invalid(field: string, given: string, hint: string): Problem {
  return new Problem('invalid_request', `invalid ${field}: ${JSON.stringify(given)}`, { field, hint })
}
