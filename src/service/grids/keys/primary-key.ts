// Primary keys of grids: columns that identify a row (docs/keys.md).

import { Problem } from '../../../contract/errors.ts'
import { comparisonOf } from '../../store/schema/column-types.ts'
import { CellReader } from '../column/kernel/cells.ts'
import { formatColumns, largestChunkBytes, type Snapshot } from '../column/snapshot.ts'
import type { DataCall } from '../input/reading-options.ts'
import type { TableNaming } from './index-table-keys.ts'

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
  const different = new Set<string>()
  const duplicate = names.find((name) => different.size === different.add(name).size)
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
  const byName = new Map(columns.map((column) => [column.name, column]))
  return names.map((name) => {
    const match = byName.get(name)
    if (match) return match
    throw new Problem('unknown_column', `${source} has no column ${JSON.stringify(name)}, which is the key`, {
      hint: `${formatColumns(columns)}. Name the columns of the key with --key.`,
    })
  })
}

/**
 * Throws unless the key values of a table are unique and not null (see `checkTableKeys`). No names: there is
 * no key.
 */
export async function checkKey(snap: Snapshot, names: readonly string[], naming: TableNaming): Promise<void> {
  if (names.length === 0) return
  // Most grids have no key.
  const { checkTableKeys } = await import('./index-table-keys.ts')
  const columns = findKeyColumns(snap.columns, names, naming.source)
  const reader = CellReader.open(Math.max(...columns.map(largestChunkBytes)))
  try {
    await checkTableKeys(
      reader,
      snap,
      columns.map((column) => ({ column, comparison: comparisonOf(column.type, column.type) })),
      naming,
    )
  } finally {
    reader.release()
  }
}
