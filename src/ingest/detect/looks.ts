import { type DateOrder, isoDate } from '../values/date.ts'
import type { GivenType, Look } from '../values/dialect.ts'
import { asNumber, commaStyle, isJsonNumber } from '../values/number.ts'

const MONEY = /[$€£¥₹₽₩₺₫฿]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|INR|AUD|CAD|BRL|kr|zł|Rs)\b/iu
const PERCENT = /(?<=\d)\s*%$/
const NEGATIVE = /^\(.*\d.*\)$/
const MARKS: readonly [RegExp, string][] = [
  [PERCENT, 'percentages'],
  [MONEY, 'amounts with a currency'],
  [NEGATIVE, 'numbers with negative ones in parentheses'],
]
/** What is left of an amount without its mark. */
const AMOUNT = /^[\s+-]*[\d.,'’ \u00a0\u202f]+[\s%]*$/
const SHORT_YEAR = /^\d{1,2}([./-])\d{1,2}\1\d{2}$/
const YEAR_FIRST = /^\d{2}-\d{2}-\d{2}$/
/** Dates as they are stored: they sort, and every program reads them. */
const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$/
/** Cells that are tried, and the characters that a number or date has at most. */
const TRIED_CELLS = 200
const MAX_CHARACTERS = 64

/** What the values of a column of text look like; undefined if like text. `cells` has no missing values. */
export function lookOf(cells: readonly string[]): Look | undefined {
  const some = cells.slice(0, TRIED_CELLS)
  if (some.length === 0 || some.some(({ length }) => length > MAX_CHARACTERS)) return undefined
  for (const [mark, what] of MARKS) {
    const isMarked = (cell: string): boolean => mark.test(cell)
    if (!some.some(isMarked) || !some.every((cell) => /\d/.test(cell))) continue
    if (some.every((cell) => (isMarked(cell) || isJsonNumber(cell)) && asNumber(cell) !== undefined))
      return { what, types: ['number'] }
    if (!some.every((cell) => isMarked(cell) && AMOUNT.test(cell.replace(mark, '')))) continue
    // As in 1.234,50 €.
    const numbers = commaStyle(some)
    return { what, types: numbers ? ['number'] : [], numbers }
  }
  const orders = ['dmy', 'mdy'] as const
  const typesOf = (said: boolean): GivenType[] =>
    orders
      .filter((order) => some.every((cell) => isDate(cell, order, said)))
      .map((order) => `date-${order}` as const)
  if (some.every((cell) => SHORT_YEAR.test(cell))) {
    // With points, the day is first. With hyphens, the year can be: then no type is offered.
    const hasPoints = some.every((cell) => cell.includes('.'))
    const types = some.every((cell) => YEAR_FIRST.test(cell))
      ? []
      : typesOf(true).filter((type) => type === 'date-dmy' || !hasPoints)
    return { what: 'dates with years of two digits', types }
  }
  if (some.every((cell) => ISO.test(cell))) return undefined
  if (!some.every((cell) => /\d/.test(cell) && /[^\d.]|\..*\./.test(cell))) return undefined
  const types: GivenType[] = some.every((cell) => isDate(cell, undefined, false)) ? ['date'] : typesOf(false)
  if (types.length === 0) return undefined
  const forms = new Set(some.map((cell) => cell.replace(/\d+/g, '0').replace(/\p{L}+/gu, 'a')))
  return { what: forms.size === 1 ? 'dates' : 'dates that are written in different ways', types }
}

function isDate(cell: string, order: DateOrder, said: boolean): boolean {
  return !['ambiguous', undefined].includes(isoDate(cell, order, said))
}
