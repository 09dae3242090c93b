// Titles of charts and axes.
import { isMomentType } from '../../contract/column-types.ts'
import { escapeMarkup } from '../../contract/plotly-markup.ts'
import type { Attributes } from '../figure/figure.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'
import { humanizeName } from '../spec/words.ts'

/** Returns whether an axis needs a title. Dates and column names need none, except dates in a zone. */
export function needsTitle({ uid, type, zoned }: Column, { zone }: ChartOptions): boolean {
  if (uid === '') return false
  return !isMomentType(type) || zoned === true || zone !== undefined
}

/** Returns the name of a column, with the zone of its times. */
export function formatAxisTitle({ name, zoned }: Column, zone: string | undefined): string {
  return zone ? `${humanizeName(name)} (${zone})` : zoned ? `${humanizeName(name)} (UTC)` : humanizeName(name)
}

/**
 * Returns the title and `meta` of a layout. `meta.title` repeats a default title, to tell it from one that
 * was written by hand. `--title none` removes the title.
 */
export function createTitle(type: ChartType, options: TitleOptions, values: string): Attributes {
  const { title, subtitle } = options
  const meta = { theme: 'gridline' }
  const subtitleMember = subtitle === undefined ? {} : { subtitle: { text: subtitle } }
  if (title === 'none')
    return { ...(subtitle !== undefined && { title: { text: '', ...subtitleMember } }), meta }
  if (title !== undefined) return { title: { text: title, ...subtitleMember }, meta }
  const text = createDefaultTitle(type, options, values)
  return { title: { text, ...subtitleMember }, meta: { ...meta, title: text } }
}

/** Options, with the columns of --facet. */
type TitleOptions = ChartOptions & { facets: readonly string[] }

/** Returns a title that names the columns: `Total sales by month and city`. */
function createDefaultTitle(type: ChartType, options: TitleOptions, values: string): string {
  const { x, y, z, per, by, facets, symbol, dash, lat, size, color } = options
  // A rose with a value column counts the values per class.
  const isClassed = type === 'rose' && y !== undefined && by === undefined && options.aggregate === undefined
  const isCount = values === '' && hasTrait(type, 'optional y') && !hasTrait(type, 'spread') && type !== 'map'
  const isPair = type === 'histogram2d' || type === 'hexbin'
  const isSpread = hasTrait(type, 'spread') || isPair
  const along = isSpread
    ? []
    : type === 'scatter3d' || type === 'surface'
      ? [z === undefined ? undefined : values, x]
      : [per === undefined ? x : undefined, hasTrait(type, 'cells') ? y : undefined]
  const names = [
    ...new Set([...along, options.to, by, isClassed ? y : undefined, symbol, dash, ...facets]),
  ].flatMap((name) => (name === undefined ? [] : [humanizeName(name)]))
  const subject = isSpread
    ? `distribution of ${[x, y?.replace(/,\s*/g, ', ')].flatMap((name) => (name === undefined ? [] : [humanizeName(name)])).join(isPair ? ' and ' : ', ')}`
    : isClassed || isCount
      ? 'count'
      : type === 'map'
        ? humanizeName(size ?? color ?? lat ?? 'places')
        : type === 'indicator' && options.aggregate === undefined
          ? `last ${values}`
          : type === 'candlestick' || type === 'ohlc'
            ? 'prices'
            : type === 'table'
              ? ''
              : ((type === 'scatter3d' || type === 'surface') && z) || values
  const share = options.stack === 'percent' ? `share of ${subject}` : subject
  const perPeriod = per === undefined || subject === '' ? share : `${share} per ${per}`
  const plain = names.length === 0 || subject === '' ? perPeriod : `${perPeriod} by ${joinNames(names)}`
  const text = escapeMarkup(plain)
  // Capitalize plain words only, not names such as pH.
  return /^\p{Ll}+(?![^\s,])/u.test(plain) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

/** Joins names: `a`, `a and b`, `a, b and c`. */
function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
