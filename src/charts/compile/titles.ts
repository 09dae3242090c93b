import { escapedMarkup } from '../../contract/markup.ts'
import type { Attributes } from '../figure/figure.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'
import { spoken } from '../spec/words.ts'

/** Whether an axis needs a title. Dates and names of columns say what they are, unless they are dates of a zone. */
export function needsTitle({ uid, type, zoned }: Column, { zone }: ChartOptions): boolean {
  if (uid === '') return false
  return (type !== 'date' && type !== 'datetime') || zoned === true || zone !== undefined
}

/** The name of a column, with the zone in which its times are drawn. */
export function axisTitle({ name, zoned }: Column, zone: string | undefined): string {
  return zone ? `${spoken(name)} (${zone})` : zoned ? `${spoken(name)} (UTC)` : spoken(name)
}

/**
 * The title of a chart: the given one, or one that says what its columns are, which `meta.title` repeats, so that it is
 * known from one that somebody wrote. `--title none` is none.
 */
export function titleOf(type: ChartType, options: Titled, shown: string): Attributes {
  const { title, subtitle } = options
  const meta = { theme: 'gridline' }
  const under = subtitle === undefined ? {} : { subtitle: { text: subtitle } }
  if (title === 'none') return { ...(subtitle !== undefined && { title: { text: '', ...under } }), meta }
  if (title !== undefined) return { title: { text: title, ...under }, meta }
  const text = defaultTitle(type, options, shown)
  return { title: { text, ...under }, meta: { ...meta, title: text } }
}

/** Options, with the columns of --facet. */
type Titled = ChartOptions & { facets: readonly string[] }

function defaultTitle(type: ChartType, options: Titled, shown: string): string {
  const { x, y, z, per, by, facets, symbol, dash, lat, size, color } = options
  // A rose of values counts them in classes.
  const isClassed = type === 'rose' && y !== undefined && by === undefined && options.aggregate === undefined
  const isCount = shown === '' && hasTrait(type, 'optional y') && !hasTrait(type, 'spread') && type !== 'map'
  const isPair = type === 'histogram2d' || type === 'hexbin'
  const isSpread = hasTrait(type, 'spread') || isPair
  const along = isSpread
    ? []
    : type === 'scatter3d' || type === 'surface'
      ? [z === undefined ? undefined : shown, x]
      : [per === undefined ? x : undefined, hasTrait(type, 'cells') ? y : undefined]
  const names = [
    ...new Set([...along, options.to, by, isClassed ? y : undefined, symbol, dash, ...facets]),
  ].flatMap((name) => (name === undefined ? [] : [spoken(name)]))
  const what = isSpread
    ? `distribution of ${[x, y?.replace(/,\s*/g, ', ')].flatMap((name) => (name === undefined ? [] : [spoken(name)])).join(isPair ? ' and ' : ', ')}`
    : isClassed || isCount
      ? 'count'
      : type === 'map'
        ? spoken(size ?? color ?? lat ?? 'places')
        : type === 'indicator' && options.aggregate === undefined
          ? `last ${shown}`
          : type === 'candlestick' || type === 'ohlc'
            ? 'prices'
            : type === 'table'
              ? ''
              : ((type === 'scatter3d' || type === 'surface') && z) || shown
  const whole = options.stack === 'percent' ? `share of ${what}` : what
  const timed = per === undefined || what === '' ? whole : `${whole} per ${per}`
  const plain = names.length === 0 || what === '' ? timed : `${timed} by ${inWords(names)}`
  const text = escapedMarkup(plain)
  // A name that is more than a word stays as it is: pH.
  return /^\p{Ll}+(?![^\s,])/u.test(plain) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

/** `a`, `a and b`, `a, b and c`. */
function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
