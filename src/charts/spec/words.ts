import type { ChartOptions } from './options.ts'

const COMPUTED = {
  sum: 'total',
  mean: 'mean',
  median: 'median',
  min: 'least',
  max: 'highest',
  first: 'first',
  last: 'last',
} as const

/** A name of a column as it is read. */
export function spoken(name: string): string {
  return name.replaceAll('_', ' ').trim()
}

/** A name as it is read of several: `cities`. A name that is no plain word stays as it is. */
export function pluralOf(word: string): string {
  if (!/^[a-z ]*[a-rt-z]$/.test(word)) return word
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return `${word}${/(?:x|z|ch|sh)$/.test(word) ? 'es' : 's'}`
}

/** The words for a computed column, for example `total revenue`. */
export function computedOf(aggregate: NonNullable<ChartOptions['aggregate']>, what: string): string {
  if (aggregate === 'none') return what
  return aggregate === 'count' ? 'count' : `${COMPUTED[aggregate]} ${what}`
}

/** A text without the words that say what is computed, as this release and earlier ones wrote them. */
export function withoutComputed(text: string): string {
  const words = Object.values(COMPUTED).join('|')
  const functions = Object.keys(COMPUTED).join('|')
  return text.replace(
    new RegExp(`^(?:share of )?(?:(?:${functions}) of |(?:${words}) )?|(?<=.) \\([^()]*\\)$`, 'g'),
    '',
  )
}
