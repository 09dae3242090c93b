// Indexes the rows of a table by key (docs/keys.md).

import { Problem } from '../../../contract/errors.ts'
import { formatList } from '../../../contract/message-texts.ts'
import { WorkBudget } from '../../../json/index.ts'
import type { Comparison } from '../../store/schema/column-types.ts'
import type { ColumnChunk } from '../column/chunks.ts'
import type { CellReader } from '../column/kernel/cells.ts'
import type { RowGroup } from '../column/row-groups.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import {
  areKeysAscending,
  formatKeyFault,
  indexKeys,
  type KeyColumn,
  type KeyFault,
  type KeyIndex,
} from '../diff/keys.ts'
import { GroupedTable } from '../diff/row-groups.ts'

/** Name of a table in messages, and the line of a row if it is a file. */
export interface TableNaming {
  source: string
  lineOf?: (row: number) => number
}

/** A key column of a table. */
interface TableKey {
  column: SnapshotColumn
  comparison: Comparison
}

/** Keys of a table. `rowOf`: returns the row of the table for a row of the index. */
export interface TableKeys {
  index: KeyIndex
  rowOf: (index: number) => number
}

/**
 * Indexes the rows of a table by key: all of them, or those of the row groups that `isNeeded`. `chunks`: those of each key
 * column. If a key is null or not unique, throws `bad_data` (file) or `bad_keys` (grid).
 */
export async function indexTableKeys(
  reader: CellReader,
  snap: Snapshot,
  key: readonly TableKey[],
  naming: TableNaming,
  isNeeded?: (group: RowGroup, chunks: readonly (readonly ColumnChunk[])[]) => boolean,
): Promise<TableKeys> {
  const opened = openKeyTable(snap, key)
  const { table } = opened
  if (isNeeded) table.choose(table.rowGroups.filter((group) => isNeeded(group, table.chunks)))
  const index = await indexRows(reader, opened, naming)
  return { index, rowOf: isNeeded ? (row) => table.rowOf(row) : (row) => row }
}

function indexRows(
  reader: CellReader,
  { table, columns, work }: KeyTable,
  naming: TableNaming,
): Promise<KeyIndex> {
  const { source, lineOf } = naming
  const problem = (fault: KeyFault): Problem => {
    const text = lineOf
      ? formatKeyFault(fault, 'line', lineOf)
      : formatKeyFault(fault, 'row', (row) => row + 1)
    return new Problem(lineOf ? 'bad_data' : 'bad_keys', `${source}: ${text}`, {
      line: lineOf?.(fault.rows[0]),
      column: columns[0].name,
      hint: `Key values must be unique and not null. The key is: ${formatList(columns.map(({ name }) => name))}`,
    })
  }
  return indexKeys(reader, table, columns, problem, work)
}

/** Throws as `indexTableKeys` does. Ascending keys are not indexed. */
export async function checkTableKeys(
  reader: CellReader,
  snap: Snapshot,
  key: readonly TableKey[],
  naming: TableNaming,
): Promise<void> {
  const opened = openKeyTable(snap, key)
  if (!(await areKeysAscending(reader, opened.table, opened.columns))) await indexRows(reader, opened, naming)
}

/** The key columns of a table, of which all rows are chosen. */
interface KeyTable {
  table: GroupedTable
  columns: readonly KeyColumn[]
  work: WorkBudget
}

function openKeyTable(snap: Snapshot, key: readonly TableKey[]): KeyTable {
  const work = new WorkBudget()
  const table = new GroupedTable(
    snap,
    key.map(({ column }) => column),
    work,
  )
  table.choose(table.rowGroups)
  const columns = key.map(({ column: { name }, comparison }, column) => ({ column, name, comparison }))
  return { table, columns, work }
}
