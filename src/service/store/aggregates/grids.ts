// Reads grids: columns, slices and tail rows.
import type { Selectable } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import type { Bounds } from '../../../ingest/slices.ts'
import type { BlobRef } from '../objects/blobs.ts'
import { decodeTypes } from '../schema/column-types.ts'
import { addToList, inBatches } from '../schema/row-groups.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { computeTailChecksum } from '../schema/tail-checksum.ts'

export type GridRow = Selectable<Schema['grids']>
export type TailRow = Selectable<Schema['tail']>

const COLUMN_FIELDS = ['uid', 'position', 'name', 'type', 'rows', 'since'] as const

export type ColumnRow = Pick<Selectable<Schema['columns']>, (typeof COLUMN_FIELDS)[number]>

/** A slice: consecutive rows of one column as compressed JSON. A blob has one slice, or is a pack of several. */
export interface SliceRef {
  seq: number
  rows: number
  bytes: number
  blob: BlobRef
  /** Offset in the text of a pack, a blob of several slices; undefined if the blob is this slice. */
  packOffset: number | undefined
  /** Lowest value, highest value and number of nulls; undefined for old slices without them. */
  bounds?: Bounds
  /** Whether the slices of other columns end at the same row (ingest/values/slice-ends.ts). */
  ended?: boolean
}

/** A grid, and the epoch of a change to it: the current one if no data is lost, otherwise the next. */
export interface GridEpoch {
  owner: string
  idlocal: number
  epoch: number
}

export const SLICE_FIELDS = [
  'owner',
  'uid',
  'seq',
  'rows',
  'bytes',
  'hash',
  'pack_offset',
  'low',
  'high',
  'nulls',
  'ended',
] as const

type SliceRow = Pick<Selectable<Schema['slices']>, (typeof SLICE_FIELDS)[number]>

/** Converts a row of the database to a slice. */
export function sliceRefOf(row: SliceRow): SliceRef {
  const { owner, seq, rows, bytes, hash, low, high, nulls, ended } = row
  const bounds = nulls === null ? undefined : { low: low ?? undefined, high: high ?? undefined, nulls }
  const packOffset = row.pack_offset ?? undefined
  return { seq, rows, bytes, blob: { owner, hash }, packOffset, bounds, ended: ended === 1 }
}

/** Converts a slice to a row of the database. */
export function sliceRowOf({
  uid,
  seq,
  rows,
  bytes,
  blob: { hash },
  packOffset,
  bounds,
  ended,
}: SliceRef & { uid: string }): Omit<SliceRow, 'owner'> & { ended: number } {
  const { low = null, high = null, nulls = null } = bounds ?? {}
  return {
    uid,
    seq,
    rows,
    bytes,
    hash,
    pack_offset: packOffset ?? null,
    low,
    high,
    nulls,
    ended: ended ? 1 : 0,
  }
}

/** Returns a key of the values of a slice: slices of an owner with the same key have the same values. */
export function contentKeyOf({
  blob: { hash },
  packOffset,
  bytes,
}: Pick<SliceRef, 'blob' | 'bytes'> & { packOffset?: number }): string {
  return packOffset === undefined ? hash : `${hash}+${packOffset}+${bytes}`
}

/** Rows per statement: engines limit the number of parameters. */
const BATCH_ROWS = 2000

/** Returns a fingerprint of a grid's data, unique within one version of the file. */
export function fingerprintOfGrid({ layout, row_count, tail_seq }: GridRow): string {
  return `${layout}.${row_count}.${tail_seq}`
}

/** Returns whether a change other than `by` holds the layout lock of a grid. */
export function isLocked({ held_by, held_until }: GridRow, by?: string): boolean {
  return held_until > Date.now() && held_by !== by
}

/** Reads columns of grids, their slices, and the tail: appended rows that are not yet flushed to slices. */
export class GridReader {
  constructor(protected readonly db: Db) {}

  /** Returns a grid. Throws `not_found` if it does not exist. */
  async get(owner: string, idlocal: number): Promise<GridRow> {
    const row = await this.db
      .selectFrom('grids')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirst()
    if (!row) throw new Problem('not_found', 'no such grid, or you may not see it')
    return row
  }

  /** Lists the numbers of rows and columns of several grids of one owner. */
  async listShapes(
    owner: string,
    idlocals: readonly number[],
  ): Promise<{ idlocal: number; rows: number; columns: number }[]> {
    const result: { idlocal: number; rows: number; columns: number }[] = []
    for (const batch of inBatches(idlocals, BATCH_ROWS)) {
      const rows = await this.db
        .selectFrom('grids')
        .select(['idlocal', 'row_count', 'types'])
        .where('owner', '=', owner)
        .where('idlocal', 'in', batch)
        .execute()
      // `types` has one letter per column.
      result.push(
        ...rows.map(({ idlocal, row_count, types }) => ({ idlocal, rows: row_count, columns: types.length })),
      )
    }
    return result
  }

  /** Lists the columns of a grid, in column order. */
  listColumns(owner: string, idlocal: number): Promise<ColumnRow[]> {
    return this.db
      .selectFrom('columns')
      .select(COLUMN_FIELDS)
      .where(({ and }) => and({ owner, idlocal }))
      .orderBy('position')
      .execute()
  }

  /** Lists the columns of a grid with the types of all their values: column rows have those of the slices. */
  async listCurrentColumns({ owner, idlocal, types }: GridRow): Promise<ColumnRow[]> {
    const current = decodeTypes(types)
    const columns = await this.listColumns(owner, idlocal)
    for (const [k, column] of columns.entries()) column.type = current[k] ?? column.type
    return columns
  }

  /** Lists removed columns that plots may still refer to. */
  listRemovedColumns(owner: string, idlocal: number): Promise<{ uid: string; name: string }[]> {
    return this.db
      .selectFrom('lost_columns')
      .select(['uid', 'name'])
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }

  async countColumns(owner: string, idlocal: number): Promise<number> {
    const { count } = await this.db
      .selectFrom('columns')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** Lists slices by column uid, in row order: of all columns or `uids`, and only the `first` of each. */
  async listSlices(
    owner: string,
    idlocal: number,
    uids?: string[],
    first?: number,
  ): Promise<Map<string, SliceRef[]>> {
    if (uids?.length === 0) return new Map()
    let select = this.db
      .selectFrom('slices')
      .select(SLICE_FIELDS)
      .where(({ and }) => and({ owner, idlocal }))
    if (uids && uids.length <= BATCH_ROWS) select = select.where('uid', 'in', uids)
    if (first !== undefined) select = select.where('seq', '<', first)
    const byColumn = new Map<string, SliceRef[]>()
    for (const row of await select.orderBy('uid').orderBy('seq').execute())
      addToList(byColumn, row.uid, sliceRefOf(row))
    return byColumn
  }

  /** Loads the rows that are not yet in slices. Throws `damaged` if a checksum does not match. */
  async loadTail(owner: string, idlocal: number): Promise<TailRow[]> {
    const rows = await this.db
      .selectFrom('tail')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
      .orderBy('seq')
      .execute()
    for (const row of rows) {
      if (row.sum !== computeTailChecksum(row))
        throw new Problem(
          'damaged',
          `stored bytes are damaged: appended rows of ${owner}:${idlocal} do not match their checksum`,
        )
    }
    return rows
  }
}
