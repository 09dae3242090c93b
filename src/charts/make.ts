import { chartOf } from './compile/compile.ts'
import type { Figure } from './figure/figure.ts'
import { type Completed, completed } from './normalize/auto.ts'
import { type ChartClient, ChartValues } from './normalize/values.ts'
import type { ChartGrid, ChartOptions } from './spec/options.ts'
import type { AUTO, ChartType } from './spec/types.ts'

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
 * `bad_data`. `isExplained`: also says which other types would do.
 */
export async function madeChart(
  client: ChartClient,
  grid: ChartGrid,
  given: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  note: (text: string) => void,
  isExplained = false,
): Promise<{ type: ChartType; figure: Figure }> {
  const { type, options: whole, chosen, because, others } = await completedFrom(client, grid, given, options)
  if (chosen !== '') note(`chosen from the columns: ${chosen}${because === undefined ? '' : ` (${because})`}`)
  if (isExplained && because === undefined) note(`the type ${type} was given, not chosen`)
  else if (isExplained)
    note(others.length === 0 ? 'no other type would do' : `other types that would do: ${others.join(', ')}`)
  return { type, figure: await chartOf(client, grid, type, whole, note) }
}
