// Checks chart options against the columns of a grid and their values.
import type { ChartGrid, ChartOptions } from '../spec/options.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'
import { type ChartColumns, resolveChartColumns } from './chart-columns.ts'
import type { ChartClient } from './read-values.ts'
import { ChartColumnResolver } from './resolve-columns.ts'
import { assertAcceptedOptions, assertCompatibleOptions, assertReadable } from './rules.ts'
import { ChartValues, type Findings } from './values.ts'

/** A chart with checked options and resolved columns. */
export interface NormalizedChart {
  type: ChartType
  options: ChartOptions
  columns: ChartColumns
  chart: ChartColumnResolver
  values: ChartValues
  /** undefined | Transform that filters and sorts rows, if any. */
  rowsTransform: object | undefined
  /** The points of a line are sorted when the chart is drawn. */
  isUnsorted: boolean
}

/** Checks options, and resolves their columns. Throws `usage`, `unknown_column` and `bad_data`. */
export async function normalizeChart(
  client: ChartClient | undefined,
  grid: ChartGrid,
  type: ChartType,
  input: ChartOptions,
  findings: Findings,
): Promise<NormalizedChart> {
  const options = convertOrderToSort(input, grid)
  const values = new ChartValues(client, grid.fid, type, options, findings)
  const chart = new ChartColumnResolver(values, grid, type)
  assertAcceptedOptions(type, options)
  const columns = await resolveChartColumns(chart, type, options)
  await assertCompatibleOptions(chart, type, options, columns)
  const selected = chart.createRowsTransform(options)
  const { x, ys, by, facets, dash } = columns
  await values.preloadStatistics([x, by, ...facets, ...ys.slice(0, 1)])
  await assertReadable(values, type, options, columns, chart.names)
  const isPlain = !by && !dash && facets.length === 0 && !options.aggregate
  const isUnsorted = hasTrait(type, 'joined') && isPlain && (await values.isUnsorted(x))
  return { type, options, columns, chart, values, rowsTransform: selected, isUnsorted }
}

/** Converts an `--order` that names one column to a `--sort` by that column. */
function convertOrderToSort(options: ChartOptions, { cols }: ChartGrid): ChartOptions {
  const isColumn = cols.some(({ name }) => name === options.order)
  return isColumn ? { ...options, sort: options.order, order: undefined } : options
}
