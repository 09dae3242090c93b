import { type Completed, completed } from './auto.ts'
import { chartOf } from './charts.ts'
import type { Figure } from './figure.ts'
import type { ChartGrid, ChartOptions } from './options.ts'
import type { AUTO, ChartType } from './types.ts'
import { type ChartClient, ChartValues } from './values.ts'

/** `completed` with the values of a grid. */
export function completedFrom(
  client: ChartClient,
  grid: ChartGrid,
  given: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
): Promise<Completed> {
  const values = new ChartValues(client, grid.fid, 'scatter', options, () => {})
  return completed(
    grid,
    given,
    options,
    (name) => values.distinct(name),
    (column) => values.sample(column),
  )
}

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
  const { type, options: whole, chosen } = await completedFrom(client, grid, given, options)
  if (chosen !== '') note(`chosen from the columns: ${chosen}`)
  return { type, figure: await chartOf(client, grid, type, whole, note) }
}
