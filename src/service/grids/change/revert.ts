import { Problem } from '../../../contract/errors.ts'
import type { GridRow } from '../../store/aggregates/grids.ts'
import { storeSlice } from '../../store/aggregates/slice-json.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import { primaryKeyUidsOf } from '../../store/schema/primary-key.ts'
import type { Readers, Store } from '../../store/store.ts'
import { type Snapshot, snapshotOf, trimmed } from '../column/content.ts'
import type { Layout, NewColumn } from '../column/layout.ts'
import { checkKey } from '../keys/key.ts'
import { isSame } from './same.ts'

/** A version of a grid as it was read, to be made the present one. */
export interface Reverting {
  row: VersionRow
  snap: Snapshot
}

/** Reads a version. Call it in a read transaction. */
export async function readVersion(store: Store, readers: Readers, row: VersionRow): Promise<Reverting> {
  return { row, snap: await snapshotOf(store, readers, row, row) }
}

/** Throws `bad_data` if the key that a grid has now does not tell the rows of a version apart. */
export async function checkRevertedKey(store: Store, grid: GridRow, { row, snap }: Reverting): Promise<void> {
  const key = primaryKeyUidsOf(grid)
  if (key.length === 0) return
  const whole = await trimmed(snap)
  const columns = whole.columns.filter(({ uid }) => key.includes(uid))
  const source = `version ${row.version}`
  if (columns.length < key.length)
    throw new Problem('bad_data', `${source} lacks a column of the key of the grid`, {
      hint: 'Remove the key first: gridline append GRID --key ""',
    })
  await checkKey(
    { ...whole, blobs: store.blobs, columns },
    columns.map(({ name }) => name),
    { source },
  )
}

/**
 * The columns of a version: its slices, of which at most the last one of each column has to be stored. undefined if the
 * grid has exactly these.
 */
export async function columnsToRevert(
  store: Store,
  { row, snap }: Reverting,
  layout: Layout,
): Promise<NewColumn[] | undefined> {
  const { columns } = await trimmed(snap)
  const wanted: NewColumn[] = []
  for (const { name, uid, type, rows, slices, tail } of columns) {
    const own = [...slices]
    const rest = rows - own.reduce((sum, slice) => sum + slice.rows, 0)
    if (rest > 0) own.push(await storeSlice(store.blobs, row.owner, { rows: rest, text: tail }))
    wanted.push({ name, uid, type, rows, slices: own })
  }
  return (await isSame(store.blobs, wanted, layout.columns, layout.slices)) ? undefined : wanted
}
