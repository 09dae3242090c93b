// Matches the rows of a table with the rows of a grid by key.

import type { Bounds } from '../../../ingest/slices.ts'
import { parseInstant, yieldToEventLoop } from '../../../json/index.ts'
import { comparisonOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { limitsOf, timeLimitsOf } from '../column/bounds.ts'
import { columnChunksOf } from '../column/chunks.ts'
import { findFirst } from '../column/find-first.ts'
import type { CellReader } from '../column/kernel/cells.ts'
import { boundsWithin } from '../column/row-groups.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import type { KeyIndex } from '../diff/keys.ts'
import type { Table } from '../input/tables.ts'
import { indexTableKeys } from '../keys/index-table-keys.ts'

/** How rows are matched. */
export interface MatchOptions {
  /** Positions of the key columns. */
  keyPositions: readonly number[]
  /** Whether all keys of the grid must be read: they may not be unique, or the rows that the table lacks are needed. */
  readsAll: boolean
  /** The table in messages. */
  source: string
  /** Number of rows of the table. */
  rows: number
  lineOf?: (row: number) => number
}

/**
 * Matches rows by key. `tableColumns`: columns of the table, in the order of the grid's columns. Throws `bad_data` or
 * `bad_keys` if a key is null or not unique.
 */
export async function matchRows(
  reader: CellReader,
  grid: Snapshot,
  tableColumns: readonly (SnapshotColumn | undefined)[],
  { keyPositions, readsAll, source, rows, lineOf }: MatchOptions,
): Promise<MatchedRows> {
  const columns = keyPositions.map((k) => {
    const gridColumn = grid.columns[k]
    const tableColumn = { ...tableColumns[k]!, name: gridColumn.name }
    return {
      own: tableColumn,
      theirs: gridColumn,
      comparison: comparisonOf(gridColumn.type, tableColumn.type),
    }
  })
  const table = { ...grid, rows }
  const own = await indexTableKeys(
    reader,
    table,
    columns.map(({ own: column, comparison }) => ({ column, comparison })),
    { source, lineOf },
  )
  const canSkip = !readsAll && rows <= MAX_SOUGHT_ROWS && rows < grid.rows
  const sought = canSkip
    ? await Promise.all(
        columns.map(({ own, theirs, comparison }) =>
          comparison === 'text'
            ? undefined
            : readSoughtValues(table, own, comparison === 'moment' ? theirs.type : undefined),
        ),
      )
    : undefined
  const theirs = await indexTableKeys(
    reader,
    grid,
    columns.map(({ theirs: column, comparison }) => ({ column, comparison })),
    { source: 'the grid' },
    sought &&
      ((group, chunks) =>
        sought.every((values, k) => values?.canBeIn(boundsWithin(chunks[k], group)) ?? true)),
  )
  const found = await joinRows(own.index, theirs.index)
  for (const match of found.matched) match.row = theirs.rowOf(match.row)
  return sought ? { ...found, missing: new Int32Array(0) } : found
}

/** Maximum number of rows of a table whose keys are looked up in the bounds of slices. */
const MAX_SOUGHT_ROWS = 100_000

/** Reads the values of a key column. `momentType`: type of the column of the grid if dates are compared by time. */
async function readSoughtValues(
  table: Snapshot,
  column: SnapshotColumn,
  momentType: ColumnType | undefined,
): Promise<SoughtValues> {
  const values: unknown[] = []
  for (const chunk of columnChunksOf(table, column))
    for (const value of JSON.parse(`[${await chunk.load()}]`)) values.push(value)
  return momentType
    ? new SoughtValues(
        values.map((value) => parseInstant(String(value))),
        (bounds) => timeLimitsOf(bounds, momentType),
      )
    : new SoughtValues(values)
}

/** Values in order, to be looked up in bounds. */
class SoughtValues {
  private readonly sorted: Float64Array | readonly string[] | undefined

  constructor(
    values: readonly unknown[],
    private readonly toLimits: typeof limitsOf = limitsOf,
  ) {
    if (values.every((value) => typeof value === 'number')) this.sorted = Float64Array.from(values).sort()
    else if (values.every((value) => typeof value === 'string')) this.sorted = [...values].sort()
  }

  /** Returns whether one of the values can be within bounds. */
  canBeIn(bounds: Bounds | undefined): boolean {
    const { sorted } = this
    const limits = bounds && this.toLimits(bounds)
    if (!sorted || sorted.length === 0 || !limits || typeof limits[0] !== typeof sorted[0]) return true
    const [lowest, highest] = limits
    const first = findFirst(sorted.length, (k) => sorted[k] >= lowest)
    return first < sorted.length && sorted[first] <= highest
  }
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
  /** Rows of the grid that are not in the table, if all keys of the grid were read. */
  missing: Int32Array
}

/** Number of rows that are joined without yielding to the event loop. */
const BATCH_ROWS = 16_384

/** Joins rows by the hashes of their keys. */
async function joinRows(tableKeys: KeyIndex, gridKeys: KeyIndex): Promise<MatchedRows> {
  const [rows, gridRows] = [tableKeys.rows, gridKeys.rows]
  // The smaller table is indexed, unless the grid is.
  const isGridIndexed = gridKeys.isIndexed || rows > gridRows
  const [indexed, others] = isGridIndexed ? [gridKeys, tableKeys] : [tableKeys, gridKeys]
  const count = isGridIndexed ? rows : gridRows
  await indexed.prepare()
  const found = new Int32Array(count)
  for (let from = 0; from < count; from += BATCH_ROWS) {
    findAll(indexed, others, from, Math.min(count, from + BATCH_ROWS), found)
    await yieldToEventLoop()
  }
  return isGridIndexed ? listMatches(invert(found, gridRows), found) : listMatches(found, invert(found, rows))
}

/** Looks up the keys of rows [from, to) of `others` in an index: sets the rows with the same keys, or −1. */
function findAll(indexed: KeyIndex, others: KeyIndex, from: number, to: number, found: Int32Array): void {
  for (let row = from; row < to; row++) found[row] = indexed.find(others.hashes, row) ?? -1
}

/** Returns the positions of 0 to `count` in a list without repetitions; −1 for those that it lacks. */
function invert(list: Int32Array, count: number): Int32Array {
  const positions = new Int32Array(count).fill(-1)
  for (let k = 0; k < list.length; k++) if (list[k] >= 0) positions[list[k]] = k
  return positions
}

/** `ofGrid`: the row of the table for each row of the grid, or −1; `ofTable`: the reverse. */
function listMatches(ofGrid: Int32Array, ofTable: Int32Array): MatchedRows {
  const matched: MatchedRows['matched'] = []
  for (let row = 0; row < ofGrid.length; row++) if (ofGrid[row] >= 0) matched.push({ row, from: ofGrid[row] })
  return { matched, added: listUnmatched(ofTable), missing: listUnmatched(ofGrid) }
}

function listUnmatched(matches: Int32Array): Int32Array {
  const rows = new Int32Array(matches.length)
  let count = 0
  for (let k = 0; k < matches.length; k++) if (matches[k] < 0) rows[count++] = k
  return rows.slice(0, count)
}
