import type { Insertable, Selectable } from 'kysely'
import { requireBlobs } from './blobs.ts'
import type { FileRow, Key } from './files.ts'
import type { Db, Schema } from './schema.ts'

export type ContentRow = Selectable<Schema['contents']>
export type PlotRow = Selectable<Schema['plots']>
export type ReferenceRow = Selectable<Schema['references']>

export interface PublicPlots {
  order: 'creation_time' | 'views'
  descending: boolean
  minQuality?: number
  maxQuality?: number
  after?: Key & { value: number }
  limit: number
}

/** Plots, contents of files other than grids, and references between files. */
export class PlotReader {
  constructor(protected readonly db: Db) {}

  content(owner: string, idlocal: number): Promise<ContentRow | undefined> {
    return this.db
      .selectFrom('contents')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .executeTakeFirst()
  }

  plot(owner: string, idlocal: number): Promise<PlotRow | undefined> {
    return this.db
      .selectFrom('plots')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .executeTakeFirst()
  }

  /** One page of public plots. Paging is by key, so that new and deleted plots do not shift pages. */
  public({ order, descending, minQuality, maxQuality, after, limit }: PublicPlots): Promise<FileRow[]> {
    const direction = descending ? 'desc' : 'asc'
    let select = this.db
      .selectFrom('files')
      .innerJoin('plots', (join) =>
        join.onRef('plots.owner', '=', 'files.owner').onRef('plots.idlocal', '=', 'files.idlocal'),
      )
      .selectAll('files')
      .where('files.filetype', '=', 'plot')
      .where('files.world_readable', '=', 1)
      .where('files.trashed_at', 'is', null)
      .where('files.hidden', '=', 0)
      .orderBy(`files.${order}`, direction)
      .orderBy('files.owner', direction)
      .orderBy('files.idlocal', direction)
      .limit(limit)
    if (minQuality !== undefined) select = select.where('plots.quality', '>=', minQuality)
    if (maxQuality !== undefined) select = select.where('plots.quality', '<=', maxQuality)
    if (after) {
      const beyond = descending ? '<' : '>'
      select = select.where(({ or, and, eb }) =>
        or([
          eb(`files.${order}`, beyond, after.value),
          and([eb(`files.${order}`, '=', after.value), eb('files.owner', beyond, after.owner)]),
          and([
            eb(`files.${order}`, '=', after.value),
            eb('files.owner', '=', after.owner),
            eb('files.idlocal', beyond, after.idlocal),
          ]),
        ]),
      )
    }
    return select.execute()
  }

  /** Public plots picked by an operator, most recently picked first. */
  async picked(limit: number): Promise<FileRow[]> {
    // Two queries, so that any query planner starts with the few picked plots.
    const picked = await this.db
      .selectFrom('plots')
      .select(['owner', 'idlocal'])
      .where('picked_at', 'is not', null)
      .orderBy('picked_at', 'desc')
      .limit(limit * 4)
      .execute()
    const files: FileRow[] = []
    for (const { owner, idlocal } of picked) {
      const file = await this.db
        .selectFrom('files')
        .selectAll()
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .where('world_readable', '=', 1)
        .where('trashed_at', 'is', null)
        .where('hidden', '=', 0)
        .executeTakeFirst()
      if (file) files.push(file)
      if (files.length === limit) break
    }
    return files
  }

  /** The references of these files of one owner. */
  referencesOf(owner: string, idlocals: readonly number[]): Promise<ReferenceRow[]> {
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

  /** Files that reference this one, ordered by id. */
  referencersOf(
    { owner, idlocal }: Key,
    kind: 'grid' | 'extra' | undefined,
    after: Key | undefined,
    backwards: boolean,
    limit: number,
  ): Promise<FileRow[]> {
    const direction = backwards ? 'desc' : 'asc'
    let select = this.db
      .selectFrom('references')
      .innerJoin('files', (join) =>
        join.onRef('files.owner', '=', 'references.owner').onRef('files.idlocal', '=', 'references.idlocal'),
      )
      .selectAll('files')
      .where('references.to_owner', '=', owner)
      .where('references.to_idlocal', '=', idlocal)
      .orderBy('references.owner', direction)
      .orderBy('references.idlocal', direction)
      .limit(limit)
    if (kind) select = select.where('references.kind', '=', kind)
    if (after) {
      const beyond = backwards ? '<' : '>'
      select = select.where(({ or, and, eb }) =>
        or([
          eb('references.owner', beyond, after.owner),
          and([eb('references.owner', '=', after.owner), eb('references.idlocal', beyond, after.idlocal)]),
        ]),
      )
    }
    return select.execute()
  }
}

export class PlotWriter extends PlotReader {
  async setContent(row: Insertable<Schema['contents']>): Promise<void> {
    const { hash, bytes, media_type } = row
    await requireBlobs(this.db, [hash])
    await this.db
      .insertInto('contents')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['owner', 'idlocal']).doUpdateSet({ hash, bytes, media_type }),
      )
      .execute()
  }

  /** Adds or updates a plot. `data_grid` is unchanged unless given. */
  async setPlot(owner: string, idlocal: number, quality: number, data_grid?: number): Promise<void> {
    await this.db
      .insertInto('plots')
      .values({ owner, idlocal, quality, picked_at: null, data_grid: data_grid ?? null })
      .onConflict((conflict) =>
        conflict
          .columns(['owner', 'idlocal'])
          .doUpdateSet({ quality, ...(data_grid === undefined ? {} : { data_grid }) }),
      )
      .execute()
  }

  async pick(owner: string, idlocal: number, picked_at: number | null): Promise<void> {
    await this.db
      .updateTable('plots')
      .set({ picked_at })
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  async addReference(row: ReferenceRow): Promise<void> {
    await this.db
      .insertInto('references')
      .values(row)
      .onConflict((conflict) => conflict.columns(['owner', 'idlocal', 'to_owner', 'to_idlocal']).doNothing())
      .execute()
  }

  /** Removes one reference; returns whether there was one. */
  async removeReference({ owner, idlocal, kind, to_owner, to_idlocal }: ReferenceRow): Promise<boolean> {
    const { numDeletedRows } = await this.db
      .deleteFrom('references')
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('kind', '=', kind)
      .where('to_owner', '=', to_owner)
      .where('to_idlocal', '=', to_idlocal)
      .executeTakeFirst()
    return numDeletedRows > 0n
  }

  /** Replaces the grids that a plot references. */
  async setGrids(owner: string, idlocal: number, grids: readonly Key[]): Promise<void> {
    await this.db
      .deleteFrom('references')
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('kind', '=', 'grid')
      .execute()
    for (const grid of grids)
      await this.addReference({
        owner,
        idlocal,
        kind: 'grid',
        to_owner: grid.owner,
        to_idlocal: grid.idlocal,
      })
  }

  /** Adds to the view count. This does not count as a change of the file. */
  async addViews(owner: string, idlocal: number, count: number): Promise<void> {
    await this.db
      .updateTable('files')
      .set(({ eb }) => ({ views: eb('views', '+', count) }))
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }
}
