// Refuses tables that are too sparse.
import type { Problem } from '../../contract/errors.ts'
import { badFile } from '../values/warnings.ts'

/** Number of cells up to which any table is accepted. */
const MIN_SPARSE_CELLS = 4_000_000
/** Maximum number of cells per filled cell in larger tables. */
const MAX_CELLS_PER_VALUE = 100

/** Returns whether a table is large and nearly empty. */
export function isSparse(rows: number, columns: number, values: number): boolean {
  const cells = rows * columns
  return cells > MIN_SPARSE_CELLS && cells > values * MAX_CELLS_PER_VALUE
}

/** Creates the error for a sparse table: a few bytes of input must not create a huge table of empty cells. */
export function sparseError(source: string, rows: number, columns: number, hint: string): Problem {
  return badFile(
    source,
    `at least ${rows} rows and ${columns} columns, with fewer than one cell in ${MAX_CELLS_PER_VALUE} filled`,
    hint,
  )
}
