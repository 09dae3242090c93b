// Recognizes formatted numbers and dates in columns of text.
import { formatList } from '../../contract/message-texts.ts'
import { type DateOrder, parseDate } from '../values/date.ts'
import type { GivenType, NumberStyle, ValueShape } from '../values/dialect.ts'
import { CURRENCY, findCommaStyle, isJsonNumber, narrowCurrencies, parseNumber } from '../values/number.ts'

const PERCENT = /(?<=\d)\s*%$/
const NEGATIVE = /^\(.*\d.*\)$/
/** Marks of formatted numbers, and how warnings name them. */
const NUMBER_MARKS: readonly [RegExp, string][] = [
  [PERCENT, 'percentages'],
  [CURRENCY, 'amounts with a currency'],
  [NEGATIVE, 'numbers with negative ones in parentheses'],
]
/** An amount without its mark. */
const AMOUNT = /^[\s+-]*[\d.,'’ \u00a0\u202f]+[\s%]*$/
const SHORT_YEAR = /^\d{1,2}([./-])\d{1,2}\1\d{2}$/
/** `31-Jan-24`, `31 Jan 24`, and `Jan 31, 24`. */
const SHORT_YEAR_WITH_NAME =
  /^(?:\d{1,2}([-./ ])[\p{L}\p{M}]{3,12}\1|[\p{L}\p{M}]{3,12}\.? \d{1,2},? )\d{2}$/u
const YEAR_FIRST = /^\d{2}-\d{2}-\d{2}$/
/** Dates in the stored format, which sort and need no conversion. */
const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$/
/** Maximum number of cells examined. */
const MAX_EXAMINED_CELLS = 200
/** Maximum length of a number or date. */
const MAX_VALUE_CHARACTERS = 64

/** Returns whether a text looks like a marker of a missing value. */
export function isMissingMarker(text: string): boolean {
  return /^(n\/?a|n\.a\.|k\. ?a\.|nan|\(?null\)?|none|nil|missing|unknown|tbd|[-+]?inf(inity)?|#[a-z/0]+[!?]?|-+|\?+|\*+|\.+|…|\.\.\.)$/i.test(
    text,
  )
}

/** Returns the shape of the values in a text column; undefined for plain text. `cells` has no empty cells. */
export function valueShapeOf(cells: readonly string[]): ValueShape | undefined {
  const sample = cells.slice(0, MAX_EXAMINED_CELLS)
  const missing = [...new Set(sample.filter(isMissingMarker))]
  if (missing.length === 0) return shapeOf(sample)
  const shape = shapeOf(sample.filter((cell) => !isMissingMarker(cell)))
  return shape && { ...shape, missing }
}

/** Returns the shape of texts without missing values. */
function shapeOf(sample: readonly string[]): ValueShape | undefined {
  if (sample.length === 0 || sample.some(({ length }) => length > MAX_VALUE_CHARACTERS)) return undefined
  for (const [mark, what] of NUMBER_MARKS) {
    const isMarked = (cell: string): boolean => mark.test(cell)
    if (!sample.some(isMarked) || !sample.every((cell) => /\d/.test(cell))) continue
    if (sample.every((cell) => (isMarked(cell) || isJsonNumber(cell)) && parseNumber(cell) !== undefined))
      return shapeOfAmounts(what, sample)
    if (!sample.every((cell) => isMarked(cell) && AMOUNT.test(cell.replace(mark, '')))) continue
    // Numbers such as 1.234,50 €.
    return shapeOfAmounts(what, sample, findCommaStyle(sample) ?? 'unknown')
  }
  const orders = ['dmy', 'mdy'] as const
  const typesOf = (isGiven: boolean): GivenType[] =>
    orders
      .filter((order) => sample.every((cell) => isClearDate(cell, order, isGiven)))
      .map((order) => `date-${order}` as const)
  if (sample.every((cell) => SHORT_YEAR.test(cell))) {
    // With points, the day is first. With hyphens, the year can be first: then no type is offered.
    const hasPoints = sample.every((cell) => cell.includes('.'))
    const types = sample.every((cell) => YEAR_FIRST.test(cell))
      ? []
      : typesOf(true).filter((type) => type === 'date-dmy' || !hasPoints)
    return { what: 'dates with two-digit years', types }
  }
  if (sample.every((cell) => SHORT_YEAR_WITH_NAME.test(cell))) {
    const [type] = typesOf(true).filter((type) => (type === 'date-dmy') === /^\d/.test(sample[0]))
    return type && { what: 'dates with two-digit years', types: [type] }
  }
  if (sample.every((cell) => ISO.test(cell))) return undefined
  if (!sample.every((cell) => /\d/.test(cell) && /[^\d.]|\..*\./.test(cell))) return undefined
  const types: GivenType[] = sample.every((cell) => isClearDate(cell, undefined, false))
    ? ['date']
    : typesOf(false)
  if (types.length === 0) return undefined
  const forms = new Set(sample.map((cell) => cell.replace(/\d+/g, '0').replace(/\p{L}+/gu, 'a')))
  return { what: forms.size === 1 ? 'dates' : 'dates in different formats', types }
}

/** Returns the shape of amounts. Those in several currencies are not offered as numbers. */
function shapeOfAmounts(
  what: string,
  sample: readonly string[],
  style?: NumberStyle | 'unknown',
): ValueShape {
  let possible: readonly string[] | undefined
  for (const cell of sample) possible = narrowCurrencies(possible, cell)
  if (possible?.length === 0) {
    const marks = new Set(sample.flatMap((cell) => CURRENCY.exec(cell)?.[0] ?? []))
    return { what: `amounts in several currencies (${formatList([...marks], 5)})`, types: [] }
  }
  return style === 'unknown' ? { what, types: [] } : { what, types: ['number'], numbers: style }
}

/** Returns whether a cell is an unambiguous date in this order. `isGiven`: the user gave the order. */
function isClearDate(cell: string, order: DateOrder, isGiven: boolean): boolean {
  return !['ambiguous', undefined].includes(parseDate(cell, order, isGiven))
}
