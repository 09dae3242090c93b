// Chooses columns for the axes and series of a chart.
import { quoteColumnName } from '../spec/column-names.ts'
import { type ChartOptions, type Column, MAX_LABELS } from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'
import { type ColumnsByKind, type CountDistinct, MAX_AUTO_BARS, MAX_AUTO_SERIES } from './choose-type.ts'
import type { ValueCounts } from './read-values.ts'

/** Maximum number of lines that are chosen automatically. */
const MAX_AUTO_LINES = 4
/** Maximum number of text columns whose labels are counted. */
const MAX_COUNTED_COLUMNS = 20

/** Moves the first text column whose labels fit on an axis to the front. */
export async function moveReadableFirst(texts: Column[], distinct: CountDistinct): Promise<Column[]> {
  for (const column of texts.slice(0, MAX_COUNTED_COLUMNS)) {
    const count = await distinct(column.name)
    const maxLabels = count && count.distinct < count.rows ? MAX_AUTO_BARS : MAX_LABELS
    if (!count || count.distinct <= maxLabels) return [column, ...texts.filter((other) => other !== column)]
  }
  return texts
}

/** Returns whether a chart without --x needs one. */
export function needsX(type: ChartType, { y, color }: ChartOptions): boolean {
  if (hasTrait(type, 'optional x') || hasTrait(type, 'no x')) return false
  if (hasTrait(type, 'spread')) return y === undefined
  // A heatmap of several columns uses the rows as its other axis.
  return !((hasTrait(type, 'cells') || type === 'surface') && color === undefined)
}

/** Returns whether a chart without --y needs one. */
export function needsY(type: ChartType, { aggregate, z }: ChartOptions): boolean {
  if (aggregate === 'count' || z !== undefined || hasTrait(type, 'optional y')) return false
  return !hasTrait(type, 'cells') && type !== 'table' && type !== 'surface'
}

/** Returns the x column for a type; undefined if no column suits. */
export function chooseX(
  type: ChartType,
  { dates, numbers, texts }: ColumnsByKind,
  { y }: ChartOptions,
): Column | undefined {
  const taken = new Set(
    y === undefined
      ? []
      : parseColumnNames(
          y,
          [...dates, ...numbers, ...texts].map(({ name }) => name),
        ),
  )
  const isFree = (column: Column): boolean => !taken.has(column.name)
  if (type === 'ecdf' || type === 'density') return numbers[0]
  if (type === 'histogram') return numbers[0] ?? dates[0]
  if (type === 'scatter' || type === 'histogram2d' || type === 'hexbin' || type === 'scatter3d')
    return (y === undefined && numbers.length < 2 ? dates : numbers).find(isFree) ?? dates.find(isFree)
  const isTime = hasTrait(type, 'joined') || ['candlestick', 'ohlc', 'calendar'].includes(type)
  return (isTime ? [...dates, ...texts] : [...texts, ...dates]).find(isFree)
}

/** Price columns, by name. */
const PRICE_NAMES = ['open', 'high', 'low', 'close']

/** Returns the --y columns for a type, comma-separated; undefined if no column suits. */
export function chooseY(
  type: ChartType,
  { numbers, dates }: ColumnsByKind,
  { x, by, color, size, error }: ChartOptions,
): string | undefined {
  const used = new Set([x, by, color, size, error])
  const free = numbers.filter(({ name }) => !used.has(name)).map(({ name }) => name)
  if (type === 'candlestick' || type === 'ohlc') {
    const prices = PRICE_NAMES.map((price) => free.find((name) => name.toLowerCase() === price))
    return prices.every((name) => name !== undefined)
      ? prices.map((name) => quoteColumnName(name)).join(',')
      : undefined
  }
  if (type === 'timeline' && dates.length > 1)
    return dates
      .slice(0, 2)
      .map(({ name }) => quoteColumnName(name))
      .join(',')
  if (free.length === 0) return undefined
  if (hasTrait(type, 'two y') || (type === 'pyramid' && by === undefined))
    return free.length < 2 ? undefined : free.slice(0, 2).map(quoteColumnName).join(',')
  const hasSeveral = type === 'parallel' || type === 'splom' || (hasTrait(type, 'joined') && by === undefined)
  const maxColumns = type === 'parallel' ? 12 : type === 'splom' ? 5 : hasSeveral ? MAX_AUTO_LINES : 1
  return free.slice(0, maxColumns).map(quoteColumnName).join(',')
}

/** Maximum ratio of the largest values of columns on one axis: a smaller column would be a flat line. */
const MAX_SCALE_RATIO = 20

/** Returns the first column and every column on a comparable scale. */
export async function selectComparable(names: readonly string[], distinct: CountDistinct): Promise<string> {
  const sizes = await Promise.all(names.map(async (name) => (await distinct(name))?.largest))
  const [first] = sizes
  const isComparable = (size: number | undefined): boolean =>
    first === undefined ||
    size === undefined ||
    (size <= first * MAX_SCALE_RATIO && size * MAX_SCALE_RATIO >= first)
  return names
    .filter((_, k) => isComparable(sizes[k]))
    .map(quoteColumnName)
    .join(',')
}

/** Maximum number of series per row that are chosen automatically: most series of one row would be no lines. */
const MAX_SERIES_PER_ROW = 2 / 3

/** Returns the text column that separates rows with the same x; undefined if there is none. */
export async function findSeriesColumn(
  texts: readonly Column[],
  { x }: ChartOptions,
  xCounts: ValueCounts,
  distinct: CountDistinct,
): Promise<string | undefined> {
  for (const { name } of texts) {
    const counts = name === x ? undefined : await distinct(name)
    if (
      counts &&
      counts.distinct > 1 &&
      counts.distinct <= MAX_AUTO_SERIES &&
      counts.distinct <= counts.rows * MAX_SERIES_PER_ROW &&
      counts.distinct * xCounts.distinct >= xCounts.rows
    )
      return name
  }
  return undefined
}
