/** The key of a grid: columns whose values tell its rows apart. See docs/primary-keys.md. */

import { Problem } from '../../../contract/errors.ts'
import { formatList } from '../../../contract/message-texts.ts'
import { Work } from '../../../json/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import { columnsAre, longestText, type Snapshot, type SnapshotColumn } from '../column/content.ts'
import { CellReader } from '../column/kernel/cells.ts'
import { ChunkedTable } from '../diff/chunks.ts'
import { faultText, indexKeys, type KeyFault, type KeyIndex } from '../diff/keys.ts'
import type { DataCall } from '../given/reading-options.ts'

/** The columns that a request names as key: none removes it; undefined if it names none. */
export function givenKey({ headers }: Pick<DataCall, 'headers'>): string[] | undefined {
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
  const twice = names.find((name, k) => names.indexOf(name) < k)
  if (twice !== undefined)
    throw new Problem('invalid_request', `Key: ${JSON.stringify(twice)} is named twice`, { field: 'Key' })
  return names
}

/** The columns with these names. Throws `unknown_column`. */
export function namedColumns<C extends { name: string }>(
  columns: readonly C[],
  names: readonly string[],
  source: string,
): C[] {
  return names.map((name) => {
    const found = columns.find((column) => column.name === name)
    if (found) return found
    throw new Problem('unknown_column', `${source} has no column ${JSON.stringify(name)}, which is the key`, {
      hint: `${columnsAre(columns)}. Name the columns of the key with --key.`,
    })
  })
}

/** Indexes all rows of a table by their keys. Throws `bad_data` with the rows that have none or the same. */
export async function keysOf(
  reader: CellReader,
  snap: Snapshot,
  key: readonly { column: SnapshotColumn; asText: boolean }[],
  told: { source: string; lineOf?: (row: number) => number },
): Promise<KeyIndex> {
  const work = new Work()
  const table = new ChunkedTable(
    snap,
    key.map(({ column }) => column),
    work,
  )
  const { source, lineOf } = told
  const columns = key.map(({ column: { name }, asText }, column) => ({ column, name, asText }))
  const problem = (fault: KeyFault): Problem => {
    const text = lineOf ? faultText(fault, 'line', lineOf) : faultText(fault, 'row', (row) => row + 1)
    return new Problem(lineOf ? 'bad_data' : 'bad_keys', `${source}: ${text}`, {
      line: lineOf?.(fault.rows[0]),
      column: key[0].column.name,
      hint: `A key is never null, and no two rows have the same. The key is: ${formatList(columns.map(({ name }) => name))}`,
    })
  }
  return indexKeys(reader, table, columns, table.choose(table.chunks), problem, work)
}

/** Throws unless the columns of these names tell the rows of a table apart. */
export async function checkKey(
  snap: Snapshot,
  names: readonly string[],
  told: Parameters<typeof keysOf>[3],
): Promise<void> {
  if (names.length === 0) return
  const columns = namedColumns(snap.columns, names, told.source)
  const reader = CellReader.open(Math.max(...columns.map(longestText)))
  try {
    await keysOf(
      reader,
      snap,
      columns.map((column) => ({ column, asText: false })),
      told,
    )
  } finally {
    reader.release()
  }
}

/** Whether one column has numbers that are texts in the other. */
export function isOfOtherKind(a: SnapshotColumn, b: SnapshotColumn): boolean {
  const [one, other] = [familyOf(a.type), familyOf(b.type)]
  const isText = (family: string): boolean => ['text', 'date', 'datetime', 'empty'].includes(family)
  return one !== other && !(isText(one) && isText(other))
}
