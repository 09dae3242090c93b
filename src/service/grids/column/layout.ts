// Column layout of a grid: its columns and their slices.
import type { Fid } from '../../../contract/fid.ts'
import type { FirstValue } from '../../../ingest/index.ts'
import type { Judgement } from '../../store/aggregates/alerts.ts'
import { type ColumnRow, type GridRow, isLocked, type SliceRef } from '../../store/aggregates/grids.ts'
import type { Readers, Store } from '../../store/store.ts'
import type { ColumnType } from './column-json.ts'
import { type Snapshot, toSnapshotColumn } from './snapshot.ts'

/** Columns and slices of a grid, read in one transaction. `slices`: by uid of the column. */
export interface Layout {
  grid: GridRow
  columns: ColumnRow[]
  slices: Map<string, SliceRef[]>
  /** Judgements of the alerts on the content of a plan, if the grid has any. */
  judgements?: ReadonlyMap<string, Judgement>
}

/** Loads the columns and slices of a grid. Throws `not_found` if the grid does not exist. */
export async function loadLayout({ grids }: Readers, { owner, idlocal }: Fid): Promise<Layout> {
  return {
    grid: await grids.get(owner, idlocal),
    columns: await grids.listColumns(owner, idlocal),
    slices: await grids.listSlices(owner, idlocal),
  }
}

/**
 * Returns whether a grid still has the layout of `before`, and no change other than `by` holds its layout
 * lock.
 */
export function isLayoutUnchanged(now: GridRow, before: GridRow, by: string | undefined): boolean {
  return now.layout === before.layout && !isLocked(now, by)
}

/** A column with stored slices that is not part of a grid yet. */
export interface NewColumn {
  name: string
  /** Existing uid to keep. A new uid is assigned without it. */
  uid?: string
  type: ColumnType
  rows: number
  slices: SliceRef[]
  /** The first value of each type, for messages. */
  seen?: readonly FirstValue[]
}

/** Creates a snapshot of a layout. It contains no tail: the tail must be empty. */
export function createLayoutSnapshot({ blobs }: Store, { grid, columns, slices }: Layout): Snapshot {
  return { blobs, rows: grid.row_count, columns: columns.map((column) => toSnapshotColumn(column, slices)) }
}
