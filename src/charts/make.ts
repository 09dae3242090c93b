// Creates charts from a grid: fills in missing options, then compiles the figure.
import { chartOf } from './compile/compile.ts'
import type { Figure } from './figure/figure.ts'
import { type Completed, completed } from './normalize/auto.ts'
import { type ChartClient, ChartValues } from './normalize/values.ts'
import type { ChartGrid, ChartOptions } from './spec/options.ts'
import type { AUTO, ChartType } from './spec/types.ts'

/** Calls `completeOptions` with the values of a grid. */
export function completedFrom(
  client: ChartClient,
  grid: ChartGrid,
  requestedType: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
): Promise<Completed> {
  const values = new ChartValues(client, grid.fid, 'scatter', options, () => {})
  return completed(
    grid,
    requestedType,
    options,
    (name) => values.distinct(name),
    (column) => values.sample(column),
  )
}

/**
 * Creates a chart of a grid and notes which options were chosen automatically. Throws `usage` and `bad_data`.
 * `isExplained`: also notes which other types fit.
 */
export async function madeChart(
  client: ChartClient,
  grid: ChartGrid,
  requestedType: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  note: (text: string) => void,
  isExplained = false,
): Promise<{ type: ChartType; figure: Figure }> {
  const {
    type,
    options: complete,
    chosen,
    because,
    others,
  } = await completedFrom(client, grid, requestedType, options)
  if (chosen !== '') note(`chosen from the columns: ${chosen}${because === undefined ? '' : ` (${because})`}`)
  if (isExplained && because === undefined) note(`the type ${type} was requested, not chosen`)
  else if (isExplained)
    note(others.length === 0 ? 'no other type fits' : `other types that fit: ${others.join(', ')}`)
  return { type, figure: await chartOf(client, grid, type, complete, note) }
}
