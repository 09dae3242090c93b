import { isoDate } from './date.ts'
import type { GivenType, Look } from './dialect.ts'
import { asNumber, isJsonNumber } from './number.ts'

const MONEY = /[$€£¥₹₽₩₺₫฿]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|INR|AUD|CAD|BRL|kr|zł|Rs)\b/iu
const PERCENT = /\d\s*%$/
const NEGATIVE = /^\(.*\d.*\)$/
/** Dates as they are stored: they sort, and every program reads them. */
const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$/
/** Cells that are tried, and the characters that a number or date has at most. */
const TRIED = 200
const LONGEST = 64

/** What the values of a column of text look like; undefined if like text. `cells` has no missing values. */
export function lookOf(cells: readonly string[]): Look | undefined {
  const some = cells.slice(0, TRIED)
  if (some.length === 0 || some.some(({ length }) => length > LONGEST)) return undefined
  const marked = (mark: RegExp): boolean =>
    some.some((cell) => mark.test(cell)) &&
    some.every((cell) => (mark.test(cell) || isJsonNumber(cell)) && asNumber(cell) !== undefined)
  if (marked(PERCENT)) return { what: 'percentages', types: ['number'] }
  if (marked(MONEY)) return { what: 'amounts with a currency', types: ['number'] }
  if (marked(NEGATIVE)) return { what: 'numbers with negative ones in parentheses', types: ['number'] }
  if (some.every((cell) => ISO.test(cell))) return undefined
  if (!some.every((cell) => /\d/.test(cell) && /[^\d.]|\..*\./.test(cell))) return undefined
  const reads = (order: 'dmy' | 'mdy' | undefined): boolean =>
    some.every((cell) => !['ambiguous', undefined].includes(isoDate(cell, order)))
  const types: GivenType[] = reads(undefined)
    ? ['date']
    : (['dmy', 'mdy'] as const).filter(reads).map((order) => `date-${order}` as const)
  if (types.length === 0) return undefined
  const forms = new Set(some.map((cell) => cell.replace(/\d+/g, '0').replace(/\p{L}+/gu, 'a')))
  return { what: forms.size === 1 ? 'dates' : 'dates that are written in different ways', types }
}
