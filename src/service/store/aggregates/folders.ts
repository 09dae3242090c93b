// Reads folder trees, and passes the trash state of folders on to their contents.
import { sql } from 'kysely'
import { ROOT } from '../../../contract/fid.ts'
import type { Db } from '../schema/schema.ts'
import type { FileRow, FileWriter } from './files.ts'
import type { JobWriter } from './jobs.ts'
import type { Name } from './sharing.ts'

/** An ancestor folder. Trash state and access are inherited from it. */
export type FolderRow = Pick<
  FileRow,
  'owner' | 'idlocal' | 'parent' | 'filename' | 'world_readable' | 'share_key' | 'trashed_at' | 'removed_at'
>

const FOLDER = [
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
type Placed = Pick<FileRow, 'owner' | 'parent' | 'filetype'>

/** State of a file, inherited from its ancestors. `gone`: permanently deleted. */
export type TreeState = 'active' | 'trashed' | 'gone'

/** Returns the state of a file, inherited from its ancestors. */
export function stateIn(
  file: Pick<FileRow, 'trashed_at' | 'removed_at'>,
  ancestors: readonly FolderRow[],
): TreeState {
  const all = [file, ...ancestors]
  if (all.some(({ removed_at }) => removed_at !== null)) return 'gone'
  return all.some(({ trashed_at }) => trashed_at !== null) ? 'trashed' : 'active'
}

/** Maximum number of ancestors read: more than any limit allows. */
const DEEPEST = 1000
/** Owners whose folders are read with one statement. */
const OWNERS = 100

/** Reads folder trees. A reader has one snapshot and caches folders; a writer sees its own changes. */
export class FolderReader {
  private readonly known = new Map<string, FolderRow | undefined>()
  private readonly markedOwners = new Map<string, boolean>()

  constructor(
    protected readonly db: Db,
    private readonly remembers = true,
  ) {}

  /** Loads the ancestors of a file, nearest first. */
  async above(file: Placed): Promise<FolderRow[]> {
    return (await this.aboveAll([file]))[0]
  }

  /** Loads the ancestors of each file, nearest first. One statement per 100 owners. */
  async aboveAll(files: readonly Placed[]): Promise<FolderRow[][]> {
    const folders = this.remembers ? this.known : new Map<string, FolderRow | undefined>()
    const missing = new Map<string, Set<number>>()
    for (const { owner, parent, filetype } of files) {
      if (parent === ROOT || filetype === 'extra' || folders.has(`${owner}:${parent}`)) continue
      const ids = missing.get(owner)
      if (ids) ids.add(parent)
      else missing.set(owner, new Set([parent]))
    }
    const owners = [...missing]
    for (let k = 0; k < owners.length; k += OWNERS) {
      for (const row of await this.read(owners.slice(k, k + OWNERS)))
        folders.set(`${row.owner}:${row.idlocal}`, row)
    }
    return files.map(({ owner, parent, filetype }) => {
      const ancestors: FolderRow[] = []
      for (let at = filetype === 'extra' ? ROOT : parent; at !== ROOT && ancestors.length < DEEPEST; ) {
        const folder = folders.get(`${owner}:${at}`)
        if (!folder) {
          // The folder was deleted; a job will delete its contents.
          ancestors.push({ ...NOWHERE, owner, idlocal: at })
          break
        }
        ancestors.push(folder)
        at = folder.parent
      }
      return ancestors
    })
  }

  /** Returns those of these files that are neither trashed nor deleted. */
  async active<F extends Placed & Pick<FileRow, 'trashed_at' | 'removed_at'>>(
    files: readonly F[],
  ): Promise<F[]> {
    const ancestors = await this.aboveAll(files)
    return files.filter((file, k) => stateIn(file, ancestors[k]) === 'active')
  }

  /**
   * Loads folders and all their ancestors. One subquery per owner, since a distributed engine keeps the rows
   * of an owner on one node.
   */
  private async read(owners: readonly (readonly [string, ReadonlySet<number>])[]): Promise<FolderRow[]> {
    const columns = sql.join(FOLDER.map((name) => sql.ref(name)))
    const ofFiles = sql.join(FOLDER.map((name) => sql.ref(`f.${name}`)))
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
  async sharedWith(owner: string, names: readonly Name[]): Promise<number[]> {
    if (names.length === 0) return []
    // While the owner has dirty folders, `hidden` may be outdated: lists then check the folders themselves.
    const notHidden = (await this.isMarked(owner)) ? sql`` : sql` and hidden = 0`
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
  async levelsBelow(owner: string, folder: number): Promise<number> {
    const { rows } = await sql<{ levels: number }>`with recursive below(idlocal, level) as (
        select idlocal, 1 from files where owner = ${owner} and idlocal = ${folder}
        union all select f.idlocal, below.level + 1 from files f join below on f.parent = below.idlocal
          where f.owner = ${owner} and f.filetype = 'fold' and below.level < ${sql.lit(DEEPEST)}
      ) select max(level) as levels from below`.execute(this.db)
    return Number(rows[0]?.levels ?? 0)
  }

  /** Lists the owners with dirty folders, whose contents may have an outdated `hidden`. */
  async marked(): Promise<Set<string>> {
    const rows = await this.db.selectFrom('marks').select('owner').distinct().execute()
    return new Set(rows.map(({ owner }) => owner))
  }

  /** Returns whether an owner has dirty folders. */
  async isMarked(owner: string): Promise<boolean> {
    const cached = this.remembers ? this.markedOwners.get(owner) : undefined
    if (cached !== undefined) return cached
    const query = this.db.selectFrom('marks').select('folder').where('owner', '=', owner).limit(1)
    const isMarked = (await query.execute()).length > 0
    this.markedOwners.set(owner, isMarked)
    return isMarked
  }
}

/** Files updated, or deleted, in one transaction. */
const AT_ONCE = 400
const REMOVED = 50
/** Cost of the statements for one folder, in files. */
const A_FOLDER = 20

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
    private readonly atOnce = AT_ONCE,
  ) {
    super(db, false)
  }

  /** Updates the contents of a folder to its state: the first files at once, the rest in a job. */
  async tell(owner: string, folder: number): Promise<void> {
    await this.mark(owner, folder)
    if (!(await this.tellSome(owner))) await this.jobs.add(owner, 'tree')
  }

  /**
   * Updates the contents of a moved folder, if the owner has dirty folders: propagation from the former
   * ancestors no longer reaches them.
   */
  async moved({ owner, idlocal }: Pick<FileRow, 'owner' | 'idlocal'>): Promise<void> {
    if (await this.isMarked(owner)) await this.tell(owner, idlocal)
  }

  /** Marks a folder as dirty: no content of it is updated yet. */
  private async mark(owner: string, folder: number): Promise<void> {
    await this.db
      .insertInto('marks')
      .values({ owner, folder, done: '' })
      .onConflict((conflict) => conflict.columns(['owner', 'folder']).doUpdateSet({ done: '' }))
      .execute()
  }

  /** Updates more contents of a user's dirty folders. Returns whether all are done. */
  async tellSome(owner: string): Promise<boolean> {
    for (let left = this.atOnce; left > 0; ) {
      const [mark] = await this.db
        .selectFrom('marks')
        .selectAll()
        .where('owner', '=', owner)
        .orderBy('folder')
        .limit(1)
        .execute()
      if (!mark) return true
      left -= A_FOLDER + (await this.tellContents(mark, left))
    }
    return false
  }

  /** Updates some contents of one folder. Returns the cost, in files. */
  private async tellContents(
    mark: { owner: string; folder: number; done: string },
    limit: number,
  ): Promise<number> {
    const { owner, folder: idlocal } = mark
    const folder = await this.files.get(owner, idlocal)
    const state = folder ? stateIn(folder, await this.above(folder)) : 'gone'
    if (state === 'gone') return this.removeContents(mark, limit)
    const hidden = state === 'active' ? 0 : 1
    const rows = await this.db
      .selectFrom('files')
      .selectAll()
      .where('owner', '=', owner)
      .where('parent', '=', idlocal)
      .where('live_name', '>', mark.done)
      .orderBy('live_name')
      .limit(limit)
      .execute()
    const outdated = rows.filter((row) => row.hidden !== hidden)
    await this.files.hide(owner, outdated, hidden)
    for (const row of outdated) if (row.filetype === 'fold') await this.mark(owner, row.idlocal)
    if (rows.length < limit) await this.unmark(mark)
    else await this.note(mark, rows.at(-1)!.live_name!)
    return rows.length
  }

  /** Saves how far the contents of a folder are updated. */
  private async note({ owner, folder }: { owner: string; folder: number }, done: string): Promise<void> {
    await this.db
      .updateTable('marks')
      .set({ done })
      .where('owner', '=', owner)
      .where('folder', '=', folder)
      .execute()
  }

  /** Deletes some contents of a deleted folder, and finally the folder. Returns the cost, in files. */
  private async removeContents(
    mark: { owner: string; folder: number; done: string },
    limit: number,
  ): Promise<number> {
    const { owner, folder, done } = mark
    const batchSize = Math.min(limit, REMOVED)
    const contents = this.db
      .selectFrom('files')
      .selectAll()
      .where('owner', '=', owner)
      .where('parent', '=', folder)
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
    const files = rows.filter(({ filetype }) => filetype !== 'fold')
    await this.files.removeRows(
      owner,
      files.map(({ idlocal }) => idlocal),
    )
    for (const subfolder of rows.filter(({ filetype }) => filetype === 'fold')) {
      await this.files.markRemoved(subfolder)
      await this.mark(owner, subfolder.idlocal)
    }
    if (rows.length === batchSize) {
      if (name) await this.note(mark, name)
      return Number.POSITIVE_INFINITY
    }
    await this.files.removeRows(owner, [folder])
    await this.unmark(mark)
    return rows.length * (AT_ONCE / REMOVED)
  }

  private async unmark({ owner, folder }: { owner: string; folder: number }): Promise<void> {
    await this.db.deleteFrom('marks').where('owner', '=', owner).where('folder', '=', folder).execute()
  }
}

/** Stands in for a folder that does not exist. */
const NOWHERE = {
  parent: ROOT,
  filename: '',
  world_readable: 0,
  share_key: null,
  trashed_at: null,
  removed_at: 0,
}
