import type { ChartGrid, ChartOptions } from '../spec/options.ts'
import type { Facts } from '../spec/spec.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'
import { Chart } from './chart.ts'
import { type ChartColumns, columnsOf } from './columns.ts'
import { assertReadable, assertTaken, assertTogether } from './rules.ts'
import { type ChartClient, ChartValues } from './values.ts'

/** A chart whose options are checked, and whose columns are found. */
export interface NormalChart {
  type: ChartType
  options: ChartOptions
  columns: ChartColumns
  chart: Chart
  values: ChartValues
  /** The transform that keeps and sorts rows, if any. */
  selected: object | undefined
  /** Points of a line are put in order where it is drawn. */
  isUnsorted: boolean
}

/** Checks the options of a chart against the columns of a grid, and their values. Throws `usage`, `unknown_column` and `bad_data`. */
export async function normalize(
  client: ChartClient | undefined,
  grid: ChartGrid,
  type: ChartType,
  given: ChartOptions,
  note: (text: string) => void,
  facts: Facts | undefined,
): Promise<NormalChart> {
  const options = ordered(given, grid)
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

/** Options whose `--order`, if it is one column, is a sort by its values. */
function ordered(given: ChartOptions, { cols }: ChartGrid): ChartOptions {
  const isColumn = cols.some(({ name }) => name === given.order)
  return isColumn ? { ...given, sort: given.order, order: undefined } : given
}
