import type { Fid } from '../../../contract/fid.ts'
import type { FirstValue } from '../../../ingest/index.ts'
import { type ColumnRow, type GridRow, isLocked, type SliceRef } from '../../store/aggregates/grids.ts'
import type { Readers, Store } from '../../store/store.ts'
import type { Snapshot } from './content.ts'
import type { ColumnType } from './values.ts'

/** Columns and slices of a grid, read in one transaction. */
export interface Layout {
  grid: GridRow
  columns: ColumnRow[]
  slices: Map<string, SliceRef[]>
}

/** Reads the columns and slices of a grid. Throws `not_found` if there is no such grid. */
export async function readLayout({ grids }: Readers, { owner, idlocal }: Fid): Promise<Layout> {
  return {
    grid: await grids.get(owner, idlocal),
    columns: await grids.listColumns(owner, idlocal),
    slices: await grids.listSlices(owner, idlocal),
  }
}

/** Returns whether a grid still has the layout that was read before, and no change other than `by` holds it. */
export function hasLayout(now: GridRow, before: GridRow, by: string | undefined): boolean {
  return now.layout === before.layout && !isLocked(now, by)
}

/** A column whose values are stored, but that is not part of a grid yet. */
export interface NewColumn {
  name: string
  /** Uid to keep: replacing a column under the same name keeps its uid. */
  uid?: string
  type: ColumnType
  rows: number
  slices: SliceRef[]
  /** The first value of each type, for messages. */
  seen?: readonly FirstValue[]
}

/** The columns and slices of a grid, to be read. */
export function snapshotOfLayout({ blobs }: Store, { grid, columns, slices }: Layout): Snapshot {
  return {
    blobs,
    rows: grid.row_count,
    columns: columns.map(({ name, uid, position, type, rows }) => ({
      name,
      uid,
      order: position,
      type,
      rows,
      slices: slices.get(uid) ?? [],
      tail: Buffer.alloc(0),
    })),
  }
}
