// Primary keys of grids: columns that identify a row (docs/keys.md).

import { Problem } from '../../../contract/errors.ts'
import { formatList } from '../../../contract/message-texts.ts'
import { WorkBudget } from '../../../json/index.ts'
import { CellReader } from '../column/kernel/cells.ts'
import { formatColumns, largestChunkBytes, type Snapshot, type SnapshotColumn } from '../column/snapshot.ts'
import { formatKeyFault, indexKeys, type KeyFault, type KeyIndex } from '../diff/keys.ts'
import { GroupedTable } from '../diff/row-groups.ts'
import type { DataCall } from '../input/reading-options.ts'

/** Parses the header `Key`: column names, [] to remove the key, undefined without the header. */
export function parseKeyHeader({ headers }: Pick<DataCall, 'headers'>): string[] | undefined {
  const text = headers.Key
  if (text === undefined) return undefined
  const names = text
    .split(',')
    .map((name) => {
      try {
        return decodeURIComponent(name).trim()
      } catch {
        throw new Problem('invalid_request', 'Key: not percent-encoded text', { field: 'Key' })
      }
    })
    .filter((name) => name !== '')
  const duplicate = names.find((name, k) => names.indexOf(name) < k)
  if (duplicate !== undefined)
    throw new Problem('invalid_request', `Key: ${JSON.stringify(duplicate)} is named twice`, { field: 'Key' })
  return names
}

/** Finds key columns by name. `source`: the table in messages. Throws `unknown_column`. */
export function findKeyColumns<C extends { name: string }>(
  columns: readonly C[],
  names: readonly string[],
  source: string,
): C[] {
  return names.map((name) => {
    const match = columns.find((column) => column.name === name)
    if (match) return match
    throw new Problem('unknown_column', `${source} has no column ${JSON.stringify(name)}, which is the key`, {
      hint: `${formatColumns(columns)}. Name the columns of the key with --key.`,
    })
  })
}

/**
 * Indexes all rows of a table by key. If a key is null or not unique, throws `bad_data` (file) or `bad_keys`
 * (grid).
 */
export async function indexTableKeys(
  reader: CellReader,
  snap: Snapshot,
  key: readonly { column: SnapshotColumn; asText: boolean }[],
  naming: { source: string; lineOf?: (row: number) => number },
): Promise<KeyIndex> {
  const work = new WorkBudget()
  const table = new GroupedTable(
    snap,
    key.map(({ column }) => column),
    work,
  )
  const { source, lineOf } = naming
  const columns = key.map(({ column: { name }, asText }, column) => ({ column, name, asText }))
  const problem = (fault: KeyFault): Problem => {
    const text = lineOf
      ? formatKeyFault(fault, 'line', lineOf)
      : formatKeyFault(fault, 'row', (row) => row + 1)
    return new Problem(lineOf ? 'bad_data' : 'bad_keys', `${source}: ${text}`, {
      line: lineOf?.(fault.rows[0]),
      column: key[0].column.name,
      hint: `Key values must be unique and not null. The key is: ${formatList(columns.map(({ name }) => name))}`,
    })
  }
  table.choose(table.rowGroups)
  return indexKeys(reader, table, columns, problem, work)
}

/**
 * Throws unless the key values of a table are unique and not null (see `indexTableKeys`). No names: there is
 * no key.
 */
export async function checkKey(
  snap: Snapshot,
  names: readonly string[],
  naming: Parameters<typeof indexTableKeys>[3],
): Promise<void> {
  if (names.length === 0) return
  const columns = findKeyColumns(snap.columns, names, naming.source)
  const reader = CellReader.open(Math.max(...columns.map(largestChunkBytes)))
  try {
    await indexTableKeys(
      reader,
      snap,
      columns.map((column) => ({ column, asText: false })),
      naming,
    )
  } finally {
    reader.release()
  }
}
