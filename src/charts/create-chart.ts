// Creates charts from a grid: fills in missing options, then compiles the figure.
import { compileChart } from './compile/compile.ts'
import type { Figure } from './figure/figure.ts'
import { type CompletedChart, completed } from './normalize/complete-options.ts'
import { type ChartClient, ValueReader } from './normalize/read-values.ts'
import type { ChartGrid, ChartOptions } from './spec/options.ts'
import type { AUTO, ChartType } from './spec/types.ts'

/** Calls `completeOptions` with the values of a grid. */
export function completeFromGrid(
  client: ChartClient,
  grid: ChartGrid,
  requestedType: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
): Promise<CompletedChart> {
  const values = new ValueReader(client, grid.fid, options.where)
  return completed(
    grid,
    requestedType,
    options,
    (name) => values.countDistinct(name),
    (column) => values.readSample(column),
  )
}

/** Type and options of a chart that a user requests. */
export interface ChartRequest {
  /** Undefined: chosen automatically, as `auto`. */
  type?: ChartType | typeof AUTO
  options: ChartOptions
  /** Also notes which other types fit. */
  isExplained?: boolean
}

/** Creates a chart of a grid and notes which options were chosen automatically. Throws `usage` and `bad_data`. */
export async function createChart(
  client: ChartClient,
  grid: ChartGrid,
  { type: requestedType, options, isExplained }: ChartRequest,
  note: (text: string) => void,
): Promise<{ type: ChartType; figure: Figure }> {
  const {
    type,
    options: complete,
    chosenFlags,
    reason,
    suggestions,
  } = await completeFromGrid(client, grid, requestedType, options)
  if (chosenFlags !== '')
    note(`chosen from the columns: ${chosenFlags}${reason === undefined ? '' : ` (${reason})`}`)
  if (isExplained && reason === undefined) note(`the type ${type} was requested, not chosen`)
  else if (isExplained) {
    const others = suggestions.map((other) => `${other.type} (${other.shows})`).join(', ')
    note(others === '' ? 'no other type fits' : `other types that fit: ${others}`)
  }
  return { type, figure: await compileChart(client, grid, type, complete, { note }) }
}
