// Matches the rows of a table with the rows of a grid by key.

import { yieldToEventLoop } from '../../../json/index.ts'
import { mustCompareAsText } from '../../store/schema/column-types.ts'
import type { CellReader } from '../column/kernel/cells.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import type { KeyIndex } from '../diff/keys.ts'
import type { Table } from '../input/tables.ts'
import { indexTableKeys } from '../keys/index-table-keys.ts'

/**
 * Matches rows by key. `tableColumns`: columns of the table, in the order of the grid's columns;
 * `keyPositions`: positions of the key columns. Throws `bad_data` or `bad_keys` if a key is null or not
 * unique.
 */
export async function matchRows(
  reader: CellReader,
  grid: Snapshot,
  tableColumns: readonly (SnapshotColumn | undefined)[],
  keyPositions: readonly number[],
  { source, rows, lineOf }: { source: string; rows: number; lineOf?: (row: number) => number },
): Promise<MatchedRows> {
  const columns = keyPositions.map((k) => {
    const gridColumn = grid.columns[k]
    const tableColumn = { ...tableColumns[k]!, name: gridColumn.name }
    return {
      own: tableColumn,
      theirs: gridColumn,
      asText: mustCompareAsText(gridColumn.type, tableColumn.type),
    }
  })
  const own = await indexTableKeys(
    reader,
    { ...grid, rows },
    columns.map(({ own: column, asText }) => ({ column, asText })),
    { source, lineOf },
  )
  const theirs = await indexTableKeys(
    reader,
    grid,
    columns.map(({ theirs: column, asText }) => ({ column, asText })),
    { source: 'the grid' },
  )
  return joinRows(own, theirs, rows, grid.rows)
}

/**
 * Returns a function from a row of the changed grid to its line in the file; undefined if the file has no
 * lines. `before`: number of rows before the change.
 */
export function createLineLookup(
  { lineOf }: Table,
  { matched, added }: MatchedRows,
  removed: Int32Array,
  before: number,
): ((row: number) => number | undefined) | undefined {
  if (!lineOf) return undefined
  const keptRows = before - removed.length
  return (row) => {
    if (row >= keptRows) return lineOf(added[row - keptRows])
    // Row number before the change: count the removed rows up to it.
    let rowBefore = row
    for (let k = 0; k < removed.length && removed[k] <= rowBefore; k++) rowBefore++
    const match = matched.find(({ row: at }) => at === rowBefore)
    return match && lineOf(match.from)
  }
}

/** Rows of a grid and of a table, matched by key. Row numbers are from 0 and ascend. */
export interface MatchedRows {
  /** Rows of both: `row` of the grid, `from` of the table. */
  matched: { row: number; from: number }[]
  /** Rows of the table that are not in the grid. */
  added: Int32Array
  /** Rows of the grid that are not in the table. */
  missing: Int32Array
}

/** Number of rows that are joined without yielding to the event loop. */
const BATCH_ROWS = 16_384

/** Joins rows by the hashes of their keys. `own`: of the table with `rows` rows; `theirs`: of the grid. */
async function joinRows(
  tableKeys: KeyIndex,
  gridKeys: KeyIndex,
  rows: number,
  gridRows: number,
): Promise<MatchedRows> {
  const sources = new Int32Array(gridRows).fill(-1)
  const isAdded = new Uint8Array(rows).fill(1)
  const match = (row: number | undefined, from: number | undefined): void => {
    if (row === undefined || from === undefined) return
    sources[row] = from
    isAdded[from] = 0
  }
  // The smaller table is indexed, unless the grid is.
  if (gridKeys.isIndexed || rows > gridRows) {
    await gridKeys.prepare()
    for (let from = 0; from < rows; from++) {
      match(gridKeys.find(tableKeys.hashes, from), from)
      if (from % BATCH_ROWS === 0) await yieldToEventLoop()
    }
  } else {
    await tableKeys.prepare()
    for (let row = 0; row < gridRows; row++) {
      match(row, tableKeys.find(gridKeys.hashes, row))
      if (row % BATCH_ROWS === 0) await yieldToEventLoop()
    }
  }
  const added = Int32Array.from(isAdded.keys()).filter((from) => isAdded[from] === 1)
  const matched: MatchedRows['matched'] = []
  const missing = new Int32Array(gridRows - (rows - added.length))
  let missingCount = 0
  for (let row = 0; row < gridRows; row++) {
    if (sources[row] < 0) missing[missingCount++] = row
    else matched.push({ row, from: sources[row] })
  }
  return { matched, added, missing }
}
