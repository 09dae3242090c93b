import type { Problem } from '../contract/errors.ts'
import { badData } from './warnings.ts'

/** Below this many cells, a table with few filled ones is no attack but a table with gaps. */
const HARMLESS_CELLS = 4_000_000
/** Cells for each filled one: more is no table. */
const CELLS_PER_VALUE = 100

/** Whether a table of this shape is nearly empty and large all the same. */
export function isSparse(rows: number, columns: number, values: number): boolean {
  const cells = rows * columns
  return cells > HARMLESS_CELLS && cells > values * CELLS_PER_VALUE
}

/** Refuses a table that a few bytes would turn into a huge one of empty cells. */
export function sparse(source: string, rows: number, columns: number, hint: string): Problem {
  return badData(
    source,
    {},
    `${rows} rows and ${columns} columns, of which fewer than one cell in ${CELLS_PER_VALUE} is filled`,
    hint,
  )
}
