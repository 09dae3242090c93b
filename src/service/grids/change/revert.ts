// Reverts a grid to an earlier version.
import { Problem } from '../../../contract/errors.ts'
import type { GridRow } from '../../store/aggregates/grids.ts'
import { storeSlice } from '../../store/aggregates/slice-json.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import { primaryKeyUidsOf } from '../../store/schema/primary-key.ts'
import type { Readers, Store } from '../../store/store.ts'
import type { Layout, NewColumn } from '../column/layout.ts'
import { type Snapshot, takeVersionSnapshot, trimSnapshot } from '../column/snapshot.ts'
import { checkKey } from '../keys/primary-key.ts'
import { hasSameContent } from './same-content.ts'

/** An earlier version of a grid that will become the current one. */
export interface RevertSource {
  row: VersionRow
  snap: Snapshot
}

/** Takes a snapshot of a version in a read transaction. Call `trimSnapshot` before reading its values. */
export async function takeRevertSnapshot(
  store: Store,
  readers: Readers,
  row: VersionRow,
): Promise<RevertSource> {
  return { row, snap: await takeVersionSnapshot(store, readers, row, row) }
}

/** Throws `bad_data` if the current key of the grid is null or not unique in the version. */
export async function checkRevertedKey(
  store: Store,
  grid: GridRow,
  { row, snap }: RevertSource,
): Promise<void> {
  const key = primaryKeyUidsOf(grid)
  if (key.length === 0) return
  const whole = await trimSnapshot(snap)
  const columns = whole.columns.filter(({ uid }) => key.includes(uid))
  const source = `version ${row.version}`
  if (columns.length < key.length)
    throw new Problem('bad_data', `${source} lacks a column of the key of the grid`, {
      hint: 'Remove the key first: gridline column key GRID ""',
    })
  await checkKey(
    { ...whole, blobs: store.blobs, columns },
    columns.map(({ name }) => name),
    { source },
  )
}

/**
 * Returns the columns of a version; undefined if the grid already has the same content. Stores at most one
 * slice per column: the values of its tail, or the first rows of its last slice.
 */
export async function prepareRevertColumns(
  store: Store,
  { row, snap }: RevertSource,
  layout: Layout,
): Promise<NewColumn[] | undefined> {
  const { columns } = await trimSnapshot(snap)
  const versionColumns: NewColumn[] = []
  for (const { name, uid, type, rows, slices, tail } of columns) {
    const ownSlices = [...slices]
    const tailRows = rows - ownSlices.reduce((sum, slice) => sum + slice.rows, 0)
    if (tailRows > 0) ownSlices.push(await storeSlice(store.blobs, row.owner, { rows: tailRows, text: tail }))
    versionColumns.push({ name, uid, type, rows, slices: ownSlices })
  }
  return (await hasSameContent(store.blobs, versionColumns, layout.columns, layout.slices))
    ? undefined
    : versionColumns
}
