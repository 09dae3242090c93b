// Rules for the options of a chart, alone and in combination.

import { isMomentType } from '../../contract/column-types.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import { COLUMN_NAMES_AXIS, formatColumnType, hasLabels } from '../spec/column-names.ts'
import { createUsageError } from '../spec/errors.ts'
import { type ChartOptions, type Column, flagOf } from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import {
  acceptsOption,
  type ChartType,
  hasColumnAxes,
  hasTrait,
  listTypesAccepting,
  TYPE_SPECIFIC_OPTIONS,
  withArticle,
} from '../spec/types.ts'
import type { ChartColumns } from './chart-columns.ts'
import { assertLocale } from './locale.ts'
import type { ChartColumnResolver } from './resolve-columns.ts'
import type { ChartValues } from './values.ts'

/** Throws `usage` for an option that the chart type does not accept. */
export function assertAcceptedOptions(type: ChartType, options: ChartOptions): void {
  for (const name of TYPE_SPECIFIC_OPTIONS)
    if (options[name] !== undefined && options[name] !== false && !acceptsOption(type, name)) {
      if (hasTrait(type, 'no axes') && AXIS_OPTIONS.has(name))
        throw createUsageError(`${withArticle(type)} has no axes`)
      throw createUsageError(
        `${flagOf(name)} can only be used with --type ${listTypesAccepting(name).join(' or ')}${insteadOf(name, type)}`,
      )
    }
}

/** Returns which option of a type is meant; empty for none. */
function insteadOf(name: keyof ChartOptions, type: ChartType): string {
  if (name === 'z' && type === 'heatmap') return '; the values of a heatmap are --color'
  if (name === 'by' && acceptsOption(type, 'parent'))
    return `; the groups of ${withArticle(type)} are --parent`
  return ''
}

/** Options of charts with axes. */
const AXIS_OPTIONS: ReadonlySet<string> = new Set(['logX', 'logY', 'rangeX', 'rangeY', 'formatY', 'unit'])

/** Pairs of options that cannot be combined, and why. */
const INCOMPATIBLE_OPTIONS: readonly (readonly [keyof ChartOptions, keyof ChartOptions, string?])[] = [
  ['error', 'aggregate', 'error bars belong to single rows'],
  ['facet', 'horizontal'],
  ['horizontal', 'y2'],
  ['horizontal', 'animate'],
  ['facet', 'y2', 'small charts have one axis'],
  ['facet', 'animate'],
]

/** Throws `usage` for options that conflict with each other or with their columns. */
export async function assertCompatibleOptions(
  chart: ChartColumnResolver,
  type: ChartType,
  options: ChartOptions,
  columns: ChartColumns,
): Promise<void> {
  const { x, ys, facets, animate } = columns
  const { aggregate, stack, trend, y2, zone, per } = options
  assertCombined(options)
  if (facets.length > 2) throw createUsageError('--facet accepts one column, or two: rows and columns')
  if (trend !== undefined) assertTrend(trend, x)
  if (options.locale !== undefined) assertLocale(options.locale, '--locale')
  if (y2 !== undefined && (stack === 'center' || x?.uid === ''))
    throw createUsageError(
      `--y2 cannot be used with ${stack === 'center' ? '--stack center' : `--x ${COLUMN_NAMES_AXIS}`}`,
    )
  if (stack === 'center' && (facets.length > 0 || animate))
    throw createUsageError('--stack center cannot be used with --facet or --animate')
  if (aggregate && !x && type !== 'indicator')
    throw createUsageError('--aggregate needs --x: rows with the same x become one point')
  if (zone !== undefined) assertZone(zone, x)
  if (per !== undefined) assertPeriod(x, options)
  assertTop(type, options, columns)
  if (hasTrait(type, 'spread') && type !== 'histogram')
    for (const column of x ? [x, ...ys] : ys)
      await chart.resolveNumber(x === column ? '--x' : '--y', column.name)
}

/** Throws `usage` for two options that cannot be combined. */
function assertCombined(options: ChartOptions): void {
  const isSet = (name: keyof ChartOptions): boolean => options[name] !== undefined && options[name] !== false
  for (const [first, second, why] of INCOMPATIBLE_OPTIONS)
    if (isSet(first) && isSet(second))
      throw createUsageError(
        `${flagOf(first)} and ${flagOf(second)} cannot be used together${why === undefined ? '' : `: ${why}`}`,
      )
}

/** Throws `usage` if there is nothing of which --top could show the largest. */
function assertTop(type: ChartType, { top }: ChartOptions, { x, ys, by }: ChartColumns): void {
  if (top === undefined) return
  if (!by && type !== 'bar' && !hasTrait(type, 'slices'))
    throw createUsageError('--top without --by can only be used with --type bar or pie or donut')
  if (!by && (!x || ys.length > 1)) throw createUsageError('--top needs --x, and one column of --y')
  if (top === 0) throw createUsageError('--top must be at least 1')
}

/** Throws `bad_data` or `usage` if rows would overlap, labels would not fit, or values suit no such chart. */
export async function assertReadable(
  values: ChartValues,
  type: ChartType,
  options: ChartOptions,
  columns: ChartColumns,
  names: readonly string[],
): Promise<void> {
  const { x, ys, by } = columns
  await assertFewMarks(values, type, columns)
  if (!options.aggregate) await assertDistinctRows(values, type, options, columns, names)
  await assertScales(values, type, options, columns)
  if (options.logX && x) await values.noteNotPositive([x], '--log-x')
  if (options.logY && !options.aggregate) await values.noteNotPositive(ys, '--log-y')
  if (x) await values.assertMarksExist(x)
  await values.assertHighlightsExist(by, x, ys)
  if (x) await values.assertLabelsExist(x, by)
}

/** Throws `usage` for more facets, frames, sides or labels than can be read. */
async function assertFewMarks(
  values: ChartValues,
  type: ChartType,
  { x, by, facets, animate }: ChartColumns,
): Promise<void> {
  if (type === 'pyramid' && by) await values.assertTwoSides(by)
  if (facets.length > 0) await values.assertFewFacets(facets)
  if (animate) await values.assertFewFrames(animate)
  if (by) await values.noteSmallSeries(by)
  const hasAxis = !hasTrait(type, 'no axes') || hasTrait(type, 'slices') || type === 'radar'
  if (x && hasAxis && type !== 'scatter' && type !== 'histogram') await values.assertFewLabels(x)
}

/** Throws `bad_data` if rows that are not aggregated would be drawn over each other. */
async function assertDistinctRows(
  values: ChartValues,
  type: ChartType,
  options: ChartOptions,
  { x, ys, by, facets, dash, animate, id }: ChartColumns,
  names: readonly string[],
): Promise<void> {
  if (!x) return
  const isJoined = hasTrait(type, 'joined')
  if (x.uid === '' && (hasTrait(type, 'single') || isJoined))
    await values.assertOneRowPerSeries(parseColumnNames(options.y ?? '', names)[0], by, ...facets, animate)
  if (hasTrait(type, 'single')) await values.assertUnique(id ?? x, by, ...facets, animate)
  // Days of a time zone are other ones.
  if (!options.zone && x.type === 'datetime' && type === 'calendar') await values.assertOneRowPerDay(x)
  if (hasColumnAxes(type, options)) await values.assertUnique(x, ys[0])
  if (isJoined && by && facets.length === 0 && !dash) await values.noteRepeatedX(x, by)
}

/** Throws `usage` or `bad_data` for values that do not suit an axis or a stack: parts of a whole, or lengths from zero. */
async function assertScales(
  values: ChartValues,
  type: ChartType,
  { aggregate, stack, logY }: ChartOptions,
  { ys, by }: ChartColumns,
): Promise<void> {
  const isSeveral = by !== undefined || ys.length > 1
  const isStacked = stack === undefined ? type === 'area' && isSeveral : stack !== 'none'
  if (logY && hasTrait(type, 'from zero'))
    throw createUsageError(
      `--log-y: ${withArticle(type)} chart begins at zero, but a logarithmic axis has no zero`,
      `Use --type ${type === 'area' ? 'line' : 'dot'}.`,
    )
  if (!isAdditive(aggregate) && (hasTrait(type, 'slices') || isStacked))
    throw createUsageError(
      `--aggregate ${aggregate}: ${hasTrait(type, 'slices') ? 'slices' : 'stacked series'} are parts of a whole, but these values do not add up`,
      hasTrait(type, 'slices')
        ? 'Use --type bar, or --aggregate sum or count.'
        : 'Use --stack none, or --aggregate sum or count.',
    )
  if (stack === 'percent' && !isSeveral && type !== 'histogram')
    throw createUsageError(
      '--stack percent needs several series',
      'Give several columns with --y, or the series with --by.',
    )
  if (aggregate) return
  if (isStacked && type === 'area') {
    await values.assertOneSign(ys)
    await values.noteMissing(ys)
  }
  if (hasTrait(type, 'whole')) await values.assertNotNegative(ys, withArticle(type))
  if (stack === 'percent' || stack === 'center') await values.assertNotNegative(ys, `--stack ${stack}`)
}

/** Returns whether aggregated values can be summed to a whole. */
function isAdditive(aggregate: ChartOptions['aggregate']): boolean {
  return aggregate === undefined || aggregate === 'sum' || aggregate === 'count'
}

const TREND_PATTERN = /^(?:linear|mean:(\d{1,5}))$/

/** Throws `usage` for an unknown trend, or one that the x axis does not have. */
function assertTrend(trend: string, x: Column | undefined): void {
  const [kind, window] = TREND_PATTERN.exec(trend) ?? []
  if (kind === undefined || Number(window) < 2)
    throw createUsageError(
      `--trend ${trend}: expected linear or mean:N`,
      'mean:7 draws the mean of 7 points.',
    )
  if (trend === 'linear' && hasLabels(x))
    throw createUsageError(
      '--trend linear needs numbers or dates on the x axis',
      'For labels, use --trend mean:3: it follows the order of the points.',
    )
}

/** Returns the number of points in a moving mean; undefined for a linear trend. */
export function parseTrendWindow(trend: string): number | undefined {
  const window = TREND_PATTERN.exec(trend)?.[1]
  return window === undefined ? undefined : Number(window)
}

/** Throws `usage` for an unknown zone, or without times on the x axis. */
function assertZone(zone: string, x: Column | undefined): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw createUsageError(
      `--zone ${zone}: unknown time zone`,
      withSuggestion(
        findClosest(zone, Intl.supportedValuesOf('timeZone')),
        'For example: Europe/Oslo, America/New_York or UTC.',
      ),
    )
  }
  if (!x || (x.type !== 'datetime' && x.type !== 'empty'))
    throw createUsageError('--zone needs --x with a column of times')
}

/** Throws `usage` for --per without dates on the x axis, or without --aggregate. */
function assertPeriod(x: Column | undefined, { aggregate, x: name }: ChartOptions): void {
  if (!x || (!isMomentType(x.type) && x.type !== 'empty'))
    throw createUsageError(
      x
        ? `--per needs dates on the x axis; the column ${name} holds ${formatColumnType(x.type)} values`
        : '--per needs --x with a column of dates',
      x ? `Read the file with --column ${JSON.stringify(`${name}:date`)} if they are dates.` : undefined,
    )
  if (!aggregate)
    throw createUsageError(
      '--per combines rows, so it needs --aggregate',
      'For example: --per month --aggregate sum',
    )
}
