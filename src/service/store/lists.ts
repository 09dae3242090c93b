import { type RawBuilder, sql } from 'kysely'
import { Counts, hidingFolders, PLACES } from './counts.ts'
import { asFile, type FileRow, type Filetype } from './files.ts'
import type { Db } from './schema.ts'
import type { Name } from './sharing.ts'

/** What somebody may see of the files of an owner. Whoever they are, public files are among it. */
export interface Viewer {
  /** Everything: the owner, or somebody who was granted the folder that is listed. */
  seesAll: boolean
  /** The names that files may be shared with. */
  names: readonly Name[]
  /** Granted folders, and all below them; for lists of all files. */
  folders: readonly number[]
}

/** A list of files of one owner. */
export interface Listed {
  owner: string
  /** The folder; undefined for the files in all folders. It is not in the trash. */
  parent?: number
  /** Types of the files. Default: all but extras, which are in no folder. */
  filetypes?: readonly Filetype[]
  viewer: Viewer
  /** Files that are in the trash themselves, instead of those that are not. For the owner only. */
  trashed?: boolean
}

export interface ListQuery extends Listed {
  order: 'filename' | 'date_modified'
  descending: boolean
  /** Key of the last file of the previous page: the sort value and the idlocal. */
  after?: [value: string | number, idlocal: number]
  /** Files to skip, for clients that use page numbers. All are read. */
  skip?: number
  limit: number
}

/** Whose own lists show everything. */
export const OWNER: Viewer = { seesAll: true, names: [], folders: [] }

const TYPES: readonly Filetype[] = ['grid', 'plot', 'fold']

/** Files that a search looks at. */
const SEARCHED = 5000

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Files of others are counted up to here. */
const COUNTED = 1000

type Part = RawBuilder<unknown>

/** How one statement orders and cuts what it takes from each index. */
interface Cut {
  order: 'filename' | 'date_modified' | undefined
  descending: boolean
  after?: [value: string | number, idlocal: number]
  limit: number
}

/**
 * Lists of files. A list is merged from ranges of indexes: one for each type and access, and one for each name that
 * files are shared with. Each range gives as many keys as the page has, so that a page costs the same however many
 * files there are.
 */
export class ListReader {
  private readonly counts: Counts

  constructor(private readonly db: Db) {
    this.counts = new Counts(db)
  }

  async page(query: ListQuery): Promise<FileRow[]> {
    const { owner, skip = 0, limit, order, descending, after } = query
    const direction = sql.raw(descending ? 'desc' : 'asc')
    const isMarked = await this.isMarked(query)
    const parts = partsOf(query, isMarked, { order, descending, after, limit: skip + limit })
    const keys = sql`select k, idlocal from (${union(query, parts)}) as u
      order by k ${direction}, idlocal ${direction} limit ${sql.lit(skip + limit)}`
    if (skip === 0) {
      const rows = await sql<FileRow>`with ${ctes(query, isMarked)} page(k, idlocal) as (${keys})
        select files.* from page join files on files.owner = ${owner} and files.idlocal = page.idlocal
        order by page.k ${direction}, page.idlocal ${direction}`.execute(this.db)
      return rows.rows.map(asFile)
    }
    const all = await sql<{ idlocal: number }>`with ${ctes(query, isMarked)} page(k, idlocal) as (${keys})
      select idlocal from page order by k ${direction}, idlocal ${direction}`.execute(this.db)
    const ids = all.rows.slice(skip).map(({ idlocal }) => idlocal)
    if (ids.length === 0) return []
    const rows = await this.db
      .selectFrom('files')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', 'in', ids)
      .execute()
    const byId = new Map(rows.map((row) => [row.idlocal, asFile(row)]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  }

  /** The number of files on all pages; of files of others null if there are more than 1,000. */
  async count(query: Listed): Promise<number | null> {
    const { owner, parent, filetypes = TYPES, viewer, trashed } = query
    const isMarked = await this.isMarked(query)
    if (viewer.seesAll && !(trashed && isMarked)) {
      if (trashed) return this.counts.sum(owner, [PLACES.trashed], filetypes)
      if (parent !== undefined) return this.counts.sum(owner, [parent], filetypes)
      if (!isMarked) return this.counts.sum(owner, [PLACES.shown], filetypes)
      const all = await this.counts.sum(owner, [PLACES.shown, PLACES.hidden], filetypes)
      return all - (await this.counts.hidden(owner, filetypes))
    }
    const most = viewer.seesAll ? Number.MAX_SAFE_INTEGER : COUNTED
    const parts = partsOf(query, isMarked, {
      order: undefined,
      descending: false,
      limit: viewer.seesAll ? most : COUNTED + 1,
    })
    const { rows } = await sql<{ files: number }>`with ${ctes(query, isMarked)} page(idlocal) as (
        select idlocal from (${union(query, parts)}) as u limit ${sql.lit(viewer.seesAll ? most : COUNTED + 1)})
      select count(*) as files from page`.execute(this.db)
    const files = Number(rows[0].files)
    return files > most ? null : files
  }

  /**
   * Files of a user with a text in their names, or in the names of their columns, last changed first. Looks at the files
   * that changed last: what a search costs does not grow with all files.
   */
  async search(owner: string, text: string, limit: number): Promise<FileRow[]> {
    const query: Listed = { owner, viewer: OWNER }
    const isMarked = await this.isMarked(query)
    const parts = partsOf(query, isMarked, { order: 'date_modified', descending: true, limit: SEARCHED })
    const pattern = `%${text.replace(/[\\%_]/g, (c) => `\\${c}`)}%`
    // The engines know the case of ASCII only.
    const like = (column: string): Part =>
      sql`lower(${sql.ref(column)}) like ${asciiLower(pattern)} escape '\\'`
    const { rows } = await sql<FileRow>`with ${ctes(query, isMarked)} page(k, idlocal) as (
        select k, idlocal from (${union(query, parts)}) as u order by k desc, idlocal desc limit ${sql.lit(SEARCHED)})
      select files.* from page join files on files.owner = ${owner} and files.idlocal = page.idlocal
      where ${like('files.filename')} or exists (select 1 from columns where columns.owner = ${owner}
        and columns.idlocal = page.idlocal and ${like('columns.name')})
      order by page.k desc, page.idlocal desc limit ${sql.lit(limit)}`.execute(this.db)
    return rows.map(asFile)
  }

  /** The subfolders that a viewer sees of folders that they see; null where there are more than 1,000 of others. */
  async subfolders(
    owner: string,
    folders: readonly { idlocal: number; viewer: Viewer }[],
  ): Promise<Map<number, number | null>> {
    const found = new Map<number, number | null>()
    const all = folders.filter(({ viewer }) => viewer.seesAll).map(({ idlocal }) => idlocal)
    if (all.length > 0)
      for (const [folder, files] of await this.counts.subfolders(owner, all)) found.set(folder, files)
    const some = folders.filter(({ viewer }) => !viewer.seesAll)
    if (some.length === 0) return found
    const counts = some.map(({ idlocal: parent, viewer }) => {
      const query: Listed = { owner, parent, filetypes: ['fold'], viewer }
      const cut = { order: undefined, descending: false, limit: COUNTED + 1 }
      return sql`select ${sql.lit(parent)} as parent, count(*) as files from (
        select idlocal from (${union(query, partsOf(query, false, cut))}) as u limit ${sql.lit(COUNTED + 1)}) as s`
    })
    const { rows } = await sql<{
      parent: number
      files: number
    }>`${sql.join(counts, sql` union all `)}`.execute(this.db)
    for (const { parent, files } of rows) found.set(parent, Number(files) > COUNTED ? null : Number(files))
    return found
  }

  /** Whether `hidden` is behind what folders say. Lists of one folder do not look at it. */
  private async isMarked({ owner, parent, trashed }: Listed): Promise<boolean> {
    if (parent !== undefined && !trashed) return false
    const mark = await this.db
      .selectFrom('marks')
      .select('folder')
      .where('owner', '=', owner)
      .limit(1)
      .execute()
    return mark.length > 0
  }
}

/** The tables that a statement needs before its page. */
function ctes({ owner, trashed, parent }: Listed, isMarked: boolean): Part {
  if (!isMarked || (parent !== undefined && !trashed)) return sql``
  if (!trashed) return sql`${hidingFolders(owner)},`
  return sql`recursive hiding(idlocal) as (
    select idlocal from files where owner = ${owner} and removed_at is not null
    union select f.idlocal from files f join hiding on f.parent = hiding.idlocal
      where f.owner = ${owner} and f.filetype = 'fold'
  ),`
}

function union({ viewer }: Listed, parts: readonly Part[]): Part {
  // What is shared by several names is there several times.
  const together = viewer.seesAll ? sql` union all ` : sql` union `
  return sql.join(
    parts.map((part) => sql`select * from (${part}) as p`),
    together,
  )
}

/** A range of an index on files as keys of a list: the sort value and the id. */
function range(condition: Part, { order, descending, after, limit }: Cut, key?: Part): Part {
  const k = key ?? (order === undefined ? sql`0` : sql.ref(order))
  const direction = sql.raw(descending ? 'desc' : 'asc')
  const beyond = sql.raw(descending ? '<' : '>')
  const from = after ? sql` and (${k}, idlocal) ${beyond} (${after[0]}, ${after[1]})` : sql``
  const sorted = order === undefined ? sql`` : sql` order by ${k} ${direction}, idlocal ${direction}`
  return sql`select ${k} as k, idlocal from files where ${condition}${from}${sorted} limit ${sql.lit(limit)}`
}

/** The ranges that a list is merged from. */
function partsOf(query: Listed, isMarked: boolean, cut: Cut): Part[] {
  const { owner, parent, filetypes = TYPES, viewer, trashed } = query
  const ofOwner = sql`owner = ${owner}`
  // With marks, the folders are asked.
  const isShown = isMarked ? sql` and parent not in (select idlocal from hiding)` : sql``
  if (trashed)
    return [range(sql`${ofOwner} and trashed_at is not null and removed_at is null${isShown}`, cut)]
  const byDate = cut.order === 'date_modified'
  const place = parent === undefined ? sql`` : sql` and parent = ${parent}`
  const present = sql` and trashed_at is null`
  const shown = parent === undefined ? sql` and hidden = 0${isShown}` : sql``
  const parts: Part[] = []
  for (const type of filetypes)
    for (const isPublic of viewer.seesAll ? [0, 1] : [1])
      parts.push(
        range(
          sql`${ofOwner}${place} and filetype = ${sql.lit(type)} and world_readable = ${sql.lit(isPublic)}${present}${shown}${
            byDate ? sql` and appending = 0` : sql``
          }`,
          cut,
        ),
      )
  const ofTypes = sql` and filetype in (${sql.join(filetypes.map((type) => sql.lit(type)))})`
  const visible = viewer.seesAll ? sql`` : sql` and ${visibleTo(owner, viewer)}`
  // Files with a date that no index has yet: those that rows are appended to.
  if (byDate)
    parts.push(
      range(
        sql`${ofOwner} and appending = 1${place}${ofTypes}${present}${shown}${visible}`,
        cut,
        sql`appended_at`,
      ),
    )
  // Files that are back from the trash, as long as they are not told.
  if (isMarked && parent === undefined)
    parts.push(range(sql`${ofOwner} and hidden = 1${ofTypes}${present}${isShown}${visible}`, cut))
  if (viewer.seesAll) return parts
  if (viewer.folders.length > 0)
    parts.push(range(sql`${ofOwner} and ${inFolders(viewer)}${ofTypes}${present}${shown}`, cut))
  for (const name of viewer.names) parts.push(shared(query, name, cut, isMarked && parent === undefined))
  return parts
}

function inFolders({ folders }: Viewer): Part {
  return sql`parent in (${sql.join(folders.map((id) => sql.lit(id)))})`
}

/** Whether a file is public, or shared with the viewer. */
function visibleTo(owner: string, viewer: Viewer): Part {
  const ways = [sql`world_readable = 1`]
  if (viewer.folders.length > 0) ways.push(inFolders(viewer))
  if (viewer.names.length > 0)
    ways.push(sql`exists (select 1 from collaborators c where c.owner = ${owner} and c.idlocal = files.idlocal
      and (${namesOf(viewer)}))`)
  return sql`(${sql.join(ways, sql` or `)})`
}

function namesOf({ names }: Viewer): Part {
  return sql.join(
    names.map(({ kind, name }) => sql`c.kind = ${sql.lit(kind)} and c.name = ${name}`),
    sql` or `,
  )
}

/** What the owner has shared with one name. By name in the order of an index; by date all of it is read. */
function shared(
  { owner, parent, filetypes = TYPES }: Listed,
  { kind, name }: Name,
  cut: Cut,
  isMarked: boolean,
): Part {
  const { order, descending, after, limit } = cut
  const direction = sql.raw(descending ? 'desc' : 'asc')
  const beyond = sql.raw(descending ? '<' : '>')
  const granted = sql`c.owner = ${owner} and c.kind = ${sql.lit(kind)} and c.name = ${name} and c.filename is not null
    and c.filetype in (${sql.join(filetypes.map((type) => sql.lit(type)))})${
      parent === undefined ? sql` and c.hidden = 0` : sql` and c.parent = ${parent}`
    }`
  if (order === 'date_modified') {
    const k = sql`f.date_modified`
    const byParent = isMarked ? sql` and f.parent not in (select idlocal from hiding)` : sql``
    const from = after ? sql` and (${k}, f.idlocal) ${beyond} (${after[0]}, ${after[1]})` : sql``
    return sql`select ${k} as k, f.idlocal from collaborators c join files f on f.owner = c.owner and f.idlocal = c.idlocal
      where ${granted}${byParent} and f.appending = 0${from} order by ${k} ${direction}, f.idlocal ${direction} limit ${sql.lit(limit)}`
  }
  const isShown = isMarked ? sql` and c.parent not in (select idlocal from hiding)` : sql``
  const k = order === undefined ? sql`0` : sql`c.filename`
  const from = after ? sql` and (${k}, c.idlocal) ${beyond} (${after[0]}, ${after[1]})` : sql``
  const sorted = order === undefined ? sql`` : sql` order by ${k} ${direction}, c.idlocal ${direction}`
  return sql`select ${k} as k, c.idlocal from collaborators c where ${granted}${isShown}${from}${sorted} limit ${sql.lit(limit)}`
}
