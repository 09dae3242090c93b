import { completed } from './auto.ts'
import { chartOf } from './charts.ts'
import type { Figure } from './merge.ts'
import type { ChartGrid, ChartOptions } from './options.ts'
import type { AUTO, ChartType } from './types.ts'
import { type ChartClient, ChartValues } from './values.ts'

/**
 * A chart of a grid: see `chartOf`. What is not given is chosen from the types of the columns, and said. Throws `usage` and
 * `bad_data`.
 */
export async function madeChart(
  client: ChartClient,
  grid: ChartGrid,
  given: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  note: (text: string) => void,
): Promise<{ type: ChartType; figure: Figure }> {
  const values = new ChartValues(client, grid.fid, 'scatter', options, () => {})
  const {
    type,
    options: whole,
    chosen,
  } = await completed(grid, given, options, (name) => values.distinct(name))
  if (chosen !== '') note(`chosen from the columns: ${chosen}`)
  return { type, figure: await chartOf(client, grid, type, whole, note) }
}
