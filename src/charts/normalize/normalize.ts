// Checks chart options against the columns of a grid and their values.
import type { ChartGrid, ChartOptions } from '../spec/options.ts'
import type { Facts } from '../spec/spec.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'
import { Chart } from './chart.ts'
import { type ChartColumns, columnsOf } from './columns.ts'
import { assertReadable, assertTaken, assertTogether } from './rules.ts'
import { type ChartClient, ChartValues } from './values.ts'

/** A chart with checked options and resolved columns. */
export interface NormalChart {
  type: ChartType
  options: ChartOptions
  columns: ChartColumns
  chart: Chart
  values: ChartValues
  /** undefined | Transform that filters and sorts rows, if any. */
  selected: object | undefined
  /** The points of a line are sorted when the chart is drawn. */
  isUnsorted: boolean
}

/** Checks options, and resolves their columns. Throws `usage`, `unknown_column` and `bad_data`. */
export async function normalize(
  client: ChartClient | undefined,
  grid: ChartGrid,
  type: ChartType,
  input: ChartOptions,
  note: (text: string) => void,
  facts: Facts | undefined,
): Promise<NormalChart> {
  const options = ordered(input, grid)
  const values = new ChartValues(client, grid.fid, type, options, note, facts)
  const chart = new Chart(values, grid, type)
  assertTaken(type, options)
  const columns = await columnsOf(chart, type, options)
  await assertTogether(chart, type, options, columns)
  const selected = chart.selection(options)
  const { x, ys, by, facets, dash } = columns
  await values.prepare([x, by, ...facets, ...ys.slice(0, 1)])
  await assertReadable(values, type, options, columns, chart.names)
  const isPlain = !by && !dash && facets.length === 0 && !options.aggregate
  const isUnsorted = hasTrait(type, 'joined') && isPlain && (await values.isUnsorted(x))
  return { type, options, columns, chart, values, selected, isUnsorted }
}

/** Converts an `--order` that names one column to a `--sort` by that column. */
function ordered(options: ChartOptions, { cols }: ChartGrid): ChartOptions {
  const isColumn = cols.some(({ name }) => name === options.order)
  return isColumn ? { ...options, sort: options.order, order: undefined } : options
}
