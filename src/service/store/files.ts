import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { Problem } from '../../contract/errors.ts'
import type { Db, Schema } from './schema.ts'

export type FileRow = Selectable<Schema['files']>
export type Filetype = FileRow['filetype']

/** Which files a list has. */
export interface Listed {
  owner: string
  /** Only this folder's; all of the owner's if not given. */
  parent?: number
  filetypes?: Filetype[]
  /** Only what anyone may read, and what of the rest the caller may; all if not given. */
  visible?: { files: number[]; folders: number[] }
  /** What is in the trash by itself, instead of what is active. */
  trashed?: boolean
}

/** One page of it. */
export interface ListQuery extends Listed {
  order: 'filename' | 'date_modified'
  descending: boolean
  /** Key of the last file of the page before: the ordered value and the idlocal. */
  after?: [value: string | number, idlocal: number]
  /** Files to pass over, for clients that count pages. */
  skip?: number
  limit: number
}

/** Where a page of files of many owners ended. */
export interface Key {
  owner: string
  idlocal: number
}

const BATCH = 400

/** Files of every kind: names, places, states. */
export class FileReader {
  constructor(protected readonly db: Db) {}

  get(owner: string, idlocal: number): Promise<FileRow | undefined> {
    return this.db
      .selectFrom('files')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .executeTakeFirst()
  }

  /** Ids of the folders in these folders, whatever their state. */
  async foldersIn(owner: string, parents: readonly number[]): Promise<number[]> {
    const ids: number[] = []
    for (let k = 0; k < parents.length; k += BATCH) {
      const rows = await this.db
        .selectFrom('files')
        .select('idlocal')
        .where('owner', '=', owner)
        .where('parent', 'in', parents.slice(k, k + BATCH))
        .where('filetype', '=', 'fold')
        .execute()
      ids.push(...rows.map(({ idlocal }) => idlocal))
    }
    return ids
  }

  /** These folders and all below them. */
  async foldersBelow(owner: string, folders: readonly number[]): Promise<number[]> {
    const all = new Set(folders)
    for (let level = [...folders]; level.length > 0; ) {
      level = (await this.foldersIn(owner, level)).filter((id) => !all.has(id))
      for (const id of level) all.add(id)
    }
    return [...all]
  }

  /** How many folders are in each other from this one down, itself counted. */
  async levelsBelow(owner: string, folder: number): Promise<number> {
    let levels = 0
    for (let level = [folder]; level.length > 0; levels++) level = await this.foldersIn(owner, level)
    return levels
  }

  /** How many folders are in each of these; only those that are visible, if that is given. */
  async subfolderCounts(
    owner: string,
    folders: readonly number[],
    visible: Listed['visible'],
  ): Promise<Map<number, number>> {
    if (folders.length === 0) return new Map()
    const rows = await this.listed({ owner, filetypes: ['fold'], visible })
      .select(({ fn }) => ['parent', fn.countAll<number>().as('count')])
      .where('parent', 'in', folders)
      .groupBy('parent')
      .execute()
    return new Map(rows.map(({ parent, count }) => [parent, Number(count)]))
  }

  /** Copies of a file, in the order of their ids. */
  copiesOf(fid: string, after: Key | undefined, backwards: boolean, limit: number): Promise<FileRow[]> {
    let select = this.db
      .selectFrom('files')
      .selectAll()
      .where('source_fid', '=', fid)
      .orderBy('owner', backwards ? 'desc' : 'asc')
      .orderBy('idlocal', backwards ? 'desc' : 'asc')
      .limit(limit)
    if (after) {
      const beyond = backwards ? '<' : '>'
      select = select.where(({ or, and, eb }) =>
        or([
          eb('owner', beyond, after.owner),
          and([eb('owner', '=', after.owner), eb('idlocal', beyond, after.idlocal)]),
        ]),
      )
    }
    return select.execute()
  }

  /** The active file of that name in a folder. */
  named(owner: string, parent: number, filename: string): Promise<FileRow | undefined> {
    return this.db
      .selectFrom('files')
      .selectAll()
      .where('owner', '=', owner)
      .where('parent', '=', parent)
      .where('live_name', '=', filename)
      .executeTakeFirst()
  }

  /** Which of these names are taken in a folder. */
  async takenNames(owner: string, parent: number, names: readonly string[]): Promise<Set<string>> {
    const rows = await this.db
      .selectFrom('files')
      .select('live_name')
      .where('owner', '=', owner)
      .where('parent', '=', parent)
      .where('live_name', 'in', names)
      .execute()
    return new Set(rows.map(({ live_name }) => live_name!))
  }

  list(query: ListQuery): Promise<FileRow[]> {
    const { descending, after, skip, limit } = query
    const direction = descending ? 'desc' : 'asc'
    // Names of active files are in an index, which has them in order.
    const named = query.order === 'filename' && !query.trashed && !query.filetypes?.includes('extra')
    const order = named ? 'live_name' : query.order
    let select = this.listed(query)
      .selectAll()
      .orderBy(order, direction)
      .orderBy('idlocal', direction)
      .limit(limit)
    if (skip) select = select.offset(skip)
    if (after) {
      const [value, idlocal] = after
      const beyond = descending ? '<' : '>'
      // The first condition says nothing new: it is what an index is entered by.
      select = select
        .where(order, `${beyond}=`, value as never)
        .where(({ and, or, eb }) =>
          or([
            eb(order, beyond, value as never),
            and([eb(order, '=', value as never), eb('idlocal', beyond, idlocal)]),
          ]),
        )
    }
    return select.execute()
  }

  /** How many files such a list has on all its pages. */
  async count(query: Listed): Promise<number> {
    const row = await this.listed(query)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return Number(row.count)
  }

  private listed({ owner, parent, filetypes, visible, trashed }: Listed) {
    let select = this.db.selectFrom('files').where('owner', '=', owner)
    if (parent !== undefined) select = select.where('parent', '=', parent)
    // Extras are in no folder; they are found through what references them.
    if (trashed) select = select.where('trashed_at', 'is not', null).where('trashed_with', 'is', null)
    else if (filetypes?.includes('extra')) select = select.where('trashed_at', 'is', null)
    // What is active and no extra has its name in an index: to count it no row is read.
    else select = select.where('live_name', 'is not', null)
    if (filetypes) select = select.where('filetype', 'in', filetypes)
    if (visible) {
      const { files, folders } = visible
      select = select.where(({ or, eb }) =>
        or([
          eb('world_readable', '=', 1),
          ...(files.length > 0 ? [eb('idlocal', 'in', numbers(files))] : []),
          ...(folders.length > 0 ? [eb('parent', 'in', numbers(folders))] : []),
        ]),
      )
    }
    return select
  }
}

/** `now`, or what is there if the clock has been set back since: a file's stamps never decrease. */
function notBefore(now: number) {
  return sql<number>`case when date_modified > ${now} then date_modified else ${now} end`
}

/** Ids as part of the statement: there may be more of them than a statement takes parameters. */
function numbers(ids: readonly number[]) {
  return sql<number>`(${sql.join(ids.map((id) => sql.lit(id)))})`
}

export class FileWriter extends FileReader {
  /** The next id of the owner's sequence, from 0. */
  async nextIdlocal(owner: string): Promise<number> {
    const row = await this.db
      .updateTable('counters')
      .set(({ eb }) => ({ next_idlocal: eb('next_idlocal', '+', 1) }))
      .where('owner', '=', owner)
      .returning('next_idlocal')
      .executeTakeFirst()
    if (!row) throw new Problem('not_found', `no user is called ${owner}`)
    return row.next_idlocal - 1
  }

  /** Puts a new file in its folder; its name must be free there. */
  async add(
    file: Pick<Insertable<Schema['files']>, 'owner' | 'filetype' | 'filename' | 'parent'> & Partial<FileRow>,
  ): Promise<FileRow> {
    const now = Date.now()
    const row = {
      trashed_at: null,
      trashed_with: null,
      is_theme: null,
      is_template: null,
      live_name: file.filename,
      world_readable: 0,
      share_key: null,
      metadata: '{}',
      views: 0,
      source_fid: null,
      source_url: null,
      source_referer: null,
      ...file,
      idlocal: file.idlocal ?? (await this.nextIdlocal(file.owner)),
      creation_time: now,
      date_modified: now,
      version: 1,
    }
    await this.db.insertInto('files').values(row).execute()
    return row
  }

  /** Changes fields and counts the version up. `If-Match` is checked by whoever read the row. */
  async change(owner: string, idlocal: number, fields: Updateable<Schema['files']> = {}): Promise<void> {
    await this.db
      .updateTable('files')
      .set(({ eb }) => ({ ...fields, date_modified: notBefore(Date.now()), version: eb('version', '+', 1) }))
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  /** Into the trash: the file, and of a folder all that is active below it. Its name is free at once. */
  async trash(file: FileRow): Promise<void> {
    const { owner, idlocal } = file
    const trashed_at = Date.now()
    await this.change(owner, idlocal, { trashed_at, trashed_with: null, live_name: null })
    if (file.filetype !== 'fold') return
    const folders = await this.foldersBelow(owner, [idlocal])
    for (let k = 0; k < folders.length; k += BATCH) {
      await this.db
        .updateTable('files')
        .set(({ eb }) => ({
          trashed_at,
          trashed_with: idlocal,
          live_name: null,
          version: eb('version', '+', 1),
        }))
        .where('owner', '=', owner)
        .where('parent', 'in', folders.slice(k, k + BATCH))
        .where('trashed_at', 'is', null)
        .execute()
    }
  }

  /** Out of the trash, into `parent`; of a folder all that was taken there with it. */
  async restore(file: FileRow, parent: number): Promise<void> {
    const { owner, idlocal, filename, filetype } = file
    await this.change(owner, idlocal, {
      trashed_at: null,
      trashed_with: null,
      live_name: filetype === 'extra' ? null : filename,
      parent,
    })
    if (filetype !== 'fold') return
    const together = [idlocal, ...(file.trashed_with === null ? [] : [file.trashed_with])]
    const folders = await this.foldersBelow(owner, [idlocal])
    for (let k = 0; k < folders.length; k += BATCH) {
      await this.db
        .updateTable('files')
        .set(({ eb, ref }) => ({
          trashed_at: null,
          trashed_with: null,
          live_name: ref('filename'),
          version: eb('version', '+', 1),
        }))
        .where('owner', '=', owner)
        .where('parent', 'in', folders.slice(k, k + BATCH))
        .where('trashed_with', 'in', together)
        .execute()
    }
  }

  /** A name that two files in a folder would have if it were restored: renamed, moved or made meanwhile. */
  async doubleIn({ owner, idlocal, trashed_with }: FileRow): Promise<string | undefined> {
    const together = [idlocal, ...(trashed_with === null ? [] : [trashed_with])]
    const folders = await this.foldersBelow(owner, [idlocal])
    for (let k = 0; k < folders.length; k += BATCH) {
      const row = await this.db
        .selectFrom('files')
        .select('filename')
        .where('owner', '=', owner)
        .where('parent', 'in', folders.slice(k, k + BATCH))
        .where(({ or, eb }) => or([eb('trashed_at', 'is', null), eb('trashed_with', 'in', together)]))
        .where('filetype', '!=', 'extra')
        .groupBy(['parent', 'filename'])
        .having(({ fn }) => fn.countAll(), '>', 1)
        .limit(1)
        .executeTakeFirst()
      if (row) return row.filename
    }
    return undefined
  }

  /** A file and all below it, for good. Bytes that nothing names any more are collected later. */
  async remove(file: FileRow): Promise<void> {
    const { owner, idlocal } = file
    const ids = [idlocal]
    if (file.filetype === 'fold') {
      const folders = await this.foldersBelow(owner, [idlocal])
      for (let k = 0; k < folders.length; k += BATCH) {
        const rows = await this.db
          .selectFrom('files')
          .select('idlocal')
          .where('owner', '=', owner)
          .where('parent', 'in', folders.slice(k, k + BATCH))
          .execute()
        ids.push(...rows.map((row) => row.idlocal))
      }
    }
    for (let k = 0; k < ids.length; k += BATCH) await this.removeRows(owner, ids.slice(k, k + BATCH))
  }

  private async removeRows(owner: string, ids: number[]): Promise<void> {
    const stored_at = Date.now()
    // Readers that have seen these blobs may still be reading them.
    for (const table of ['slices', 'contents'] as const) {
      const hashes = this.db
        .selectFrom(table)
        .select('hash')
        .where('owner', '=', owner)
        .where('idlocal', 'in', ids)
      await this.db.updateTable('blobs').set({ stored_at }).where('hash', 'in', hashes).execute()
    }
    await this.db
      .deleteFrom('references')
      .where('to_owner', '=', owner)
      .where('to_idlocal', 'in', ids)
      .execute()
    for (const table of OF_A_FILE) {
      await this.db.deleteFrom(table).where('owner', '=', owner).where('idlocal', 'in', ids).execute()
    }
  }
}

/** Tables whose rows belong to a file and go with it. */
const OF_A_FILE = [
  'files',
  'grids',
  'columns',
  'slices',
  'tail',
  'contents',
  'plots',
  'references',
  'collaborators',
  'stars',
] as const
