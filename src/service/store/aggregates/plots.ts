// Reads and writes plots, the content of files other than grids, and references between files.
import { type Selectable, sql } from 'kysely'
import { addBlobReferences } from '../objects/blob-references.ts'
import type { BlobRef } from '../objects/blobs.ts'
import { type FileKey, matchesAnyFile } from '../schema/file-key.ts'
import { addReferences, deleteReferencers, type ReferenceRow } from '../schema/references.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { type FileRow, withLastAppend } from './files.ts'
import type { UsageWriter } from './usage.ts'

export type ContentRow = Selectable<Schema['contents']>

/** A stored blob, and its size before compression in bytes. */
export interface StoredContent {
  blob: BlobRef
  bytes: number
}

/** Returns the blob and size of a row of contents. */
export function storedContentOf({
  owner,
  hash,
  bytes,
}: Pick<ContentRow, 'owner' | 'hash' | 'bytes'>): StoredContent {
  return { blob: { owner, hash }, bytes }
}

/** Details of a plot for pages and metadata, besides its file. */
export interface PlotDetails {
  content: ContentRow
  /** When the owner joined, in ms since 1970. */
  date_joined: number
}

export type PlotRow = Selectable<Schema['plots']>

export interface PublicPlots {
  /** Default: plots. Boards have no quality. */
  filetype?: 'plot' | 'dashboard'
  order: 'creation_time' | 'views'
  descending: boolean
  minQuality?: number
  maxQuality?: number
  after?: FileKey & { value: number }
  limit: number
}

/** Highest quality of a plot. */
const MAX_QUALITY = 5

/** Reads plots, the content of files other than grids, and references between files. */
export class PlotReader {
  constructor(protected readonly db: Db) {}

  getContent(owner: string, idlocal: number): Promise<ContentRow | undefined> {
    return this.db
      .selectFrom('contents')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirst()
  }

  getPlot(owner: string, idlocal: number): Promise<PlotRow | undefined> {
    return this.db
      .selectFrom('plots')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirst()
  }

  /**
   * Lists public plots, or boards, from one index range, or one per requested quality. Pages start after a key, so new
   * and deleted plots do not shift them. `dirtyOwners`: owners with dirty folders, whose plots may have an
   * outdated `hidden`; the caller checks their folders.
   */
  async listPublic(
    {
      filetype = 'plot',
      order,
      descending,
      minQuality = 0,
      maxQuality = MAX_QUALITY,
      after,
      limit,
    }: PublicPlots,
    dirtyOwners: ReadonlySet<string>,
  ): Promise<FileRow[]> {
    const direction = sql.raw(descending ? 'desc' : 'asc')
    const column = sql.ref(order)
    const ordering = sql`${column} ${direction}, owner ${direction}, idlocal ${direction} limit ${sql.lit(limit)}`
    const from = after
      ? sql` and (${column}, owner, idlocal) ${sql.raw(descending ? '<' : '>')} (${after.value}, ${after.owner}, ${after.idlocal})`
      : sql``
    const part = (condition: ReturnType<typeof sql>) =>
      sql`select * from (select files.*, ${column} as k from files where ${condition}filetype = ${sql.lit(filetype)}
        and world_readable = 1 and trashed_at is null${from} order by ${ordering}) as p`
    const lowest = Math.max(0, Math.ceil(minQuality))
    const highest = Math.min(MAX_QUALITY, Math.floor(maxQuality))
    const qualities =
      filetype === 'plot'
        ? sql`quality between ${sql.lit(lowest)} and ${sql.lit(highest)}`
        : sql`quality is null`
    const parts = []
    if (lowest === 0 && highest === MAX_QUALITY) parts.push(part(sql`hidden = 0 and `))
    else
      for (let quality = lowest; quality <= highest; quality++)
        parts.push(part(sql`quality = ${sql.lit(quality)} and hidden = 0 and `))
    if (parts.length === 0) return []
    // Plots restored from the trash whose `hidden` is outdated.
    if (dirtyOwners.size > 0)
      parts.push(part(sql`owner in (${sql.join([...dirtyOwners])}) and hidden = 1 and ${qualities} and `))
    const { rows } = await sql<FileRow>`select * from (${sql.join(parts, sql` union all `)}) as u
      order by k ${direction}, owner ${direction}, idlocal ${direction} limit ${sql.lit(limit)}`.execute(
      this.db,
    )
    return rows.map(withLastAppend)
  }

  /** Lists public plots picked by an operator, latest pick first. Does not check folders. */
  async listPicked(limit: number): Promise<FileRow[]> {
    // The CTE makes the query planner start with the few picked plots.
    const { rows } =
      await sql<FileRow>`with picked(owner, idlocal, picked_at) as (select owner, idlocal, picked_at
        from plots where picked_at is not null order by picked_at desc limit ${sql.lit(limit * 4)})
      select files.* from picked join files on files.owner = picked.owner and files.idlocal = picked.idlocal
      where files.world_readable = 1 and files.trashed_at is null
      order by picked.picked_at desc limit ${sql.lit(limit)}`.execute(this.db)
    return rows.map(withLastAppend)
  }

  /** Loads details of plots, by fid. */
  async loadDetails(plots: readonly FileKey[]): Promise<Map<string, PlotDetails>> {
    if (plots.length === 0) return new Map()
    const rows = await this.db
      .selectFrom('contents')
      .innerJoin('users', 'users.owner', 'contents.owner')
      .selectAll('contents')
      .select('users.date_joined')
      .where(matchesAnyFile(plots, 'contents.owner', 'contents.idlocal'))
      .execute()
    return new Map(
      rows.map(({ date_joined, ...content }) => [
        `${content.owner}:${content.idlocal}`,
        { content, date_joined },
      ]),
    )
  }

  /** Lists the references from files of one owner, in order. */
  listReferences(owner: string, idlocals: readonly number[]): Promise<ReferenceRow[]> {
    return this.db
      .selectFrom('references')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', 'in', idlocals)
      .orderBy('idlocal')
      .orderBy('to_owner')
      .orderBy('to_idlocal')
      .execute()
  }

  /** Lists files that refer to this one, ordered by id. */
  async listReferencers(
    { owner, idlocal }: FileKey,
    kind: 'grid' | 'item',
    after: FileKey | undefined,
    backwards: boolean,
    limit: number,
  ): Promise<FileRow[]> {
    const direction = backwards ? 'desc' : 'asc'
    let select = this.db
      .selectFrom('referencers')
      .select(['by_owner', 'by_idlocal'])
      .where(({ and }) => and({ owner, idlocal, kind }))
      .orderBy('by_owner', direction)
      .orderBy('by_idlocal', direction)
      .limit(limit)
    if (after)
      select = select.where(
        sql<boolean>`(by_owner, by_idlocal) ${sql.raw(backwards ? '<' : '>')} (${after.owner}, ${after.idlocal})`,
      )
    const keys = (await select.execute()).map((row) => ({ owner: row.by_owner, idlocal: row.by_idlocal }))
    if (keys.length === 0) return []
    const files = await this.db
      .selectFrom('files')
      .selectAll()
      .where(matchesAnyFile(keys, 'owner', 'idlocal'))
      .orderBy('owner', direction)
      .orderBy('idlocal', direction)
      .execute()
    return files.map(withLastAppend)
  }
}

/** Facts about a figure that lists and searches use. */
export interface FigureFacts {
  quality: number
  title: string | null
}

export class PlotWriter extends PlotReader {
  constructor(
    db: Db,
    private readonly usage: UsageWriter,
  ) {
    super(db)
  }

  async setContent(
    { owner, idlocal }: FileKey,
    { blob, bytes }: StoredContent,
    media_type: string,
  ): Promise<void> {
    const { hash } = blob
    await this.usage.reserve(owner, { bytes })
    await addBlobReferences(this.db, owner, [blob])
    await this.db
      .insertInto('contents')
      .values({ owner, idlocal, hash, bytes, media_type })
      .onConflict((conflict) =>
        conflict.columns(['owner', 'idlocal']).doUpdateSet({ hash, bytes, media_type }),
      )
      .execute()
  }

  /** Adds or updates a plot. Without `data_grid`, the stored one is kept. */
  async setPlot(
    owner: string,
    idlocal: number,
    { quality, title }: FigureFacts,
    data_grid?: number,
  ): Promise<void> {
    await this.db
      .updateTable('files')
      .set({ quality })
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
    await this.db
      .insertInto('plots')
      .values({ owner, idlocal, quality, title, picked_at: null, data_grid: data_grid ?? null })
      .onConflict((conflict) =>
        conflict
          .columns(['owner', 'idlocal'])
          .doUpdateSet({ quality, title, ...(data_grid === undefined ? {} : { data_grid }) }),
      )
      .execute()
  }

  /** Sets when an operator picked a plot; null if not picked. */
  async setPickedAt(owner: string, idlocal: number, picked_at: number | null): Promise<void> {
    await this.db
      .updateTable('plots')
      .set({ picked_at })
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }

  async addReference(row: ReferenceRow): Promise<void> {
    await addReferences(this.db, [row])
  }

  /** Removes one reference. Returns whether it existed. */
  async removeReference(row: ReferenceRow): Promise<boolean> {
    const { owner, idlocal, kind, to_owner, to_idlocal } = row
    const { numDeletedRows } = await this.db
      .deleteFrom('references')
      .where(({ and }) => and({ owner, idlocal, kind, to_owner, to_idlocal }))
      .executeTakeFirst()
    if (numDeletedRows === 0n) return false
    await deleteReferencers(this.db, [row])
    return true
  }

  /** Replaces the references from a plot to grids, or from a board to the files of its items. */
  async setReferences(
    { owner, idlocal }: FileKey,
    kind: 'grid' | 'item',
    targets: readonly FileKey[],
  ): Promise<void> {
    const before = await this.db
      .deleteFrom('references')
      .where(({ and }) => and({ owner, idlocal }))
      .where('kind', '=', kind)
      .returningAll()
      .execute()
    await deleteReferencers(this.db, before)
    await addReferences(
      this.db,
      targets.map((target) => ({
        owner,
        idlocal,
        kind,
        to_owner: target.owner,
        to_idlocal: target.idlocal,
      })),
    )
  }

  /** Adds to the view count. Does not change version or date of the file. */
  async addViews(owner: string, idlocal: number, count: number): Promise<void> {
    await this.db
      .updateTable('files')
      .set(({ eb }) => ({ views: eb('views', '+', count) }))
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }
}
