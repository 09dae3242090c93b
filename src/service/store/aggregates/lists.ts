// Serves lists of files from ranges of indexes.
import { sql } from 'kysely'
import { lowerCaseAscii } from '../../../contract/ascii-case.ts'
import { matchesAnyFile } from '../schema/file-key.ts'
import { inBatches } from '../schema/row-groups.ts'
import type { Db } from '../schema/schema.ts'
import { COUNT_PLACES, FileCounts } from './file-counts.ts'
import { type FileRow, withLastAppend } from './files.ts'
import type { FolderReader } from './folders.ts'
import {
  type FileList,
  isInFolders,
  isListed,
  type ListScope,
  listTypes,
  type RangeOptions,
  type SqlFragment,
  selectRanges,
  selectSharedWith,
  TYPES,
  uniteRanges,
  withTrashedFolders,
} from './list-ranges.ts'
import { selectFilesWithWord, selectLastIndexed } from './words.ts'

export interface ListQuery extends FileList {
  order: 'filename' | 'date_modified'
  descending: boolean
  /** Last file of the previous page: its sort value and id. */
  after?: [value: string | number, idlocal: number]
  /** Number of files to skip, for clients with page numbers. Skipped files are read. */
  skip?: number
  limit: number
}

/** Scope of the owner: everything. */
export const OWNER_SCOPE: ListScope = { seesAll: true, names: [], folders: [] }

/** Files that a search always reads: those changed last. */
const LATEST_FILES = 500
/** Files that a search reads besides: those whose words are not indexed yet, and those with one of its words. */
const MAX_UNINDEXED = 5000
const MAX_WITH_WORD = 1000
/** Number of files that one query compares with a text. */
const BATCH_FILES = 400

/** Maximum count of files of other users. */
const MAX_COUNTED_FILES = 1000

/** A file in a list: sort value and id, with all columns if they were read. */
type ListEntry = { k: string | number; idlocal: number } & Partial<FileRow>

/** Returns whether all columns of a file were read. */
function isWholeEntry(entry: ListEntry): entry is ListEntry & FileRow {
  return entry.filetype !== undefined
}

/**
 * Lists files. A list is one index range, or a merge of several: one per requested type, and one per grantee.
 * No range reads more rows than a page has, so the cost of a page does not depend on the number of files.
 */
export class ListReader {
  private readonly counts: FileCounts

  constructor(
    private readonly db: Db,
    private readonly folders: FolderReader,
  ) {
    this.counts = new FileCounts(db)
  }

  /** Loads one page of a list. */
  async loadPage(query: ListQuery): Promise<FileRow[]> {
    const { owner, skip = 0, limit, order, descending, after } = query
    const isOutdated = await this.mayBeOutdated(query)
    // Of skipped rows, read only the keys.
    const options: RangeOptions = { order, descending, after, limit: skip + limit, isWhole: skip === 0 }
    const page = (await this.loadEntries(query, isOutdated, options)).slice(skip)
    const missing = page.filter((entry) => !isWholeEntry(entry)).map(({ idlocal }) => idlocal)
    const rows =
      missing.length === 0
        ? []
        : await this.db
            .selectFrom('files')
            .selectAll()
            .where('owner', '=', owner)
            .where('idlocal', 'in', missing)
            .execute()
    const byId = new Map(rows.map((row) => [row.idlocal, row]))
    return page.flatMap((entry) => {
      const row = isWholeEntry(entry) ? entry : byId.get(entry.idlocal)
      return row ? [withLastAppend(row)] : []
    })
  }

  /** Loads the first entries of a list, without duplicates. */
  private async loadEntries(
    query: FileList,
    isOutdated: boolean,
    options: RangeOptions,
  ): Promise<ListEntry[]> {
    const { descending, limit } = options
    const ownEntries = await this.mergeRanges(
      query,
      isOutdated,
      selectRanges(query, isOutdated, options),
      options,
    )
    const { names } = query.viewer
    if (query.viewer.seesAll || names.length === 0) return uniqueEntries(ownEntries)
    const ranges = names.map((name) => selectSharedWith(query, name, options, isOutdated))
    const sharedEntries = await this.mergeRanges(query, isOutdated, ranges, options)
    const sign = descending ? -1 : 1
    return uniqueEntries([...ownEntries, ...sharedEntries].sort((a, b) => sign * compareEntries(a, b))).slice(
      0,
      limit,
    )
  }

  /** Merges ranges in one statement. */
  private async mergeRanges(
    query: FileList,
    isOutdated: boolean,
    ranges: readonly SqlFragment[],
    { descending, limit }: RangeOptions,
  ): Promise<ListEntry[]> {
    const direction = sql.raw(descending ? 'desc' : 'asc')
    const union = uniteRanges(ranges)
    const { rows } =
      await sql<ListEntry>`${withTrashedFolders(query, isOutdated)} select * from (${union}) as u
      order by k ${direction}, idlocal ${direction} limit ${sql.lit(limit)}`.execute(this.db)
    return rows
  }

  /** Counts the files on all pages; null above 1,000 files of another user. */
  async countFiles(query: FileList): Promise<number | null> {
    const { owner, parent, filetypes = TYPES, viewer, trashed } = query
    if (await this.mayBeOutdated(query)) return this.countWhileDirty(query)
    const place = trashed ? COUNT_PLACES.trashed : (parent ?? COUNT_PLACES.active)
    const { files, open } = await this.counts.sumPlaces(owner, [place], filetypes, viewer.folders)
    if (viewer.seesAll) return files
    return capCount(open > MAX_COUNTED_FILES ? open : open + (await this.countShared(query)))
  }

  /** Counts files shared with the user, without public ones and those in shared folders; up to 1,001. */
  private async countShared({ owner, parent, filetypes = TYPES, viewer }: FileList): Promise<number> {
    const { names, folders } = viewer
    if (names.length === 0) return 0
    const notInFolders = folders.length > 0 ? sql` and not ${isInFolders(viewer)}` : sql``
    const parts = names.map(
      ({ kind, name }) => sql`select * from (select idlocal from collaborators where owner = ${owner}
        and kind = ${sql.lit(kind)} and name = ${name} and filename is not null and world_readable = 0
        and filetype in ${listTypes(filetypes)}${
          parent === undefined ? sql` and hidden = 0${notInFolders}` : sql` and parent = ${parent}`
        } order by filename limit ${sql.lit(MAX_COUNTED_FILES + 1)}) as p`,
    )
    const { rows } = await sql<{ files: number }>`select count(*) as files from (${sql.join(
      parts,
      sql` union `,
    )}) as u`.execute(this.db)
    return Number(rows[0].files)
  }

  /** Counts files while the owner has dirty folders, so that stored counts may be outdated. */
  private async countWhileDirty(query: FileList): Promise<number | null> {
    const { owner, filetypes = TYPES, viewer, trashed } = query
    if (viewer.seesAll && !trashed) {
      const { files } = await this.counts.sumPlaces(
        owner,
        [COUNT_PLACES.active, COUNT_PLACES.hidden],
        filetypes,
      )
      return files - (await this.counts.countBelowTrash(owner, filetypes))
    }
    const limit = trashed ? Number.MAX_SAFE_INTEGER : MAX_COUNTED_FILES + 1
    const entries = await this.loadEntries(query, true, { order: 'filename', descending: false, limit })
    return trashed ? entries.length : capCount(entries.length)
  }

  /**
   * Finds files by text in their names, column names or titles, latest change first. Reads the files changed last,
   * those whose words are not indexed yet, and those with a word that begins like the rarest word of the text: its
   * cost does not grow with the number of files.
   */
  async searchFiles(owner: string, text: string, limit: number): Promise<FileRow[]> {
    const query: FileList = { owner, viewer: OWNER_SCOPE }
    const isOutdated = await this.mayBeOutdated(query)
    const hiding = withTrashedFolders(query, isOutdated)
    const latest = selectRanges(query, isOutdated, {
      order: 'date_modified',
      descending: true,
      limit: LATEST_FILES,
    })
    const contains = containsText(owner, text)
    const { rows: found } = await sql<FileRow>`${hiding} select files.* from (
        select k, idlocal from (${uniteRanges(latest)}) as u order by k desc, idlocal desc
          limit ${sql.lit(LATEST_FILES)}) as page
      join files on files.owner = ${owner} and files.idlocal = page.idlocal
      where ${contains} order by page.k desc, page.idlocal desc limit ${sql.lit(limit)}`.execute(this.db)
    if (found.length >= limit) return found.map(withLastAppend)
    const unindexed = sql`select idlocal from files where owner = ${owner} and idlocal > ${selectLastIndexed(owner)}
      order by idlocal desc limit ${sql.lit(MAX_UNINDEXED)}`
    const indexed = await selectFilesWithWord(this.db, owner, text, MAX_WITH_WORD)
    const candidates = uniteRanges(indexed ? [unindexed, indexed] : [unindexed])
    const known = new Set(found.map(({ idlocal }) => idlocal))
    const modified = sql`coalesce(files.appended_at, files.date_modified)`
    const { rows: older } = await sql<FileRow>`${hiding} select files.* from files
      where owner = ${owner} and idlocal in (${candidates}) and ${isListed(isOutdated)} and ${contains}
      order by ${modified} desc, idlocal desc limit ${sql.lit(limit)}`.execute(this.db)
    return [...found, ...older.filter(({ idlocal }) => !known.has(idlocal))]
      .slice(0, limit)
      .map(withLastAppend)
  }

  /** Returns those of some files in which a search for a text finds it. */
  async filterByText(files: readonly FileRow[], text: string): Promise<FileRow[]> {
    const found = new Set<string>()
    for (const batch of inBatches(files, BATCH_FILES)) {
      const rows = await this.db
        .selectFrom('files')
        .select(['owner', 'idlocal'])
        .where(matchesAnyFile(batch, 'owner', 'idlocal'))
        .where(sql<boolean>`${containsText(sql.ref('files.owner'), text)}`)
        .execute()
      for (const { owner, idlocal } of rows) found.add(`${owner}:${idlocal}`)
    }
    return files.filter(({ owner, idlocal }) => found.has(`${owner}:${idlocal}`))
  }

  /** Counts the visible subfolders of visible folders, by id; null above 1,000 in folders of another user. */
  async countSubfolders(
    owner: string,
    folders: readonly { idlocal: number; viewer: ListScope }[],
  ): Promise<Map<number, number | null>> {
    const ids = folders.map(({ idlocal }) => idlocal)
    const counts = await this.counts.loadSubfolderCounts(owner, ids)
    const visible = new Map<number, number | null>()
    const restricted: { idlocal: number; viewer: ListScope; open: number }[] = []
    for (const { idlocal, viewer } of folders) {
      const { files, open } = counts.get(idlocal) ?? { files: 0, open: 0 }
      visible.set(idlocal, viewer.seesAll ? files : capCount(open))
      if (!viewer.seesAll && open <= MAX_COUNTED_FILES && files > open && viewer.names.length > 0)
        restricted.push({ idlocal, viewer, open })
    }
    if (restricted.length === 0) return visible
    const parts = restricted.map(({ idlocal: parent, viewer, open }) => {
      const perGrantee = viewer.names.map(
        ({ kind, name }) => sql`select * from (select idlocal from collaborators where owner = ${owner}
          and kind = ${sql.lit(kind)} and name = ${name} and parent = ${sql.lit(parent)} and filename is not null
          and filetype = 'fold' and world_readable = 0 limit ${sql.lit(MAX_COUNTED_FILES + 1)}) as p`,
      )
      return sql`select ${sql.lit(parent)} as parent, ${sql.lit(open)} + count(*) as files
        from (${sql.join(perGrantee, sql` union `)}) as u`
    })
    const { rows } = await sql<{
      parent: number
      files: number
    }>`${sql.join(parts, sql` union all `)}`.execute(this.db)
    for (const { parent, files } of rows) visible.set(Number(parent), capCount(Number(files)))
    return visible
  }

  /** Returns whether `hidden` may be outdated and the list uses it. Lists of one folder do not. */
  private async mayBeOutdated({ owner, parent, trashed }: FileList): Promise<boolean> {
    return parent === undefined || trashed === true ? this.folders.hasDirtyFolders(owner) : false
  }
}

/** SQL: a name of the file, of its columns or of its chart contains a text. */
function containsText(owner: string | SqlFragment, text: string): SqlFragment {
  const pattern = `%${text.replace(/[\\%_]/g, (c) => `\\${c}`)}%`
  // The database engines fold case only for ASCII.
  const like = (column: string): SqlFragment =>
    sql`lower(${sql.ref(column)}) like ${lowerCaseAscii(pattern)} escape '\\'`
  return sql`(${like('files.filename')} or (files.filetype = 'grid' and exists (select 1 from columns
    where columns.owner = ${owner} and columns.idlocal = files.idlocal and ${like('columns.name')}))
    or (files.filetype = 'plot' and exists (select 1 from plots
    where plots.owner = ${owner} and plots.idlocal = files.idlocal and ${like('plots.title')})))`
}

/** Returns a count of another user's files; null above 1,000. */
function capCount(files: number): number | null {
  return files > MAX_COUNTED_FILES ? null : files
}

/** Compares by sort value, then by id. Names in byte order, as the engines do. */
function compareEntries(a: ListEntry, b: ListEntry): number {
  if (a.k === b.k) return a.idlocal - b.idlocal
  if (typeof a.k === 'number' || typeof b.k === 'number') return Number(a.k) - Number(b.k)
  return Buffer.compare(Buffer.from(a.k), Buffer.from(b.k))
}

/** Removes duplicates: a public file, or one in a shared folder, may be shared as well. */
function uniqueEntries(entries: readonly ListEntry[]): ListEntry[] {
  const byId = new Map<number, ListEntry>()
  for (const entry of entries) {
    const previous = byId.get(entry.idlocal)
    if (!previous || !isWholeEntry(previous))
      byId.set(entry.idlocal, previous ? Object.assign(previous, entry) : entry)
  }
  return [...byId.values()]
}
