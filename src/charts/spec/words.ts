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
