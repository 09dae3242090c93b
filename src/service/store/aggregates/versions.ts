// Reads and writes the versions of grids and plots, and the columns and slices of earlier ones.
import { type Selectable, sql } from 'kysely'
import { addBlobReferences, markUnreferenced } from '../objects/blob-references.ts'
import type { FileKey } from '../schema/file-key.ts'
import { createInserter } from '../schema/insert-rows.ts'
import { addToList, inBatches } from '../schema/row-groups.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { type GridEpoch, SLICE_FIELDS, type SliceRef, sliceRefOf, sliceRowOf } from './grids.ts'
import type { UsageWriter } from './usage.ts'

/** Rows per statement. */
const BATCH_ROWS = 1000

const insertPastColumns = createInserter('past_columns')
const insertPastSlices = createInserter('past_slices')

export type VersionRow = Selectable<Schema['versions']>

/** A column as it was in an earlier epoch. */
export interface PastColumn {
  uid: string
  name: string
  position: number
}

/** Fields of a version when it is created. */
export type NewVersion = Pick<
  VersionRow,
  'owner' | 'idlocal' | 'version' | 'epoch' | 'made_by' | 'operation'
> &
  Partial<VersionRow>

/** Fields of a version that has none of them. */
export const EMPTY_VERSION: Omit<
  VersionRow,
  'owner' | 'idlocal' | 'version' | 'epoch' | 'made_at' | 'made_by' | 'operation'
> = {
  source: null,
  message: null,
  of_version: null,
  row_count: null,
  ragged: null,
  types: null,
  rows_added: null,
  rows_removed: null,
  rows_changed: null,
  columns_added: null,
  columns_removed: null,
  columns_changed: null,
  hash: null,
  bytes: null,
  grids: null,
  kept_at: null,
  kept_name: null,
}

/** Reads the versions of grids and plots, and the columns and slices of earlier ones. */
export class VersionReader {
  constructor(protected readonly db: Db) {}

  get(owner: string, idlocal: number, version: number): Promise<VersionRow | undefined> {
    return this.selectVersions(owner, idlocal).where('version', '=', version).executeTakeFirst()
  }

  /** Lists versions before `before`, or all, newest first. Skips drafts. */
  list(owner: string, idlocal: number, before: number | undefined, limit: number): Promise<VersionRow[]> {
    let select = this.selectVersions(owner, idlocal)
      .where('version', '>', 0)
      .orderBy('version', 'desc')
      .limit(limit)
    if (before !== undefined) select = select.where('version', '<', before)
    return select.execute()
  }

  /** Returns the version that was current at a time. */
  findByTime(owner: string, idlocal: number, time: number): Promise<VersionRow | undefined> {
    return this.selectVersions(owner, idlocal)
      .where('version', '>', 0)
      .where('made_at', '<=', time)
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst()
  }

  /** Returns the version that was kept under a name. */
  findByKeptName(owner: string, idlocal: number, name: string): Promise<VersionRow | undefined> {
    return this.selectVersions(owner, idlocal).where('kept_name', '=', name).executeTakeFirst()
  }

  /** Lists the drafts of a grid: versions with negative numbers. */
  listDrafts(owner: string, idlocal: number): Promise<VersionRow[]> {
    return this.selectVersions(owner, idlocal).where('version', '<', 0).execute()
  }

  /** Lists the columns in an earlier epoch, in column order. */
  async listColumnsIn({ owner, idlocal, epoch }: GridEpoch): Promise<PastColumn[]> {
    const fields = ['uid', 'name', 'position'] as const
    const current = await this.db
      .selectFrom('columns')
      .select(fields)
      .where(({ and }) => and({ owner, idlocal }))
      .where('since', '<=', epoch)
      .execute()
    const past = await this.db
      .selectFrom('past_columns')
      .select(fields)
      .where(({ and }) => and({ owner, idlocal }))
      .where('since', '<=', epoch)
      .where('until', '>', epoch)
      .execute()
    return [...current, ...past].sort((a, b) => a.position - b.position)
  }

  /** Lists the slices in an earlier epoch, by column uid, in row order. */
  async listSlicesIn({ owner, idlocal, epoch }: GridEpoch): Promise<Map<string, SliceRef[]>> {
    const current = await this.db
      .selectFrom('slices')
      .select(SLICE_FIELDS)
      .where(({ and }) => and({ owner, idlocal }))
      .where('since', '<=', epoch)
      .execute()
    const past = await this.db
      .selectFrom('past_slices')
      .select(SLICE_FIELDS)
      .where(({ and }) => and({ owner, idlocal }))
      .where('since', '<=', epoch)
      .where('until', '>', epoch)
      .execute()
    const byColumn = new Map<string, SliceRef[]>()
    for (const row of [...current, ...past].sort((a, b) => a.seq - b.seq))
      addToList(byColumn, row.uid, sliceRefOf(row))
    return byColumn
  }

  /**
   * Scans the next `limit` versions after a file. Returns files with more than one version (the last may have one), in order, and the
   * file to continue after; undefined at the end.
   */
  async findFilesWithHistory(
    after: FileKey,
    limit: number,
  ): Promise<{ files: FileKey[]; last: FileKey | undefined }> {
    const rows = await this.db
      .selectFrom('versions')
      .select(['owner', 'idlocal'])
      .where(sql<boolean>`(owner, idlocal) > (${after.owner}, ${after.idlocal})`)
      .orderBy('owner')
      .orderBy('idlocal')
      .limit(limit)
      .execute()
    const last = rows.at(-1)
    if (rows.length < limit || !last) return { files: findRepeated(rows), last: undefined }
    // The last file may have more versions.
    const complete = rows.filter(({ owner, idlocal }) => owner !== last.owner || idlocal !== last.idlocal)
    return { files: [...findRepeated(complete), last], last }
  }

  private selectVersions(owner: string, idlocal: number) {
    return this.db
      .selectFrom('versions')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
  }
}

/** Sums the sizes of slices before compression, in bytes. */
function sumBytes(slices: readonly SliceRef[]): number {
  return slices.reduce((sum, { bytes }) => sum + bytes, 0)
}

export class VersionWriter extends VersionReader {
  constructor(
    db: Db,
    private readonly usage: UsageWriter,
    /** Message of versions created by these writes. */
    readonly message?: string,
  ) {
    super(db)
  }

  async add(row: NewVersion): Promise<void> {
    await this.db
      .insertInto('versions')
      .values({ ...EMPTY_VERSION, made_at: Date.now(), message: this.message ?? null, ...row })
      .execute()
  }

  /** Changes a version. Returns whether it exists. */
  async change(
    { owner, idlocal, version }: Pick<VersionRow, 'owner' | 'idlocal' | 'version'>,
    fields: Partial<VersionRow>,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('versions')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal, version }))
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /**
   * Removes versions, with the slices and columns that only they use, but never the current one. Blobs are
   * collected later, since readers may still use them. `unlessKept` spares versions that were kept in the
   * meantime. Returns how many were removed.
   */
  async remove(
    owner: string,
    idlocal: number,
    versions: readonly number[],
    unlessKept = false,
  ): Promise<number> {
    let removed = 0
    for (const batch of inBatches(versions, BATCH_ROWS))
      removed += await this.removeBatch(owner, idlocal, batch, unlessKept)
    if (removed > 0) await this.removeUnusedPast(owner, idlocal)
    return removed
  }

  private async removeBatch(
    owner: string,
    idlocal: number,
    versions: readonly number[],
    unlessKept: boolean,
  ): Promise<number> {
    const file = await this.db
      .selectFrom('files')
      .select('content_version')
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirst()
    const removable = versions.filter((version) => version !== file?.content_version)
    if (removable.length === 0) return 0
    let selected = this.db
      .selectFrom('versions')
      .where(({ and }) => and({ owner, idlocal }))
      .where('version', 'in', removable)
    if (unlessKept) selected = selected.where('kept_at', 'is', null)
    await markUnreferenced(
      this.db,
      owner,
      selected.where('hash', 'is not', null).select(({ ref }) => ref('hash').$notNull().as('hash')),
    )
    let removal = this.db
      .deleteFrom('versions')
      .where(({ and }) => and({ owner, idlocal }))
      .where('version', 'in', removable)
    if (unlessKept) removal = removal.where('kept_at', 'is', null)
    const { numDeletedRows } = await removal.executeTakeFirst()
    return Number(numDeletedRows)
  }

  /**
   * Stores the content of a draft as a version with a new negative number, which is also its epoch. Returns
   * it.
   */
  async addDraft(
    row: Omit<NewVersion, 'version' | 'epoch'>,
    columns: readonly { uid: string; name: string; slices: readonly SliceRef[] }[],
  ): Promise<number> {
    const { owner, idlocal } = row
    const slices = columns.flatMap((column) =>
      column.slices.map((slice, seq) => ({ ...slice, uid: column.uid, seq })),
    )
    await this.usage.reserve(owner, { rows: row.row_count ?? 0, bytes: sumBytes(slices) })
    const version = Math.min(0, ...(await this.listDrafts(owner, idlocal)).map((draft) => draft.version)) - 1
    await this.add({ ...row, version, epoch: version })
    const span = { owner, idlocal, since: version, until: version + 1 }
    const rows = columns.map(({ uid, name }, position) => ({ ...span, uid, name, position }))
    await insertPastColumns(this.db, rows)
    await this.addPastSlices(span, slices)
    return version
  }

  /** Adds the slices that a kept version of a plot shows. */
  async addKeptSlices(
    { owner, idlocal, version }: Pick<VersionRow, 'owner' | 'idlocal' | 'version'>,
    slices: readonly (SliceRef & { uid: string })[],
  ): Promise<void> {
    await this.usage.reserve(owner, { bytes: sumBytes(slices) })
    await this.addPastSlices({ owner, idlocal, since: version, until: version + 1 }, slices)
  }

  /** Adds slices that exist only in a span of epochs. */
  private async addPastSlices(
    span: FileKey & { since: number; until: number },
    slices: readonly (SliceRef & { uid: string })[],
  ): Promise<void> {
    const blobs = slices.map(({ blob }) => blob)
    await addBlobReferences(this.db, span.owner, blobs)
    await insertPastSlices(
      this.db,
      slices.map((slice) => ({ ...sliceRowOf(slice), ...span })),
    )
  }

  /** Removes the slices of a plot version that is no longer kept. */
  async removeKeptSlices({ owner, idlocal, version }: VersionRow): Promise<void> {
    const hashes = this.db
      .selectFrom('past_slices')
      .select('hash')
      .where(({ and }) => and({ owner, idlocal, since: version }))
    await markUnreferenced(this.db, owner, hashes)
    await this.db
      .deleteFrom('past_slices')
      .where(({ and }) => and({ owner, idlocal, since: version }))
      .execute()
  }

  /** Removes past slices and columns that no version uses. */
  private async removeUnusedPast(owner: string, idlocal: number): Promise<void> {
    const unused = (table: 'past_slices' | 'past_columns') =>
      sql<boolean>`not exists (select 1 from versions where versions.owner = ${sql.ref(`${table}.owner`)} and versions.idlocal = ${sql.ref(`${table}.idlocal`)} and versions.epoch >= ${sql.ref(`${table}.since`)} and versions.epoch < ${sql.ref(`${table}.until`)})`
    await markUnreferenced(
      this.db,
      owner,
      this.db
        .selectFrom('past_slices')
        .select('hash')
        .where(({ and }) => and({ owner, idlocal }))
        .where(unused('past_slices')),
    )
    for (const table of ['past_slices', 'past_columns'] as const)
      await this.db
        .deleteFrom(table)
        .where(({ and }) => and({ owner, idlocal }))
        .where(unused(table))
        .execute()
  }
}

/** Returns the files that occur more than once in a sorted list. */
function findRepeated(rows: readonly FileKey[]): FileKey[] {
  return rows.filter(({ owner, idlocal }, k) => {
    const isSameFile = (other: FileKey | undefined): boolean =>
      other?.owner === owner && other.idlocal === idlocal
    return isSameFile(rows[k + 1]) && !isSameFile(rows[k - 1])
  })
}
