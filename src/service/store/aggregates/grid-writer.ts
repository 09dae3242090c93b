// Writes grids: columns, slices and tail rows. Earlier epochs keep what changes replace.
import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { yieldToEventLoop } from '../../../json/index.ts'
import { addBlobReferences, markUnreferenced } from '../objects/blob-references.ts'
import { encodeTypes } from '../schema/column-types.ts'
import { createInserter } from '../schema/insert-rows.ts'
import { primaryKeyUidsOf } from '../schema/primary-key.ts'
import { addToList, inBatches } from '../schema/row-groups.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { computeTailChecksum } from '../schema/tail-checksum.ts'
import {
  type ColumnRow,
  contentKeyOf,
  type GridEpoch,
  GridReader,
  type GridRow,
  SLICE_FIELDS,
  type SliceRef,
  sliceRowOf,
  type TailRow,
} from './grids.ts'
import type { UsageWriter } from './usage.ts'

type SomeSlices = SelectQueryBuilder<Schema, 'slices', object>

const PAST_SLICE_FIELDS = ['idlocal', 'since', ...SLICE_FIELDS] as const

const PAST_COLUMN_FIELDS = ['owner', 'idlocal', 'uid', 'since', 'position', 'name'] as const

/** Rows per statement: engines limit the number of parameters. */
const BATCH_ROWS = 2000

/** Maximum number of removed columns remembered per grid. */
const MAX_REMOVED_COLUMNS = 1000

const insertColumns = createInserter('columns')
const insertLostColumns = createInserter('lost_columns')
const insertSlices = createInserter('slices')

/** The slices of a column before and after a change. */
export interface SliceChange {
  uid: string
  before: readonly SliceRef[]
  after: readonly SliceRef[]
}

/** Returns the range of positions, end excluded, where two lists of slices differ. */
function changedRange(before: readonly SliceRef[], after: readonly SliceRef[]): [number, number] {
  const isSame = (k: number): boolean =>
    contentKeyOf(before[k]) === contentKeyOf(after[k]) &&
    before[k].rows === after[k].rows &&
    before[k].seq === k
  const common = Math.min(before.length, after.length)
  let from = 0
  while (from < common && isSame(from)) from++
  if (before.length !== after.length) return [from, Math.max(before.length, after.length)]
  // Slices behind a change keep their positions if their number stays the same.
  let to = common
  while (to > from && isSame(to - 1)) to--
  return [from, to]
}

export class GridWriter extends GridReader {
  constructor(
    db: Db,
    private readonly usage: UsageWriter,
  ) {
    super(db)
  }

  /** Adds a grid without columns, and reserves quota for its rows. */
  async add(row: Pick<GridRow, 'owner' | 'idlocal' | 'row_count' | 'ragged' | 'types'>): Promise<void> {
    await this.usage.reserve(row.owner, { rows: row.row_count })
    await this.db
      .insertInto('grids')
      .values({
        ...row,
        layout: 1,
        tail_rows: 0,
        tail_bytes: 0,
        tail_seq: 0,
        appended_by: null,
        appended_since: null,
      })
      .execute()
  }

  /** Takes or renews the layout lock of a grid until `until`. Returns false if another change holds it. */
  async acquireLock(
    owner: string,
    idlocal: number,
    held_by: string,
    now: number,
    until: number,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('grids')
      .set({ held_by, held_until: until })
      .where(({ and }) => and({ owner, idlocal }))
      .where(({ or, eb }) => or([eb('held_until', '<', now), eb('held_by', '=', held_by)]))
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** Changes fields of a grid, and reserves quota for added rows. */
  async change(owner: string, idlocal: number, fields: Partial<GridRow>): Promise<void> {
    if (fields.row_count !== undefined && this.usage.hasRowLimit(owner)) {
      const rows = fields.row_count - (await this.get(owner, idlocal)).row_count
      if (rows > 0) await this.usage.reserve(owner, { rows })
      else this.usage.forgetUsageOf(owner)
    }
    await this.changeWithoutQuota(owner, idlocal, fields)
  }

  /** Like `change`, but without a quota check: an append has already checked it. */
  async changeWithoutQuota(owner: string, idlocal: number, fields: Partial<GridRow>): Promise<void> {
    await this.db
      .updateTable('grids')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }

  async addColumns(columns: Selectable<Schema['columns']>[]): Promise<void> {
    await insertColumns(this.db, columns)
  }

  /** Changes a column. Earlier epochs keep its name and position. */
  async changeColumn(
    { owner, idlocal, epoch }: GridEpoch,
    uid: string,
    fields: Partial<Pick<ColumnRow, 'name' | 'position' | 'type' | 'rows'>>,
  ): Promise<void> {
    if (Object.keys(fields).length === 0) return
    await yieldToEventLoop()
    if (fields.name !== undefined || fields.position !== undefined) {
      await this.keepPastColumns({ owner, idlocal, epoch }, [uid])
      await this.db
        .updateTable('columns')
        .set({ since: epoch })
        .where(({ and }) => and({ owner, idlocal, uid }))
        .where('since', '<', epoch)
        .execute()
    }
    await this.db
      .updateTable('columns')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal, uid }))
      .execute()
  }

  /** Changes several columns, with one statement per set of equal values. */
  async changeColumns(
    owner: string,
    idlocal: number,
    changes: readonly { uid: string; fields: Partial<Pick<ColumnRow, 'type' | 'rows'>> }[],
  ): Promise<void> {
    const groups = new Map<string, { fields: Partial<ColumnRow>; uids: string[] }>()
    for (const { uid, fields } of changes) {
      const key = JSON.stringify(fields)
      const group = groups.get(key)
      if (group) group.uids.push(uid)
      else if (key !== '{}') groups.set(key, { fields, uids: [uid] })
    }
    for (const { fields, uids } of groups.values())
      for (const batch of inBatches(uids, BATCH_ROWS)) {
        await yieldToEventLoop()
        await this.db
          .updateTable('columns')
          .set(fields)
          .where(({ and }) => and({ owner, idlocal }))
          .where('uid', 'in', batch)
          .execute()
      }
  }

  /** Remembers the names of removed columns, up to a maximum per grid. */
  async rememberRemoved(
    owner: string,
    idlocal: number,
    columns: readonly Pick<ColumnRow, 'uid' | 'name'>[],
  ): Promise<void> {
    const rows = columns.slice(0, MAX_REMOVED_COLUMNS).map(({ uid, name }) => ({ owner, idlocal, uid, name }))
    const uids = rows.map(({ uid }) => uid)
    await this.forgetRemoved(owner, idlocal, uids)
    const remembered = await this.listRemovedColumns(owner, idlocal)
    const surplus = remembered.length + rows.length - MAX_REMOVED_COLUMNS
    const oldest = remembered.slice(0, Math.max(0, surplus)).map(({ uid }) => uid)
    await this.forgetRemoved(owner, idlocal, oldest)
    await insertLostColumns(this.db, rows)
  }

  async forgetRemoved(owner: string, idlocal: number, uids: readonly string[]): Promise<void> {
    for (const batch of inBatches(uids, BATCH_ROWS))
      await this.db
        .deleteFrom('lost_columns')
        .where(({ and }) => and({ owner, idlocal }))
        .where('uid', 'in', batch)
        .execute()
  }

  /** Removes columns and their slices. Earlier epochs keep them. */
  async removeColumns({ owner, idlocal, epoch }: GridEpoch, uids: readonly string[]): Promise<void> {
    for (const batch of inBatches(uids, BATCH_ROWS)) {
      await yieldToEventLoop()
      await this.keepPastColumns({ owner, idlocal, epoch }, batch)
      await this.keepPastSlices({ owner, idlocal, epoch }, (slices) => slices.where('uid', 'in', batch))
      for (const table of ['columns', 'slices'] as const) {
        await this.db
          .deleteFrom(table)
          .where(({ and }) => and({ owner, idlocal }))
          .where('uid', 'in', batch)
          .execute()
      }
    }
  }

  /** Adds slices whose blobs are stored. Throws `overloaded` if a blob was collected in the meantime. */
  async addSlices(
    { owner, idlocal, epoch }: GridEpoch,
    slices: (SliceRef & { uid: string })[],
  ): Promise<void> {
    await this.usage.reserve(owner, { bytes: slices.reduce((sum, { bytes }) => sum + bytes, 0) })
    const blobs = slices.map(({ blob }) => blob)
    await addBlobReferences(this.db, owner, blobs)
    await insertSlices(
      this.db,
      slices.map((slice) => ({ owner, idlocal, since: epoch, ...sliceRowOf(slice) })),
    )
  }

  /**
   * Replaces the slices of columns by `after`, whose blobs are stored. Slices that are equal at the same position stay.
   * Earlier epochs keep those that are removed.
   */
  async replaceSlices(of: GridEpoch, columns: readonly SliceChange[]): Promise<void> {
    const removed = new Map<string, string[]>()
    const added: (SliceRef & { uid: string })[] = []
    for (const { uid, before, after } of columns) {
      const [from, to] = changedRange(before, after)
      if (from < Math.min(to, before.length)) addToList(removed, `${from}:${to}`, uid)
      for (let seq = from; seq < Math.min(to, after.length); seq++) added.push({ ...after[seq], uid, seq })
    }
    for (const [range, uids] of removed) {
      const [from, to] = range.split(':').map(Number)
      for (const some of inBatches(uids, BATCH_ROWS)) {
        await yieldToEventLoop()
        await this.keepPastSlices(of, (slices) =>
          slices.where('uid', 'in', some).where('seq', '>=', from).where('seq', '<', to),
        )
        await this.db
          .deleteFrom('slices')
          .where(({ and }) => and({ owner: of.owner, idlocal: of.idlocal }))
          .where('uid', 'in', some)
          .where('seq', '>=', from)
          .where('seq', '<', to)
          .execute()
      }
    }
    if (added.length > 0) await this.addSlices(of, added)
  }

  /**
   * Keeps slices for earlier epochs. Blobs of slices added in this epoch become unreferenced; they are
   * collected later, since readers may still use them.
   */
  private async keepPastSlices(
    { owner, idlocal, epoch }: GridEpoch,
    filter: (slices: SomeSlices) => SomeSlices,
  ): Promise<void> {
    const slices = filter(
      this.db.selectFrom('slices').where('owner', '=', owner).where('idlocal', '=', idlocal),
    )
    await this.db
      .insertInto('past_slices')
      .columns([...PAST_SLICE_FIELDS, 'until'])
      .expression(
        slices.where('since', '<', epoch).select([...PAST_SLICE_FIELDS, sql.lit(epoch).as('until')]),
      )
      .execute()
    await markUnreferenced(this.db, owner, slices.where('since', '>=', epoch).select('hash'))
  }

  /** Keeps the names and positions of columns for earlier epochs. */
  private async keepPastColumns(
    { owner, idlocal, epoch }: GridEpoch,
    uids: readonly string[],
  ): Promise<void> {
    await this.db
      .insertInto('past_columns')
      .columns([...PAST_COLUMN_FIELDS, 'until'])
      .expression(
        this.db
          .selectFrom('columns')
          .select([...PAST_COLUMN_FIELDS, sql.lit(epoch).as('until')])
          .where(({ and }) => and({ owner, idlocal }))
          .where('uid', 'in', uids)
          .where('since', '<', epoch),
      )
      .execute()
  }

  async addTail(row: Omit<TailRow, 'sum'>): Promise<void> {
    await this.db
      .insertInto('tail')
      .values({ ...row, sum: computeTailChecksum(row) })
      .execute()
  }

  /** Removes tail rows up to and including `seq`. */
  async removeTail(owner: string, idlocal: number, seq: number): Promise<void> {
    await this.db
      .deleteFrom('tail')
      .where(({ and }) => and({ owner, idlocal }))
      .where('seq', '<=', seq)
      .execute()
  }

  /** Copies all columns, or only `uids`, to another file. Slices are immutable, so both files share them. */
  async copyGrid(
    from: { owner: string; idlocal: number },
    to: { owner: string; idlocal: number },
    uids?: string[],
  ): Promise<void> {
    const sourceColumns = await this.listColumns(from.owner, from.idlocal)
    const columns = sourceColumns.filter(({ uid }) => !uids || uids.includes(uid))
    // Count only copied columns: others may be longer.
    const row_count = Math.max(0, ...columns.map(({ rows }) => rows))
    const ragged = columns.some(({ rows }) => rows !== row_count) ? 1 : 0
    const types = encodeTypes(columns.map(({ type }) => type))
    await this.add({ ...to, row_count, ragged, types })
    const { primary_key, checks } = await this.get(from.owner, from.idlocal)
    const copiedUids = new Set(columns.map(({ uid }) => uid))
    if (primaryKeyUidsOf({ primary_key }).every((uid) => copiedUids.has(uid)))
      await this.change(to.owner, to.idlocal, { primary_key })
    if (!uids && checks !== null) await this.change(to.owner, to.idlocal, { checks })
    await this.addColumns(columns.map((column, position) => ({ ...column, ...to, position, since: 1 })))
    const slices = await this.listSlices(from.owner, from.idlocal, uids)
    await this.addSlices(
      { ...to, epoch: 1 },
      [...slices].flatMap(([uid, sliceRefs]) => sliceRefs.map((slice) => ({ ...slice, uid }))),
    )
  }
}
