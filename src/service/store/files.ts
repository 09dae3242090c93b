import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { Problem } from '../../contract/errors.ts'
import type { Db, Schema } from './schema.ts'

export type FileRow = Selectable<Schema['files']>
export type Filetype = FileRow['filetype']

/** Files that a search looks at. */
const SEARCHED = 5000

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Filter of a file list. */
export interface Listed {
  owner: string
  /** Only files in this folder. Default: all files of the owner. */
  parent?: number
  filetypes?: Filetype[]
  /** Only public files, these files, and files in these folders. Default: all. */
  visible?: { files: number[]; folders: number[] }
  /** List files that were trashed on their own (not with a folder), instead of active ones. */
  trashed?: boolean
}

/** One page of a file list. */
export interface ListQuery extends Listed {
  order: 'filename' | 'date_modified'
  descending: boolean
  /** Key of the last file of the previous page: the sort value and the idlocal. */
  after?: [value: string | number, idlocal: number]
  /** Files to skip, for clients that use page numbers. */
  skip?: number
  limit: number
}

/** Position in a list of files of many owners. */
export interface Key {
  owner: string
  idlocal: number
}

const BATCH = 400

/** Reads files of every type: names, folders, states. */
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

  /** Whether anything is in a folder, in the trash or not. */
  async hasChildren({ owner, idlocal }: FileRow): Promise<boolean> {
    const child = await this.db
      .selectFrom('files')
      .select('idlocal')
      .where('owner', '=', owner)
      .where('parent', '=', idlocal)
      .limit(1)
      .executeTakeFirst()
    return child !== undefined
  }

  /** The number of direct subfolders of each folder, optionally only of visible ones. */
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

  /** Copies of a file, ordered by id. */
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

  /** Returns the active file with this name in a folder. */
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
    // `live_name` has an index: use it to sort active files.
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
      // The first condition is redundant: it lets the engine seek in the index.
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

  /**
   * Files of a user with a text in their names, or in the names of their columns, last changed first. Looks at the files
   * that changed last: what a search costs does not grow with all files.
   */
  async search(owner: string, text: string, limit: number): Promise<FileRow[]> {
    const pattern = `%${text.replace(/[\\%_]/g, (c) => `\\${c}`)}%`
    const like = (column: 'recent.filename' | 'columns.name') =>
      // The engines know the case of ASCII only.
      sql<boolean>`lower(${sql.ref(column)}) like ${asciiLower(pattern)} escape '\\'`
    return this.db
      .selectFrom(
        this.listed({ owner }).selectAll().orderBy('date_modified', 'desc').limit(SEARCHED).as('recent'),
      )
      .selectAll('recent')
      .where(({ or, exists, selectFrom }) =>
        or([
          like('recent.filename'),
          exists(
            selectFrom('columns')
              .select('columns.uid')
              .where('columns.owner', '=', owner)
              .whereRef('columns.idlocal', '=', 'recent.idlocal')
              .where(like('columns.name')),
          ),
        ]),
      )
      .orderBy('recent.date_modified', 'desc')
      .limit(limit)
      .execute()
  }

  /** The number of files on all pages of a list. */
  async count(query: Listed): Promise<number> {
    const row = await this.listed(query)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return Number(row.count)
  }

  private listed({ owner, parent, filetypes, visible, trashed }: Listed) {
    let select = this.db.selectFrom('files').where('owner', '=', owner)
    if (parent !== undefined) select = select.where('parent', '=', parent)
    // Extras belong to no folder: they are listed only if asked for.
    if (trashed) select = select.where('trashed_at', 'is not', null).where('removed_at', 'is', null)
    else if (filetypes?.includes('extra')) select = select.where('trashed_at', 'is', null)
    // Active files other than extras have a `live_name`, which is indexed: counting reads no rows.
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

/** `now`, or the stored time if that is later: timestamps never decrease, even if the clock is set back. */
function notBefore(now: number) {
  return sql<number>`case when date_modified > ${now} then date_modified else ${now} end`
}

/** Ids as literals: there may be more of them than a statement can have parameters. */
function numbers(ids: readonly number[]) {
  return sql<number>`(${sql.join(ids.map((id) => sql.lit(id)))})`
}

export class FileWriter extends FileReader {
  /** Allocates the owner's next file id. Ids start at 0. */
  async nextIdlocal(owner: string): Promise<number> {
    const row = await this.db
      .updateTable('counters')
      .set(({ eb }) => ({ next_idlocal: eb('next_idlocal', '+', 1) }))
      .where('owner', '=', owner)
      // Below zero, the user was deleted.
      .where('next_idlocal', '>=', 0)
      .returning('next_idlocal')
      .executeTakeFirst()
    if (!row) throw new Problem('not_found', `no user named ${owner}`)
    return row.next_idlocal - 1
  }

  /** Adds a file to its folder. The name must be free there. */
  async add(
    file: Pick<Insertable<Schema['files']>, 'owner' | 'filetype' | 'filename' | 'parent'> & Partial<FileRow>,
  ): Promise<FileRow> {
    const now = Date.now()
    const row = {
      trashed_at: null,
      hidden: 0,
      removed_at: null,
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
      source_tag: null,
      source_version: null,
      ...file,
      idlocal: file.idlocal ?? (await this.nextIdlocal(file.owner)),
      creation_time: now,
      date_modified: now,
      version: 1,
      content_version: 1,
    }
    await this.db.insertInto('files').values(row).execute()
    return row
  }

  /** Changes fields and increments the version. The caller must have checked `If-Match`. */
  async change(owner: string, idlocal: number, fields: Updateable<Schema['files']> = {}): Promise<void> {
    await this.db
      .updateTable('files')
      .set(({ eb }) => ({ ...fields, date_modified: notBefore(Date.now()), version: eb('version', '+', 1) }))
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  /** Sets the number of the present version of the content. */
  async setContentVersion(owner: string, idlocal: number, content_version: number): Promise<void> {
    await this.db
      .updateTable('files')
      .set({ content_version })
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  /** Records what a client says the present version of a file was made from. */
  async setSourceTag(owner: string, idlocal: number, source_tag: string): Promise<void> {
    await this.db
      .updateTable('files')
      .set(({ ref }) => ({ source_tag, source_version: ref('version') }))
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  /** Marks a folder as deleted: it is gone with all that is in it. */
  async markRemoved(owner: string, idlocal: number): Promise<void> {
    await this.db
      .updateTable('files')
      .set({ removed_at: Date.now(), live_name: null })
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }

  /** Deletes files, without what is in them. Unreferenced blobs are collected later. */
  async removeRows(owner: string, ids: readonly number[]): Promise<void> {
    for (let k = 0; k < ids.length; k += BATCH) await this.removeSome(owner, ids.slice(k, k + BATCH))
  }

  private async removeSome(owner: string, ids: readonly number[]): Promise<void> {
    const stored_at = Date.now()
    // Keep the blobs for a while: readers may still be using them.
    for (const table of ['slices', 'contents', 'past_slices'] as const) {
      const hashes = this.db
        .selectFrom(table)
        .select('hash')
        .where('owner', '=', owner)
        .where('idlocal', 'in', ids)
      await this.db.updateTable('blobs').set({ stored_at }).where('hash', 'in', hashes).execute()
    }
    await this.db
      .updateTable('blobs')
      .set({ stored_at })
      .where(
        'hash',
        'in',
        this.db
          .selectFrom('versions')
          .select(({ ref }) => ref('hash').$notNull().as('hash'))
          .where('owner', '=', owner)
          .where('idlocal', 'in', ids)
          .where('hash', 'is not', null),
      )
      .execute()
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

/** Tables whose rows belong to a file and are deleted with it. */
const OF_A_FILE = [
  'files',
  'grids',
  'columns',
  'slices',
  'tail',
  'past_columns',
  'past_slices',
  'versions',
  'drafts',
  'contents',
  'plots',
  'references',
  'collaborators',
  'stars',
] as const
