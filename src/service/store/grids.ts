import type { Selectable, SelectQueryBuilder } from 'kysely'
import { Problem } from '../../contract/errors.ts'
import { breathe } from '../../json/index.ts'
import { encodeTypes } from './column-types.ts'
import type { Db, Schema } from './schema.ts'
import { tailSum } from './tail-sum.ts'

export type GridRow = Selectable<Schema['grids']>
export type ColumnRow = Selectable<Schema['columns']>
export type TailRow = Selectable<Schema['tail']>

/** A slice: a run of rows of one column, stored as a blob of compressed JSON text. */
export interface SliceRef {
  seq: number
  rows: number
  bytes: number
  hash: string
}

type SliceHashes = SelectQueryBuilder<Schema, 'slices', { hash: string }>

/** Rows per statement: engines limit the number of parameters. */
const BATCH = 2000

/** Identifies the data of a grid, within one version of the file. */
export function stateOfGrid({ layout, row_count, tail_seq }: GridRow): string {
  return `${layout}.${row_count}.${tail_seq}`
}

/** Adds a value to a list of a map. */
function gather<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

function* inBatches<T>(all: readonly T[]): Generator<T[]> {
  for (let k = 0; k < all.length; k += BATCH) yield all.slice(k, k + BATCH)
}

/** Lost columns that are remembered of a grid. */
const MOST_LOST = 1000

/** Columns of grids, their slices, and the tail (rows appended since the last fold). */
export class GridReader {
  constructor(protected readonly db: Db) {}

  async get(owner: string, idlocal: number): Promise<GridRow> {
    const row = await this.db
      .selectFrom('grids')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .executeTakeFirst()
    if (!row) throw new Problem('not_found', 'no such grid, or you may not see it')
    return row
  }

  /** How many rows and columns grids of an owner have. */
  async shapes(
    owner: string,
    idlocals: readonly number[],
  ): Promise<{ idlocal: number; rows: number; columns: number }[]> {
    const found: { idlocal: number; rows: number; columns: number }[] = []
    for (const some of inBatches(idlocals)) {
      const rows = await this.db
        .selectFrom('grids')
        .select(['idlocal', 'row_count', 'types'])
        .where('owner', '=', owner)
        .where('idlocal', 'in', some)
        .execute()
      // One letter for each column.
      found.push(
        ...rows.map(({ idlocal, row_count, types }) => ({ idlocal, rows: row_count, columns: types.length })),
      )
    }
    return found
  }

  /** In column order. */
  columns(owner: string, idlocal: number): Promise<ColumnRow[]> {
    return this.db
      .selectFrom('columns')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .orderBy('position')
      .execute()
  }

  /** Columns that are gone and that plots may refer to. */
  lost(owner: string, idlocal: number): Promise<{ uid: string; name: string }[]> {
    return this.db
      .selectFrom('lost_columns')
      .select(['uid', 'name'])
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  async columnCount(owner: string, idlocal: number): Promise<number> {
    const { count } = await this.db
      .selectFrom('columns')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** Slices by column uid, in row order, of `uids` or of all columns; only the `first` ones of each if given. */
  async slices(
    owner: string,
    idlocal: number,
    uids?: string[],
    first?: number,
  ): Promise<Map<string, SliceRef[]>> {
    if (uids?.length === 0) return new Map()
    let select = this.db
      .selectFrom('slices')
      .select(['uid', 'seq', 'rows', 'bytes', 'hash'])
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
    if (uids && uids.length <= BATCH) select = select.where('uid', 'in', uids)
    if (first !== undefined) select = select.where('seq', '<', first)
    const byColumn = new Map<string, SliceRef[]>()
    for (const { uid, ...slice } of await select.orderBy('uid').orderBy('seq').execute()) {
      const list = byColumn.get(uid)
      if (list) list.push(slice)
      else byColumn.set(uid, [slice])
    }
    return byColumn
  }

  /** The rows that are not in a slice yet. Throws `damaged` if a checksum does not match. */
  async tail(owner: string, idlocal: number): Promise<TailRow[]> {
    const rows = await this.db
      .selectFrom('tail')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .orderBy('seq')
      .execute()
    for (const row of rows) {
      if (row.sum !== tailSum(row))
        throw new Problem(
          'damaged',
          `stored bytes are damaged: appended rows of ${owner}:${idlocal} do not match their checksum`,
        )
    }
    return rows
  }
}

export class GridWriter extends GridReader {
  async add(row: Pick<GridRow, 'owner' | 'idlocal' | 'row_count' | 'ragged' | 'types'>): Promise<void> {
    await this.db
      .insertInto('grids')
      .values({ ...row, layout: 1, tail_rows: 0, tail_bytes: 0, tail_seq: 0 })
      .execute()
  }

  async change(owner: string, idlocal: number, fields: Partial<GridRow>): Promise<void> {
    await this.db
      .updateTable('grids')
      .set(fields)
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  async addColumns(columns: ColumnRow[]): Promise<void> {
    for (let k = 0; k < columns.length; k += BATCH) {
      await breathe()
      await this.db
        .insertInto('columns')
        .values(columns.slice(k, k + BATCH))
        .execute()
    }
  }

  async changeColumn(
    owner: string,
    idlocal: number,
    uid: string,
    fields: Partial<Pick<ColumnRow, 'name' | 'position' | 'type' | 'rows'>>,
  ): Promise<void> {
    if (Object.keys(fields).length === 0) return
    await breathe()
    await this.db
      .updateTable('columns')
      .set(fields)
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('uid', '=', uid)
      .execute()
  }

  /** Changes several columns. Columns that get the same values are changed together. */
  async changeColumns(
    owner: string,
    idlocal: number,
    changes: readonly { uid: string; fields: Partial<Pick<ColumnRow, 'type' | 'rows'>> }[],
  ): Promise<void> {
    const alike = new Map<string, string[]>()
    for (const { uid, fields } of changes) gather(alike, JSON.stringify(fields), uid)
    for (const [fields, uids] of alike) {
      if (fields === '{}') continue
      for (const some of inBatches(uids)) {
        await breathe()
        await this.db
          .updateTable('columns')
          .set(JSON.parse(fields) as Partial<ColumnRow>)
          .where('owner', '=', owner)
          .where('idlocal', '=', idlocal)
          .where('uid', 'in', some)
          .execute()
      }
    }
  }

  /** Remembers the names of columns that are removed: the last `MOST_LOST` of a grid. */
  async addLost(
    owner: string,
    idlocal: number,
    columns: readonly Pick<ColumnRow, 'uid' | 'name'>[],
  ): Promise<void> {
    const rows = columns.slice(0, MOST_LOST).map(({ uid, name }) => ({ owner, idlocal, uid, name }))
    await this.removeLost(
      owner,
      idlocal,
      rows.map(({ uid }) => uid),
    )
    const kept = await this.lost(owner, idlocal)
    const over = kept.length + rows.length - MOST_LOST
    if (over > 0)
      await this.removeLost(
        owner,
        idlocal,
        kept.slice(0, over).map(({ uid }) => uid),
      )
    for (const some of inBatches(rows)) await this.db.insertInto('lost_columns').values(some).execute()
  }

  async removeLost(owner: string, idlocal: number, uids: readonly string[]): Promise<void> {
    for (const some of inBatches(uids))
      await this.db
        .deleteFrom('lost_columns')
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .where('uid', 'in', some)
        .execute()
  }

  /** Removes columns with their slices. */
  async removeColumns(owner: string, idlocal: number, uids: string[]): Promise<void> {
    for (let k = 0; k < uids.length; k += BATCH) {
      await breathe()
      const some = uids.slice(k, k + BATCH)
      await this.letGo((slices) =>
        slices.where('owner', '=', owner).where('idlocal', '=', idlocal).where('uid', 'in', some),
      )
      for (const table of ['columns', 'slices'] as const) {
        await this.db
          .deleteFrom(table)
          .where('owner', '=', owner)
          .where('idlocal', '=', idlocal)
          .where('uid', 'in', some)
          .execute()
      }
    }
  }

  /** Adds slices whose blobs are stored. Throws `overloaded` if a blob has been collected meanwhile. */
  async addSlices(owner: string, idlocal: number, slices: (SliceRef & { uid: string })[]): Promise<void> {
    await this.requireBlobs(slices)
    for (let k = 0; k < slices.length; k += BATCH) {
      await breathe()
      const rows = slices.slice(k, k + BATCH).map((slice) => ({ owner, idlocal, ...slice }))
      await this.db.insertInto('slices').values(rows).execute()
    }
  }

  /** Checks that the blobs exist: a sweep may have collected them if the clock jumped during an upload. */
  private async requireBlobs(slices: readonly SliceRef[]): Promise<void> {
    const hashes = [...new Set(slices.map(({ hash }) => hash))]
    for (let k = 0; k < hashes.length; k += BATCH) {
      await breathe()
      const some = hashes.slice(k, k + BATCH)
      const { count } = await this.db
        .selectFrom('blobs')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('hash', 'in', some)
        .executeTakeFirstOrThrow()
      if (Number(count) < some.length)
        throw new Problem('overloaded', 'stored data was removed before the change was complete', {
          hint: 'Repeat the request.',
        })
    }
  }

  /** Removes the slices of columns, of each from `seq` on. */
  async removeSlices(
    owner: string,
    idlocal: number,
    from: readonly { uid: string; seq: number }[],
  ): Promise<void> {
    const alike = new Map<number, string[]>()
    for (const { uid, seq } of from) gather(alike, seq, uid)
    for (const [seq, uids] of alike)
      for (const some of inBatches(uids)) await this.removeSlicesOf(owner, idlocal, some, seq)
  }

  private async removeSlicesOf(owner: string, idlocal: number, uids: string[], seq: number): Promise<void> {
    await breathe()
    await this.letGo((slices) =>
      slices
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .where('uid', 'in', uids)
        .where('seq', '>=', seq),
    )
    await this.db
      .deleteFrom('slices')
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('uid', 'in', uids)
      .where('seq', '>=', seq)
      .execute()
  }

  /** Keeps the blobs of removed slices for a while: readers may still be using them. */
  private async letGo(chosen: (slices: SliceHashes) => SliceHashes): Promise<void> {
    await this.db
      .updateTable('blobs')
      .set({ stored_at: Date.now() })
      .where('hash', 'in', chosen(this.db.selectFrom('slices').select('hash')))
      .execute()
  }

  async addTail(row: Omit<TailRow, 'sum'>): Promise<void> {
    await this.db
      .insertInto('tail')
      .values({ ...row, sum: tailSum(row) })
      .execute()
  }

  /** Removes tail rows up to and including `seq`. */
  async removeTail(owner: string, idlocal: number, seq: number): Promise<void> {
    await this.db
      .deleteFrom('tail')
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('seq', '<=', seq)
      .execute()
  }

  /** Copies all columns, or those of `uids`, to another file. Slices never change, so they are shared. */
  async copy(
    from: { owner: string; idlocal: number },
    to: { owner: string; idlocal: number },
    uids?: string[],
  ): Promise<void> {
    const all = await this.columns(from.owner, from.idlocal)
    const columns = all.filter(({ uid }) => !uids || uids.includes(uid))
    // Count only the copied columns: others may be longer.
    const row_count = Math.max(0, ...columns.map(({ rows }) => rows))
    const ragged = columns.some(({ rows }) => rows !== row_count) ? 1 : 0
    const types = encodeTypes(columns.map(({ type }) => type))
    await this.add({ ...to, row_count, ragged, types })
    await this.addColumns(columns.map((column, position) => ({ ...column, ...to, position })))
    const slices = await this.slices(from.owner, from.idlocal, uids)
    await this.addSlices(
      to.owner,
      to.idlocal,
      [...slices].flatMap(([uid, list]) => list.map((slice) => ({ ...slice, uid }))),
    )
  }
}
