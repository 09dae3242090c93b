// Interfaces of the grid service: appends, and the queue that groups them.

import type { Fid } from '../../contract/fid.ts'
import type { Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { WriteKey } from '../store/aggregates/idempotency.ts'
import type { ColumnType } from '../store/schema/schema.ts'
import type { Store } from '../store/store.ts'
import type { RowsJson } from './column/tail.ts'

/** A request to append rows to a grid. */
export interface Append {
  fid: Fid
  principal: Principal
  write: WriteKey
  ifMatch: string | undefined
  /** Message of the version. Rows with a message begin a new version. */
  message?: string
  bodies: RowsJson[]
  /** Number of values per row. */
  width: number
  /** Types of the values by column, encoded as in `column-types.ts`. */
  types: string
  /** True if values may change the type of a column. If not, they fail with `type_change`. */
  mayChangeTypes: boolean
  /** Columns that the values were matched to. If they have changed, the append fails with `conflict`. */
  columns?: readonly { uid: string; name: string }[]
  /** Columns like which cells of a file were read. */
  readLike?: readonly { uid: string; name: string; type: ColumnType }[]
}

/** Result of an append. */
export interface Appended {
  rows_added: number
  row_count: number
  /** Version of the grid that contains the rows. */
  version: number
}

/** The store, and the queue of appends to its grids. */
export interface AppendStore {
  store: Store
  appends: {
    /** Resolves when the rows are on disk. Resolves to undefined if the append needs a plan (`needsPlan`). */
    add(append: Append): Promise<Appended | undefined>
    /** Runs `work` while appends to the grid wait. One at a time for each grid. */
    pauseWhile<T>(fid: Fid, work: () => Promise<T>): Promise<T>
  }
}

/** The service, with the queue of appends. */
export interface GridService extends Service, AppendStore {
  /** Lists the uids of columns that plots of the owner use. */
  plotColumns(fid: Fid): Promise<string[]>
}
