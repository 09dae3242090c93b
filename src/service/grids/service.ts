import type { Fid } from '../../contract/fid.ts'
import type { Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { WriteKey } from '../store/aggregates/idempotency.ts'
import type { Store } from '../store/store.ts'
import type { RowText } from './column/tail.ts'

/** A request to append rows to a grid. */
export interface Append {
  fid: Fid
  principal: Principal
  write: WriteKey
  ifMatch: string | undefined
  /** Why the rows are appended: they are a version of their own. */
  message?: string
  bodies: RowText[]
  /** Number of values per row. */
  width: number
  /** Types of the values by column, encoded as in `column-types.ts`. */
  types: string
  /** Whether values may change the type of a column. Otherwise they fail with `type_change`. */
  mayChangeTypes: boolean
  /** The columns that the values were matched to, if known. */
  columns?: readonly { uid: string; name: string }[]
}

export interface Appended {
  rows_added: number
  row_count: number
  /** The version of the grid that has the rows. */
  version: number
}

/** The store, and the queue of appends to its grids. */
export interface AppendStore {
  store: Store
  appends: {
    /** Resolves when the rows are on disk; with undefined if they need a plan. */
    add(append: Append): Promise<Appended | undefined>
    /** Runs `work` while appends to the grid wait. */
    hold<T>(fid: Fid, work: () => Promise<T>): Promise<T>
  }
}

/** The service, with the queue of appends. */
export interface GridService extends Service, AppendStore {
  /** The uids of the columns of a grid that plots of its owner use. */
  plotColumns(fid: Fid): Promise<string[]>
}
