import type { Insertable, Selectable, Updateable } from 'kysely'
import { Problem } from '../../contract/errors.ts'
import type { Db, Schema } from './schema.ts'

export type FileRow = Selectable<Schema['files']>
export type Filetype = FileRow['filetype']

export interface ListQuery {
  owner: string
  /** Only this folder's; all of the owner's if not given. */
  parent?: number
  filetypes?: Filetype[]
  /** Only what anyone may read. */
  publicOnly: boolean
  order: 'filename' | 'date_modified'
  descending: boolean
  /** Key of the last file of the page before: the ordered value and the idlocal. */
  after?: [value: string | number, idlocal: number]
  /** Files to pass over, for clients that count pages. */
  skip?: number
  limit: number
}

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

  list(query: ListQuery): Promise<FileRow[]> {
    const { owner, parent, filetypes, publicOnly, order, descending, after, skip, limit } = query
    const direction = descending ? 'desc' : 'asc'
    let select = this.db
      .selectFrom('files')
      .selectAll()
      .where('owner', '=', owner)
      .where('trashed_at', 'is', null)
      .orderBy(order, direction)
      .orderBy('idlocal', direction)
      .limit(limit)
    if (parent !== undefined) select = select.where('parent', '=', parent)
    if (filetypes) select = select.where('filetype', 'in', filetypes)
    if (publicOnly) select = select.where('world_readable', '=', 1)
    if (skip) select = select.offset(skip)
    if (after) {
      const [value, idlocal] = after
      const beyond = descending ? '<' : '>'
      select = select.where(({ and, or, eb }) =>
        or([
          eb(order, beyond, value as never),
          and([eb(order, '=', value as never), eb('idlocal', beyond, idlocal)]),
        ]),
      )
    }
    return select.execute()
  }
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
      world_readable: 0,
      share_key: null,
      metadata: '{}',
      views: 0,
      source_fid: null,
      source_url: null,
      source_referer: null,
      ...file,
      idlocal: await this.nextIdlocal(file.owner),
      live_name: file.filename,
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
      .set(({ eb }) => ({ ...fields, date_modified: Date.now(), version: eb('version', '+', 1) }))
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .execute()
  }
}
