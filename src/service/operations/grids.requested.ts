// What a request for the content of a grid names: options, and the version of the grid.
import type { AuthorizedFile } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { loadVersionRow } from '../files/versions.ts'
import { type Snapshot, takeVersionSnapshot } from '../grids/column/snapshot.ts'
import type { ContentFormat } from '../grids/read/content-formats.ts'
import type { RowQuery } from '../grids/read/selection.ts'
import type { ReshapeQuery } from '../grids/reshape/index.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { Readers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

/** Options of a grid download. */
export interface ContentOptions extends RowQuery, ReshapeQuery {
  format?: ContentFormat | 'api'
  columns?: string[]
}

/** Takes a snapshot of the requested version of the grid in the path. `choose` selects columns. */
export async function takeRequestedSnapshot(
  { store }: Service,
  readers: Readers,
  access: AuthorizedFile,
  call: Call,
  choose?: (columns: ColumnRow[]) => ColumnRow[],
): Promise<Snapshot> {
  const row = await loadVersionRow(readers, access, call.version)
  return takeVersionSnapshot(store, readers, call.fid, row, choose)
}
