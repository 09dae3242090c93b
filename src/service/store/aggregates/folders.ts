// Reads folder trees, and passes the trash state of folders on to their contents.
import { sql } from 'kysely'
import { ROOT } from '../../../contract/fid.ts'
import { addToSet, inBatches } from '../schema/row-groups.ts'
import type { Db } from '../schema/schema.ts'
import type { FileWriter } from './file-writer.ts'
import type { FileRow } from './files.ts'
import type { JobWriter } from './jobs.ts'
import type { Grantee } from './sharing.ts'

/** An ancestor folder. Trash state and access are inherited from it. */
export type FolderRow = Pick<
  FileRow,
  'owner' | 'idlocal' | 'parent' | 'filename' | 'world_readable' | 'share_key' | 'trashed_at' | 'removed_at'
>

const FOLDER_FIELDS = [
  'owner',
  'idlocal',
  'parent',
  'filename',
  'world_readable',
  'share_key',
  'trashed_at',
  'removed_at',
] as const satisfies (keyof FolderRow)[]

/** A file whose ancestors are requested. Extras are in no folder. */
type FileInFolder = Pick<FileRow, 'owner' | 'parent' | 'filetype'>

/** State of a file, inherited from its ancestors. `gone`: permanently deleted. */
export type TrashState = 'active' | 'trashed' | 'gone'

/** Returns the state of a file, inherited from its ancestors. */
export function trashStateOf(
  file: Pick<FileRow, 'trashed_at' | 'removed_at'>,
  ancestors: readonly FolderRow[],
): TrashState {
  const all = [file, ...ancestors]
  if (all.some(({ removed_at }) => removed_at !== null)) return 'gone'
  return all.some(({ trashed_at }) => trashed_at !== null) ? 'trashed' : 'active'
}

/** Maximum number of ancestors read: more than any limit allows. */
const MAX_ANCESTORS = 1000
/** Owners whose folders are read with one statement. */
const BATCH_OWNERS = 100

/** Reads folder trees. A reader has one snapshot and caches folders; a writer sees its own changes. */
export class FolderReader {
  private readonly cachedFolders = new Map<string, FolderRow | undefined>()
  private readonly dirtyOwners = new Map<string, boolean>()

  constructor(
    protected readonly db: Db,
    private readonly isCaching = true,
  ) {}

  /** Loads the ancestors of a file, nearest first. */
  async loadAncestors(file: FileInFolder): Promise<FolderRow[]> {
    return (await this.loadAncestorsOfAll([file]))[0]
  }

  /** Loads the ancestors of each file, nearest first. One statement per 100 owners. */
  async loadAncestorsOfAll(files: readonly FileInFolder[]): Promise<FolderRow[][]> {
    const folders = this.isCaching ? this.cachedFolders : new Map<string, FolderRow | undefined>()
    const missing = new Map<string, Set<number>>()
    for (const { owner, parent, filetype } of files) {
      if (parent === ROOT || filetype === 'extra' || folders.has(`${owner}:${parent}`)) continue
      addToSet(missing, owner, parent)
    }
    for (const batch of inBatches([...missing], BATCH_OWNERS))
      for (const row of await this.readWithAncestors(batch)) folders.set(`${row.owner}:${row.idlocal}`, row)
    return files.map(({ owner, parent, filetype }) => {
      const ancestors: FolderRow[] = []
      for (let at = filetype === 'extra' ? ROOT : parent; at !== ROOT && ancestors.length < MAX_ANCESTORS; ) {
        const folder = folders.get(`${owner}:${at}`)
        if (!folder) {
          // The folder was deleted; a job will delete its contents.
          ancestors.push({ ...MISSING_FOLDER, owner, idlocal: at })
          break
        }
        ancestors.push(folder)
        at = folder.parent
      }
      return ancestors
    })
  }

  /** Returns those of these files that are neither trashed nor deleted. */
  async filterActive<F extends FileInFolder & Pick<FileRow, 'trashed_at' | 'removed_at'>>(
    files: readonly F[],
  ): Promise<F[]> {
    const ancestors = await this.loadAncestorsOfAll(files)
    return files.filter((file, k) => trashStateOf(file, ancestors[k]) === 'active')
  }

  /**
   * Loads folders and all their ancestors. One subquery per owner, since a distributed engine keeps the rows
   * of an owner on one node.
   */
  private async readWithAncestors(
    owners: readonly (readonly [string, ReadonlySet<number>])[],
  ): Promise<FolderRow[]> {
    const columns = sql.join(FOLDER_FIELDS.map((name) => sql.ref(name)))
    const ofFiles = sql.join(FOLDER_FIELDS.map((name) => sql.ref(`f.${name}`)))
    const parts = owners.map(
      ([owner, folders]) =>
        sql`select * from (with recursive above as (
          select ${columns} from files where owner = ${owner} and idlocal in (${sql.join([...folders])})
          union select ${ofFiles} from files f join above on f.idlocal = above.parent where f.owner = ${owner}
        ) select * from above) as tree`,
    )
    return (await sql<FolderRow>`${sql.join(parts, sql` union all `)}`.execute(this.db)).rows
  }

  /** Lists the folders shared with any of these grantees, and all folders below them. Skips trashed ones. */
  async listSharedFolders(owner: string, names: readonly Grantee[]): Promise<number[]> {
    if (names.length === 0) return []
    // While the owner has dirty folders, `hidden` may be outdated: lists then check the folders themselves.
    const notHidden = (await this.hasDirtyFolders(owner)) ? sql`` : sql` and hidden = 0`
    const conditions = names.map(({ kind, name }) => sql`kind = ${sql.lit(kind)} and name = ${name}`)
    const { rows } = await sql<{ idlocal: number }>`with recursive below(idlocal) as (
        select idlocal from files where owner = ${owner} and trashed_at is null${notHidden} and idlocal in (
          select idlocal from collaborators where owner = ${owner} and filetype = 'fold'
          and (${sql.join(conditions, sql` or `)}))
        union select f.idlocal from files f join below on f.parent = below.idlocal
          where f.owner = ${owner} and f.filetype = 'fold' and f.trashed_at is null
      ) select idlocal from below`.execute(this.db)
    return rows.map(({ idlocal }) => idlocal)
  }

  /** Returns the depth of the folder tree below and including a folder. */
  async measureDepth(owner: string, folder: number): Promise<number> {
    const { rows } = await sql<{ levels: number }>`with recursive below(idlocal, level) as (
        select idlocal, 1 from files where owner = ${owner} and idlocal = ${folder}
        union all select f.idlocal, below.level + 1 from files f join below on f.parent = below.idlocal
          where f.owner = ${owner} and f.filetype = 'fold' and below.level < ${sql.lit(MAX_ANCESTORS)}
      ) select max(level) as levels from below`.execute(this.db)
    return Number(rows[0]?.levels ?? 0)
  }

  /** Lists the owners with dirty folders, whose contents may have an outdated `hidden`. */
  async listDirtyOwners(): Promise<Set<string>> {
    const rows = await this.db.selectFrom('marks').select('owner').distinct().execute()
    return new Set(rows.map(({ owner }) => owner))
  }

  /** Returns whether an owner has dirty folders. */
  async hasDirtyFolders(owner: string): Promise<boolean> {
    const cached = this.isCaching ? this.dirtyOwners.get(owner) : undefined
    if (cached !== undefined) return cached
    const query = this.db.selectFrom('marks').select('folder').where('owner', '=', owner).limit(1)
    const isMarked = (await query.execute()).length > 0
    this.dirtyOwners.set(owner, isMarked)
    return isMarked
  }
}

/** Files updated, or deleted, in one transaction. */
const BATCH_UPDATED_FILES = 400
const BATCH_DELETED_FILES = 50
/** Cost of the statements for one folder, in files. */
const FOLDER_COST_FILES = 20

/**
 * Passes the state of folders on to their contents. A trashed folder hides everything below it at once, since
 * readers check the ancestors. Lists use the copy `hidden` in each file instead, which is updated later.
 * Dirty folders (table `marks`) are those whose direct contents are not updated yet; every outdated file is
 * below one.
 */
export class FolderWriter extends FolderReader {
  constructor(
    db: Db,
    private readonly files: FileWriter,
    private readonly jobs: JobWriter,
    private readonly batchFiles = BATCH_UPDATED_FILES,
  ) {
    super(db, false)
  }

  /** Updates the contents of a folder to its state: the first files at once, the rest in a job. */
  async propagateState(owner: string, folder: number): Promise<void> {
    await this.markDirty(owner, folder)
    if (!(await this.continuePropagation(owner))) await this.jobs.schedule(owner, 'tree')
  }

  /**
   * Updates the contents of a moved folder, if the owner has dirty folders: propagation from the former
   * ancestors no longer reaches them.
   */
  async propagateAfterMove({ owner, idlocal }: Pick<FileRow, 'owner' | 'idlocal'>): Promise<void> {
    if (await this.hasDirtyFolders(owner)) await this.propagateState(owner, idlocal)
  }

  /** Marks a folder as dirty: no content of it is updated yet. */
  private async markDirty(owner: string, folder: number): Promise<void> {
    await this.db
      .insertInto('marks')
      .values({ owner, folder, done: '' })
      .onConflict((conflict) => conflict.columns(['owner', 'folder']).doUpdateSet({ done: '' }))
      .execute()
  }

  /** Updates more contents of a user's dirty folders. Returns whether all are done. */
  async continuePropagation(owner: string): Promise<boolean> {
    for (let left = this.batchFiles; left > 0; ) {
      const [mark] = await this.db
        .selectFrom('marks')
        .selectAll()
        .where('owner', '=', owner)
        .orderBy('folder')
        .limit(1)
        .execute()
      if (!mark) return true
      left -= FOLDER_COST_FILES + (await this.propagateToContents(mark, left))
    }
    return false
  }

  /** Updates some contents of one folder. Returns the cost, in files. */
  private async propagateToContents(
    mark: { owner: string; folder: number; done: string },
    limit: number,
  ): Promise<number> {
    const { owner, folder: idlocal } = mark
    const folder = await this.files.get(owner, idlocal)
    const state = folder ? trashStateOf(folder, await this.loadAncestors(folder)) : 'gone'
    if (state === 'gone') return this.deleteSomeContents(mark, limit)
    const hidden = state === 'active' ? 0 : 1
    const rows = await this.db
      .selectFrom('files')
      .selectAll()
      .where(({ and }) => and({ owner, parent: idlocal }))
      .where('live_name', '>', mark.done)
      .orderBy('live_name')
      .limit(limit)
      .execute()
    const outdated = rows.filter((row) => row.hidden !== hidden)
    await this.files.setHidden(owner, outdated, hidden)
    for (const row of outdated) if (row.filetype === 'fold') await this.markDirty(owner, row.idlocal)
    if (rows.length < limit) await this.unmarkDirty(mark)
    else await this.saveProgress(mark, rows.at(-1)!.live_name!)
    return rows.length
  }

  /** Saves how far the contents of a folder are updated. */
  private async saveProgress(
    { owner, folder }: { owner: string; folder: number },
    done: string,
  ): Promise<void> {
    await this.db
      .updateTable('marks')
      .set({ done })
      .where(({ and }) => and({ owner, folder }))
      .execute()
  }

  /** Deletes some contents of a deleted folder, and finally the folder. Returns the cost, in files. */
  private async deleteSomeContents(
    mark: { owner: string; folder: number; done: string },
    limit: number,
  ): Promise<number> {
    const { owner, folder, done } = mark
    const batchSize = Math.min(limit, BATCH_DELETED_FILES)
    const contents = this.db
      .selectFrom('files')
      .selectAll()
      .where(({ and }) => and({ owner, parent: folder }))
    // In name order, after the last deleted one: an engine may keep deleted rows in its index for a while.
    let rows = await contents.where('live_name', '>', done).orderBy('live_name').limit(batchSize).execute()
    const name = rows.at(-1)?.live_name
    // Then those that were trashed on their own.
    if (rows.length < batchSize)
      rows = [
        ...rows,
        ...(await contents
          .where('live_name', 'is', null)
          .where('removed_at', 'is', null)
          .limit(batchSize - rows.length)
          .execute()),
      ]
    const fileIds = rows.filter(({ filetype }) => filetype !== 'fold').map(({ idlocal }) => idlocal)
    await this.files.deleteRows(owner, fileIds)
    for (const subfolder of rows.filter(({ filetype }) => filetype === 'fold')) {
      await this.files.markDeleted(subfolder)
      await this.markDirty(owner, subfolder.idlocal)
    }
    if (rows.length === batchSize) {
      if (name) await this.saveProgress(mark, name)
      return Number.POSITIVE_INFINITY
    }
    await this.files.deleteRows(owner, [folder])
    await this.unmarkDirty(mark)
    return rows.length * (BATCH_UPDATED_FILES / BATCH_DELETED_FILES)
  }

  private async unmarkDirty({ owner, folder }: { owner: string; folder: number }): Promise<void> {
    await this.db.deleteFrom('marks').where('owner', '=', owner).where('folder', '=', folder).execute()
  }
}

/** Stands in for a folder that does not exist. */
const MISSING_FOLDER = {
  parent: ROOT,
  filename: '',
  world_readable: 0,
  share_key: null,
  trashed_at: null,
  removed_at: 0,
}
