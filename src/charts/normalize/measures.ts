// Tells from the names of numbers how their values are combined, and from the span of dates by which period.
import { isMomentType } from '../../contract/column-types.ts'
import type { PERIODS } from '../../contract/row-options.ts'
import type { Column } from '../spec/options.ts'

const wordOf = (words: string): RegExp => new RegExp(`(?:^|[_\\s-])(?:${words})(?:$|[_\\s(-])`, 'i')

/** Names of amounts, which add up. */
const AMOUNT = wordOf(
  'amount|revenue|sales|turnover|gross|profit|spend|spending|betrag|umsatz|erlös|montant|importe|ventas|total[_\\s-]price|total(?=$)',
)
/** Names of levels, which do not add up: their mean says more than their sum. */
const LEVEL = new RegExp(
  `${wordOf('avg|average|mean|median|rate|ratio|share|percent|pct|price|temp\\w*|speed|age|score|rating|index|humidity|pressure|height|lat|lon\\w*|level|grade|year').source}|%|°`,
  'i',
)
const DAY_MS = 24 * 3600_000

/** Period by which dates are collected. */
export type Period = (typeof PERIODS)[number]

/** Returns whether a name is that of amounts, such as `order_amount` or `orderTotal`. */
export function isAmount(name: string): boolean {
  return AMOUNT.test(separateWords(name))
}

/** Returns whether a name is that of levels, such as `unit_price`. */
export function isLevel(name: string): boolean {
  return !isAmount(name) && LEVEL.test(separateWords(name))
}

/** Separates the words of a name such as `orderTotal`. */
function separateWords(name: string): string {
  return name.trim().replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
}

/** Returns the period that gives 20 to 200 points or so; undefined for years as numbers, and without dates. */
export function choosePeriod(type: Column['type'], first: unknown, last: unknown): Period | undefined {
  if (!isMomentType(type) || typeof first !== 'string' || typeof last !== 'string') return undefined
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS
  if (!Number.isFinite(days)) return undefined
  if (days > 365 * 20) return 'year'
  if (days > 365 * 2) return 'month'
  if (days > 180) return 'week'
  return days > 3 || type === 'date' ? 'day' : 'hour'
}
