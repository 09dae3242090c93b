// Words of titles: readable column names and aggregate functions.
import type { ChartOptions } from './options.ts'

const AGGREGATE_WORDS = {
  sum: 'total',
  mean: 'mean',
  median: 'median',
  min: 'least',
  max: 'highest',
  first: 'first',
  last: 'last',
} as const

/** Returns a column name as readable text: `unit_price` → `unit price`. */
export function humanizeName(name: string): string {
  return name.replaceAll('_', ' ').trim()
}

/** Returns the plural of an English word; names that are not plain lower-case words unchanged. */
export function pluralize(word: string): string {
  if (!/^[a-z ]*[a-rt-z]$/.test(word)) return word
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return `${word}${/(?:x|z|ch|sh)$/.test(word) ? 'es' : 's'}`
}

/** Returns an aggregate in words, such as `total revenue`. */
export function describeAggregate(aggregate: NonNullable<ChartOptions['aggregate']>, name: string): string {
  if (aggregate === 'none') return name
  return aggregate === 'count' ? 'count' : `${AGGREGATE_WORDS[aggregate]} ${name}`
}

/** Returns a text without the words of `describeAggregate`, of this release or an earlier one. */
export function stripAggregate(text: string): string {
  const words = Object.values(AGGREGATE_WORDS).join('|')
  const functions = Object.keys(AGGREGATE_WORDS).join('|')
  return text.replace(
    new RegExp(`^(?:share of )?(?:(?:${functions}) of |(?:${words}) )?|(?<=.) \\([^()]*\\)$`, 'g'),
    '',
  )
}
