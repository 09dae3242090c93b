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
  const subject = subjectOf(type, options, values)
  const names = humanizeNames([...new Set(listGroups(type, options, values))])
  const share = options.stack === 'percent' ? `share of ${subject}` : subject
  const perPeriod = options.per === undefined || subject === '' ? share : `${share} per ${options.per}`
  const plain = names.length === 0 || subject === '' ? perPeriod : `${perPeriod} by ${joinNames(names)}`
  const text = escapeMarkup(plain)
  // Capitalize plain words only, not names such as pH.
  return /^\p{Ll}+(?![^\s,])/u.test(plain) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

/** Types of charts with a third axis. */
const SOLID_TYPES: ReadonlySet<ChartType> = new Set(['scatter3d', 'surface'])
/** Types of charts that show how often pairs of values are. */
const PAIR_TYPES: ReadonlySet<ChartType> = new Set(['histogram2d', 'hexbin'])

/** Returns what a chart shows; empty for the rows of a table. */
function subjectOf(type: ChartType, options: TitleOptions, values: string): string {
  const { x, y, z, size, color, lat, aggregate } = options
  const isPair = PAIR_TYPES.has(type)
  if (hasTrait(type, 'spread') || isPair)
    return `distribution of ${humanizeNames([x, y?.replace(/,\s*/g, ', ')]).join(isPair ? ' and ' : ', ')}`
  if (type === 'map') return humanizeName(size ?? color ?? lat ?? 'places')
  if (isClassed(type, options) || (values === '' && hasTrait(type, 'optional y'))) return 'count'
  if (type === 'indicator' && aggregate === undefined) return `last ${values}`
  if (type === 'candlestick' || type === 'ohlc') return 'prices'
  if (type === 'table') return ''
  return (SOLID_TYPES.has(type) && z) || values
}

/** Returns the columns that distinguish the values of a chart. */
function listGroups(type: ChartType, options: TitleOptions, values: string): (string | undefined)[] {
  const { x, y, z, per, by, to, facets, symbol, dash } = options
  const series = [to, by, isClassed(type, options) ? y : undefined, symbol, dash, ...facets]
  if (hasTrait(type, 'spread') || PAIR_TYPES.has(type)) return series
  if (SOLID_TYPES.has(type)) return [z === undefined ? undefined : values, x, ...series]
  return [per === undefined ? x : undefined, hasTrait(type, 'cells') ? y : undefined, ...series]
}

/** Returns whether a chart counts values per class: a rose with a column of values. */
function isClassed(type: ChartType, { y, by, aggregate }: ChartOptions): boolean {
  return type === 'rose' && y !== undefined && by === undefined && aggregate === undefined
}

function humanizeNames(names: readonly (string | undefined)[]): string[] {
  return names.flatMap((name) => (name === undefined ? [] : [humanizeName(name)]))
}

/** Joins names: `a`, `a and b`, `a, b and c`. */
function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
