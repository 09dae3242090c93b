// Tells from the names of numbers how their values are combined, and from the span of dates by which period.
import { isMomentType } from '../../contract/column-types.ts'
import type { PERIODS } from '../../contract/row-options.ts'
import type { Column } from '../spec/options.ts'

const wordOf = (words: string): RegExp => new RegExp(`(?:^|[_\\s/-])(?:${words})(?:$|[_\\s/:([\\d-])`, 'i')

/** Names of amounts, which add up. */
const AMOUNT = wordOf(
  'amounts?|revenues?|sales|turnover|gross|profits?|spend|spending|betrag|umsatz|erlös|montant|importe|ventas',
)
/** Names of counts, which add up as well, but are shown only if there are no amounts. */
const COUNT = wordOf(
  'quantity|quantities|qty|count|counts|units|orders|visits|clicks|views|menge|anzahl|quantité|cantidad',
)
/** The same for names that end in the word, but for a unit. */
const TOTAL = /(?:^|[_\s-])total(?:[_\s]*(?:[([]|(?:usd|eur|gbp|chf|[€$£])$)|$)|total[_\s-]price/i
/** Names of levels, which do not add up: their mean says more than their sum. */
const LEVEL = wordOf(
  [
    'avg|average|mean|median|rate|ratio|share|percent|pct|margin|growth|change|rank|rating|score|index|level|grade|per',
    'cumulative|running|price|age|speed|temp|temperature|humidity|pressure|height|weight|lat|latitude|lon|long|longitude|year|id',
  ].join('|'),
)
/** Totals of totals. */
const RUNNING = /running|cumulative/i
/** Units of levels. */
const LEVEL_UNIT = /[%°]/
const DAY_MS = 24 * 3600_000

/** Number of dates above which they are collected into periods. */
export const MAX_DATES = 200

/** Period by which dates are collected. */
export type Period = (typeof PERIODS)[number]

/** Returns whether a name is that of amounts, such as `order_amount` or `orderTotal`. */
export function isAmount(name: string): boolean {
  const words = separateWords(name)
  return TOTAL.test(words) ? !RUNNING.test(words) : AMOUNT.test(words) && !hasLevelName(words)
}

/** Returns whether a name is that of counts, such as `quantity`. */
export function isCount(name: string): boolean {
  const words = separateWords(name)
  return COUNT.test(words) && !RUNNING.test(words) && !hasLevelName(words)
}

/** Returns whether a name is that of levels, such as `unit_price`. */
export function isLevel(name: string): boolean {
  return !isAmount(name) && hasLevelName(separateWords(name))
}

function hasLevelName(words: string): boolean {
  return LEVEL.test(words) || LEVEL_UNIT.test(words)
}

/** Separates the words of a name such as `orderTotal`. */
function separateWords(name: string): string {
  return name
    .trim()
    .normalize('NFC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
}

/**
 * Returns the period that gives 10 to 200 points or so; undefined for years as numbers, without dates, and for less than
 * ten minutes.
 */
export function choosePeriod(type: Column['type'], first: unknown, last: unknown): Period | undefined {
  if (!isMomentType(type) || typeof first !== 'string' || typeof last !== 'string') return undefined
  // Years before Christ are no dates of JavaScript.
  const days = /^\d/.test(first) ? (Date.parse(last) - Date.parse(first)) / DAY_MS : Number.NaN
  if (!Number.isFinite(days)) return undefined
  if (days > 365 * 20) return 'year'
  if (days > 365 * 2) return 'month'
  if (days > 180) return 'week'
  if (days > 8 || type === 'date') return 'day'
  if (days > 0.5) return 'hour'
  return days * 24 * 60 > 10 ? 'minute' : undefined
}
