// Reads files of every type: names, folders, trash state.
import { type Selectable, sql } from 'kysely'
import { type FileKey, matchesAnyFile } from '../schema/file-key.ts'
import { inBatches } from '../schema/row-groups.ts'
import type { Db, Schema } from '../schema/schema.ts'

export type FileRow = Selectable<Schema['files']>
export type Filetype = FileRow['filetype']

/** Merges the time of the last append, which is stored separately, into `date_modified`. */
export function withLastAppend(row: FileRow): FileRow {
  if (row.appended_at !== null && row.appended_at > row.date_modified) row.date_modified = row.appended_at
  return row
}

const BATCH_FILES = 400
/** Maximum number of path segments resolved by one statement. */
const MAX_SEGMENTS = 8

/** Reads files of every type: names, folders, trash state. */
export class FileReader {
  constructor(protected readonly db: Db) {}

  async get(owner: string, idlocal: number): Promise<FileRow | undefined> {
    return (await this.listByIds(owner, [idlocal]))[0]
  }

  /** Lists files of one owner by id, in any order. */
  async listByIds(owner: string, ids: readonly number[]): Promise<FileRow[]> {
    const rows = await this.db
      .selectFrom('files')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', 'in', ids)
      .execute()
    return rows.map(withLastAppend)
  }

  /** Lists files of several owners by id, in any order. */
  async listByKeys(keys: readonly FileKey[]): Promise<FileRow[]> {
    const files: FileRow[] = []
    for (const batch of inBatches(keys, BATCH_FILES)) {
      const condition = matchesAnyFile(batch, 'owner', 'idlocal')
      const rows = await this.db.selectFrom('files').selectAll().where(condition).execute()
      files.push(...rows.map(withLastAppend))
    }
    return files
  }

  /** Returns whether a folder has contents, including trashed ones. */
  async hasChildren({ owner, idlocal }: FileRow): Promise<boolean> {
    const child = await this.db
      .selectFrom('files')
      .select('idlocal')
      .where(({ and }) => and({ owner, parent: idlocal }))
      .limit(1)
      .executeTakeFirst()
    return child !== undefined
  }

  /** Lists the copies of a file, ordered by id. */
  async listCopies(
    fid: string,
    after: FileKey | undefined,
    backwards: boolean,
    limit: number,
  ): Promise<FileRow[]> {
    let select = this.db
      .selectFrom('files')
      .selectAll()
      .where('source_fid', '=', fid)
      .orderBy('owner', backwards ? 'desc' : 'asc')
      .orderBy('idlocal', backwards ? 'desc' : 'asc')
      .limit(limit)
    if (after) {
      const beyond = backwards ? '<' : '>'
      select = select.where(
        sql<boolean>`(owner, idlocal) ${sql.raw(beyond)} (${after.owner}, ${after.idlocal})`,
      )
    }
    return (await select.execute()).map(withLastAppend)
  }

  /** Returns the file with this name in a folder, unless it is trashed. */
  async findByName(owner: string, parent: number, filename: string): Promise<FileRow | undefined> {
    const row = await this.db
      .selectFrom('files')
      .selectAll()
      .where(({ and }) => and({ owner, parent, live_name: filename }))
      .executeTakeFirst()
    return row && withLastAppend(row)
  }

  /** Returns names of files of a type in a folder, unless trashed. */
  async listNames(
    owner: string,
    parent: number,
    filetype: FileRow['filetype'],
    limit: number,
  ): Promise<string[]> {
    const rows = await this.db
      .selectFrom('files')
      .select('filename')
      .where(({ and }) => and({ owner, parent, filetype }))
      .where('live_name', 'is not', null)
      .limit(limit)
      .execute()
    return rows.map(({ filename }) => filename)
  }

  /** Returns the file at a path below a folder, unless trashed. One statement per eight names. */
  async findByPath(owner: string, parent: number, names: readonly string[]): Promise<FileRow | undefined> {
    if (names.length > MAX_SEGMENTS) {
      const folder = await this.findByPath(owner, parent, names.slice(0, MAX_SEGMENTS))
      if (folder?.filetype !== 'fold') return undefined
      return this.findByPath(owner, folder.idlocal, names.slice(MAX_SEGMENTS))
    }
    let folder = sql`${parent}`
    for (const name of names.slice(0, -1))
      folder = sql`(select idlocal from files where owner = ${owner} and parent = ${folder}
        and live_name = ${name} and filetype = 'fold')`
    const { rows } = await sql<FileRow>`select * from files where owner = ${owner} and parent = ${folder}
      and live_name = ${names.at(-1)}`.execute(this.db)
    return rows[0] && withLastAppend(rows[0])
  }

  /** Returns those of these names that exist in a folder. */
  async findTakenNames(owner: string, parent: number, names: readonly string[]): Promise<Set<string>> {
    const rows = await this.db
      .selectFrom('files')
      .select('live_name')
      .where(({ and }) => and({ owner, parent }))
      .where('live_name', 'in', names)
      .execute()
    return new Set(rows.map(({ live_name }) => live_name!))
  }
}
