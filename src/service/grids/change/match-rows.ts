// Matches the rows of a table with the rows of a grid by their key.
import type { Snapshot, SnapshotColumn } from '../column/content.ts'
import type { CellReader, RowHashes } from '../column/kernel/cells.ts'
import type { Table } from '../given/tables.ts'
import { isOfOtherKind, keysOf } from '../keys/key.ts'

/**
 * Matches the rows of a table with those of a grid by key. `given`: columns of the table, by the columns of the grid;
 * `at`: positions of the key columns. Throws `bad_data` or `bad_keys` if a key is null or not unique.
 */
export async function matchRows(
  reader: CellReader,
  grid: Snapshot,
  given: readonly (SnapshotColumn | undefined)[],
  at: readonly number[],
  { source, rows, lineOf }: { source: string; rows: number; lineOf?: (row: number) => number },
): Promise<MatchedRows> {
  const columns = at.map((k) => {
    const theirs = grid.columns[k]
    const own = { ...given[k]!, name: theirs.name }
    return { own, theirs, asText: isOfOtherKind(theirs, own) }
  })
  const own = await keysOf(
    reader,
    { ...grid, rows },
    columns.map(({ own: column, asText }) => ({ column, asText })),
    { source, lineOf },
  )
  const theirs = await keysOf(
    reader,
    grid,
    columns.map(({ theirs: column, asText }) => ({ column, asText })),
    { source: 'the grid' },
  )
  return joinRows(own, theirs, rows, grid.rows)
}

/** Returns a function from a row of the changed grid to its line in the file; undefined if the file has no lines. */
export function linesAfter(
  { lineOf }: Table,
  { matched, added }: MatchedRows,
  removed: Int32Array,
  before: number,
): ((row: number) => number | undefined) | undefined {
  if (!lineOf) return undefined
  const stay = before - removed.length
  return (row) => {
    if (row >= stay) return lineOf(added[row - stay])
    // The row before the change: the removed rows up to it come first.
    let was = row
    for (let k = 0; k < removed.length && removed[k] <= was; k++) was++
    const source = matched.find(({ row: at }) => at === was)
    return source && lineOf(source.from)
  }
}

/** The rows of a grid and of a table, matched by key. */
export interface MatchedRows {
  /** Rows of the grid that the table has, ascending, with their rows in the table. */
  matched: { row: number; from: number }[]
  /** Rows of the table that the grid lacks. */
  added: Int32Array
  /** Rows of the grid that the table lacks. */
  missing: Int32Array
}

/** Joins rows by the hashes of their keys. */
function joinRows(
  own: { hashes: RowHashes },
  theirs: { index: { get(hashes: RowHashes, row: number): number | undefined } },
  rows: number,
  gridRows: number,
): MatchedRows {
  const sources = new Int32Array(gridRows).fill(-1)
  const added = new Int32Array(rows)
  let count = 0
  for (let from = 0; from < rows; from++) {
    const row = theirs.index.get(own.hashes, from)
    if (row === undefined) added[count++] = from
    else sources[row] = from
  }
  const matched: MatchedRows['matched'] = []
  const missing = new Int32Array(gridRows - (rows - count))
  let gone = 0
  for (let row = 0; row < gridRows; row++) {
    if (sources[row] < 0) missing[gone++] = row
    else matched.push({ row, from: sources[row] })
  }
  return { matched, added: added.subarray(0, count), missing }
}
