// Chooses the chart type and columns that the user left out.
import { isMomentType } from '../../contract/column-types.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import {
  COLUMN_NAMES_AXIS,
  detectNumberStyle,
  filterYearNames,
  hasLabels,
  quoteColumnName,
} from '../spec/column-names.ts'
import { type ChartGrid, type ChartOptions, type Column, MAX_LABELS } from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import { AUTO, acceptsOption, type ChartType, hasTrait } from '../spec/types.ts'
import {
  chooseX,
  chooseY,
  findSeriesColumn,
  moveReadableFirst,
  needsX,
  needsY,
  selectComparable,
} from './choose-columns.ts'
import {
  type CountDistinct,
  chooseType,
  groupColumnsByKind,
  MAX_AUTO_BARS,
  type Suggestion,
} from './choose-type.ts'
import { choosePeriod, isAmount, isCount, isLevel, MAX_DATES } from './measures.ts'
import type { ValueCounts } from './read-values.ts'

/** A chart with all options filled in from the column types and values. */
export interface CompletedChart {
  type: ChartType
  options: ChartOptions
  /** Automatically chosen options, as command-line flags; empty if there are none. */
  chosenFlags: string
  /** Reason for the chosen type; undefined if the type was requested. */
  reason?: string
  /** Other types that fit, each with what it would show. */
  suggestions: readonly Suggestion[]
}

/** Reads the first values of a column. */
export type ReadSample = (column: Column) => Promise<readonly unknown[]>

/** Fills in the missing chart type and columns. See docs/guide.md#create-plots. */
export async function completed(
  grid: ChartGrid,
  requestedType: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  distinct: CountDistinct,
  sample: ReadSample = async ({ firstValues = [] }) =>
    firstValues.map(({ text }) => text.replace(/^"|"$/g, '')),
): Promise<CompletedChart> {
  const grouped = groupColumnsByKind(grid.cols)
  const columns =
    options.x === undefined
      ? { ...grouped, texts: await moveReadableFirst(grouped.texts, distinct) }
      : grouped
  const names = grid.cols.map(({ name }) => name)
  const findColumn = (name: string | undefined): Column | undefined =>
    grid.cols.find((column) => column.name === name)
  const requested = requestedType === AUTO ? undefined : requestedType
  const isOpen = requested === undefined
  const years = completeYearColumns(grid, requested, options)
  if (years) return years
  const next: ChartOptions = await swapForLabels(requested, options, findColumn, sample)
  const { type, reason, suggestions } = isOpen
    ? await chooseType(columns, findColumn(next.x), next, distinct)
    : { type: requested, suggestions: [] }
  const chart: OpenChart = { type, isOpen, given: options, columns, names, distinct }
  await chooseAxes(chart, next)
  if (isOpen) {
    if (type === 'bar') await cutLabels(chart, next)
    await joinRows(chart, next, findColumn(next.x))
    if (type === 'bar' && next.y === undefined) next.aggregate = 'count'
  }
  return { type, options: next, chosenFlags: formatChosenFlags(chart, next), reason, suggestions }
}

/** A chart whose options are chosen. */
interface OpenChart {
  type: ChartType
  /** Whether the type was chosen, not requested. */
  isOpen: boolean
  /** Options of the user. */
  given: ChartOptions
  columns: ReturnType<typeof groupColumnsByKind>
  /** Names of all columns. */
  names: readonly string[]
  distinct: CountDistinct
}

async function chooseAxes(
  { type, given, columns, names, distinct }: OpenChart,
  next: ChartOptions,
): Promise<void> {
  if (next.x === undefined && next.lat === undefined && needsX(type, given))
    next.x = chooseX(type, columns, given)?.name
  if (next.y !== undefined || !needsY(type, next)) return
  next.y = chooseY(type, columns, next)
  if (hasTrait(type, 'joined') && next.y !== undefined)
    next.y = await selectComparable(parseColumnNames(next.y, names), distinct)
}

/** With more labels than fit on an axis, shows only the largest values. */
async function cutLabels({ given, distinct }: OpenChart, next: ChartOptions): Promise<void> {
  if (given.x !== undefined || next.x === undefined || next.top !== undefined) return
  const labels = await distinct(next.x)
  if (labels && labels.distinct > MAX_LABELS) next.top = MAX_AUTO_BARS
}

/** With several rows per x, draws several series, or aggregates. */
async function joinRows(chart: OpenChart, next: ChartOptions, x: Column | undefined): Promise<void> {
  const { type, given, columns, names, distinct } = chart
  const isAggregated = next.aggregate !== undefined && next.aggregate !== 'none'
  if (next.x === undefined || next.by !== undefined || isAggregated) return
  const counts = await distinct(next.x)
  if (!counts || counts.distinct >= counts.rows || type === 'scatter' || type === 'histogram') return
  const group = await findSeriesColumn(columns.texts, next, counts, distinct)
  if (group && type === 'line') {
    next.by = group
    next.y = next.y && quoteColumnName(parseColumnNames(next.y, names)[0])
  } else if (next.y !== undefined)
    combineRows(type, next, { names, x, counts, isYOpen: given.y === undefined })
}

function formatChosenFlags({ type, isOpen, given }: OpenChart, next: ChartOptions): string {
  return [
    ...(isOpen ? [`--type ${type}`] : []),
    ...(['x', 'y', 'by', 'aggregate', 'per', 'top'] as const).flatMap((name) =>
      next[name] !== undefined && next[name] !== given[name]
        ? [`--${name} ${quoteShellWord(String(next[name]))}`]
        : [],
    ),
    ...(next.horizontal && !given.horizontal ? ['--horizontal'] : []),
  ].join(' ')
}

/** A chart with several rows per x. */
interface RepeatedRows {
  /** Names of all columns. */
  names: readonly string[]
  x: Column | undefined
  /** Counts of the values of x. */
  counts: ValueCounts
  /** Whether the y columns were chosen, not given. */
  isYOpen: boolean
}

/** Combines the rows: amounts add up, levels have a mean. Many dates are collected into periods. */
function combineRows(
  type: ChartType,
  options: ChartOptions,
  { names, x, counts, isYOpen }: RepeatedRows,
): void {
  const y = parseColumnNames(options.y!, names)
  const amounts = y.filter(isAmount)
  const shown = isYOpen && amounts.length > 0 ? amounts : y
  if (isYOpen) options.y = shown.map(quoteColumnName).join(',')
  const hasParts = type === 'bar' || hasTrait(type, 'slices')
  const isSum = hasParts ? !shown.every(isLevel) : shown.every((name) => isAmount(name) || isCount(name))
  options.aggregate = isSum ? 'sum' : 'mean'
  const { distinct, ends: [first, last] = [] } = counts
  if (x && distinct > MAX_DATES && options.per === undefined && acceptsOption(type, 'per'))
    options.per = choosePeriod(x.type, first, last)
}

/** Types for which year columns become the x axis. */
const YEAR_COLUMN_TYPES: ReadonlySet<ChartType> = new Set(['line', 'step', 'slope', 'bump', 'area'])

/** Chooses one line per row for a table with year columns; undefined for other tables. */
function completeYearColumns(
  grid: ChartGrid,
  requested: ChartType | undefined,
  options: ChartOptions,
): CompletedChart | undefined {
  const isOpen = requested === undefined
  const type = requested ?? 'line'
  if (!YEAR_COLUMN_TYPES.has(type)) return undefined
  const years = filterYearNames(grid.cols.filter(({ type }) => type === 'number').map(({ name }) => name))
  const isTaken = grid.cols.some(({ name }) => name === COLUMN_NAMES_AXIS)
  if (years.length === 0 || isTaken || options.x !== undefined || options.y !== undefined) return undefined
  const labels = grid.cols.find(({ type }) => type === 'text')
  const y = years.join(',')
  const by = options.by ?? labels?.name
  const chosen = [
    `${isOpen ? '--type line ' : ''}--x ${COLUMN_NAMES_AXIS} --y ${y}`,
    ...(by === undefined ? [] : [`--by ${quoteShellWord(by)}`]),
  ]
  return {
    ...{ type, options: { ...options, x: COLUMN_NAMES_AXIS, y, by }, chosenFlags: chosen.join(' ') },
    ...{ reason: isOpen ? 'columns are named by years' : undefined, suggestions: [] },
  }
}

/** Swaps x and y if x holds numbers and y holds labels or dates. Bars then become horizontal. */
async function swapForLabels(
  type: ChartType | undefined,
  options: ChartOptions,
  findColumn: (name: string | undefined) => Column | undefined,
  sample: ReadSample,
): Promise<ChartOptions> {
  const [x, y] = [findColumn(options.x), findColumn(options.y)]
  if (x?.type !== 'number' || y === undefined || options.aggregate === 'count') return { ...options }
  const isLabels = hasLabels(y)
  const isDates = isMomentType(y.type)
  if ((!isLabels && !isDates) || (type && NUMERIC_X_TYPES.has(type))) return { ...options }
  // Text that looks like numbers is not labels.
  if (isLabels && detectNumberStyle(await sample(y)) !== undefined) return { ...options }
  // Do not swap if an option applies to one axis.
  if (ONE_AXIS_OPTIONS.some((name) => options[name] !== undefined && options[name] !== false))
    return { ...options }
  const canBeHorizontal =
    isLabels && (!type || acceptsOption(type, 'horizontal')) && options.facet === undefined
  return { ...options, x: options.y, y: options.x, ...(canBeHorizontal && { horizontal: true }) }
}

/** Options that apply to one axis. */
const ONE_AXIS_OPTIONS = ['logX', 'logY', 'rangeX', 'rangeY', 'mark', 'band'] as const

/** Types that accept numbers on x and labels on y. */
const NUMERIC_X_TYPES: ReadonlySet<string> = new Set([
  ...['heatmap', 'contour', 'histogram', 'histogram2d', 'table', 'scatter3d', 'surface', 'map'],
  ...['parallel', 'scatter', 'choropleth', 'sankey', 'rose', 'hexbin', 'bump', 'slope'],
])
