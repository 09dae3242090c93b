// Ranges of indexes that lists of files are merged from, as SQL.
import { type RawBuilder, sql } from 'kysely'
import { selectTrashedFolders } from './file-counts.ts'
import type { Filetype } from './files.ts'
import type { Grantee } from './sharing.ts'

/** Scope of a list: which files of an owner a user can see. Public files are always included. */
export interface ListScope {
  /** Sees everything: the owner, or a user with access to the listed folder. */
  seesAll: boolean
  /** Grantees that stand for the user. */
  names: readonly Grantee[]
  /** Folders shared with the user, and all below them; for lists of all files. */
  folders: readonly number[]
}

/** A list of files of one owner. */
export interface FileList {
  owner: string
  /** Folder to list, which must not be trashed; undefined for the files in all folders. */
  parent?: number
  /** Types of files. Default: all but extras, which are in no folder. */
  filetypes?: readonly Filetype[]
  viewer: ListScope
  /** Lists files that were trashed themselves instead of those that were not. Only for the owner. */
  trashed?: boolean
}

/** Types of files in folders. */
export const TYPES: readonly Filetype[] = ['grid', 'plot', 'fold', 'dashboard']

export type SqlFragment = RawBuilder<unknown>

/** Order, start and limit of index ranges. */
export interface RangeOptions {
  order: 'filename' | 'date_modified'
  descending: boolean
  after?: [value: string | number, idlocal: number]
  limit: number
  /** Selects whole files, not only their keys. */
  isWhole?: boolean
}

/** Returns the types as a list in parentheses. */
export function listTypes(filetypes: readonly Filetype[]): SqlFragment {
  return sql`(${sql.join(filetypes.map((type) => sql.lit(type)))})`
}

/** Returns a query for all rows of several ranges. */
export function uniteRanges(ranges: readonly SqlFragment[]): SqlFragment {
  return sql.join(
    ranges.map((part) => sql`select * from (${part}) as p`),
    sql` union all `,
  )
}

/** Returns a WITH clause that selects trashed folders as `hiding`; empty if the query does not need it. */
export function withTrashedFolders({ owner, trashed, parent }: FileList, isOutdated: boolean): SqlFragment {
  if (!isOutdated || (parent !== undefined && !trashed)) return sql``
  return trashed ? sql`with ${selectDeletedFolders(owner)}` : sql`with ${selectTrashedFolders(owner)}`
}

/** CTE `hiding`: the deleted folders of an owner, and all folders below them. */
function selectDeletedFolders(owner: string): SqlFragment {
  return sql`recursive hiding(idlocal) as (
    select idlocal from files where owner = ${owner} and trashed_at is not null and removed_at is not null
    union select f.idlocal from files f join hiding on f.parent = hiding.idlocal
      where f.owner = ${owner} and f.filetype = 'fold'
  )`
}

/** Returns the condition that starts a range, and its order and limit: by sort value, then by id. */
function orderRange(k: SqlFragment, id: SqlFragment, { descending, after, limit }: RangeOptions) {
  const direction = sql.raw(descending ? 'desc' : 'asc')
  const beyond = sql.raw(descending ? '<' : '>')
  return {
    start: after ? sql` and (${k}, ${id}) ${beyond} (${after[0]}, ${after[1]})` : sql``,
    end: sql`order by ${k} ${direction}, ${id} ${direction} limit ${sql.lit(limit)}`,
  }
}

/** Returns a query for one index range of files: sort value and id. `k`: the sort value. */
function selectRange(
  condition: SqlFragment,
  options: RangeOptions,
  k: SqlFragment = sql.ref(options.order),
): SqlFragment {
  const { start, end } = orderRange(k, sql`idlocal`, options)
  const fields = options.isWhole ? sql`files.*, ${k} as k` : sql`${k} as k, idlocal`
  return sql`select ${fields} from files where ${condition}${start}
    ${end}`
}

/** Returns the index ranges that a list is merged from. */
export function selectRanges(query: FileList, isOutdated: boolean, options: RangeOptions): SqlFragment[] {
  const { owner, parent, filetypes = TYPES, viewer, trashed } = query
  const byOwner = sql`owner = ${owner}`
  // With dirty folders, check the folders instead of `hidden`.
  const isUntrashed = isOutdated ? sql` and parent not in (select idlocal from hiding)` : sql``
  if (trashed)
    return [
      selectRange(sql`${byOwner} and trashed_at is not null and removed_at is null${isUntrashed}`, options),
    ]
  const byDate = options.order === 'date_modified'
  const inPlace = parent === undefined ? sql`` : sql` and parent = ${parent}`
  const notTrashed = sql` and trashed_at is null`
  const notHidden = parent === undefined ? sql` and hidden = 0${isUntrashed}` : sql``
  const ofTypes = sql` and filetype in ${listTypes(filetypes)}`
  const settled = byDate ? sql` and appending = 0` : sql``
  // By date, filter types in the order of the date index. The double negation keeps SQLite from using the
  // index by type, and then sorting.
  const ofTypesUnindexed = sql` and not (filetype not in ${listTypes(filetypes)})`
  const base = sql`${byOwner}${inPlace}${notTrashed}${notHidden}${settled}`
  const ranges: SqlFragment[] = []
  if (!viewer.seesAll)
    ranges.push(
      selectRange(sql`${base} and world_readable = 1${byDate ? ofTypesUnindexed : ofTypes}`, options),
    )
  // By name with only some types: a range per type. All types of one folder: the index of unique names.
  else if (!byDate && (query.filetypes || filetypes.length < TYPES.length))
    for (const type of filetypes)
      ranges.push(selectRange(sql`${base} and filetype = ${sql.lit(type)}`, options))
  else if (!byDate && parent !== undefined)
    ranges.push(selectRange(sql`${base} and live_name is not null`, options, sql`live_name`))
  else ranges.push(selectRange(sql`${base}${byDate ? ofTypesUnindexed : ofTypes}`, options))
  const visible = viewer.seesAll ? sql`` : sql` and ${isVisibleTo(owner, viewer)}`
  // Files being appended to are in no date index. These expressions allow only the small index of such files.
  if (byDate) {
    const inParent = parent === undefined ? sql`` : sql` and parent + 0 = ${parent}`
    const isVisible = parent === undefined ? sql` and hidden + 0 = 0${isUntrashed}` : sql``
    const appending = sql`${byOwner} and appending = 1${inParent}${ofTypesUnindexed} and coalesce(trashed_at, -1) = -1${isVisible}${visible}`
    ranges.push(selectRange(appending, options, sql`appended_at`))
  }
  // Files restored from the trash whose `hidden` is outdated.
  if (isOutdated && parent === undefined)
    ranges.push(
      selectRange(sql`${byOwner} and hidden = 1${ofTypes}${notTrashed}${isUntrashed}${visible}`, options),
    )
  if (viewer.seesAll) return ranges
  if (viewer.folders.length > 0)
    ranges.push(
      selectRange(sql`${byOwner} and ${isInFolders(viewer)}${ofTypes}${notTrashed}${notHidden}`, options),
    )
  return ranges
}

/** SQL: the file is in the list of all files of its owner. `isOutdated`: check the folders instead of `hidden`. */
export function isListed(isOutdated: boolean): SqlFragment {
  return sql`trashed_at is null and filetype in ${listTypes(TYPES)} and ${
    isOutdated ? sql`parent not in (select idlocal from hiding)` : sql`hidden = 0`
  }`
}

/** SQL: the file is in a folder shared with the user. */
export function isInFolders({ folders }: ListScope): SqlFragment {
  return sql`parent in (${sql.join(folders.map((id) => sql.lit(id)))})`
}

/** SQL: the file is public, or shared with the user. */
function isVisibleTo(owner: string, viewer: ListScope): SqlFragment {
  const ways = [sql`world_readable = 1`]
  if (viewer.folders.length > 0) ways.push(isInFolders(viewer))
  if (viewer.names.length > 0)
    ways.push(sql`exists (select 1 from collaborators c where c.owner = ${owner} and c.idlocal = files.idlocal
      and (${matchesGrantee(viewer)}))`)
  return sql`(${sql.join(ways, sql` or `)})`
}

function matchesGrantee({ names }: ListScope): SqlFragment {
  return sql.join(
    names.map(({ kind, name }) => sql`c.kind = ${sql.lit(kind)} and c.name = ${name}`),
    sql` or `,
  )
}

/** Returns a query for files shared with one grantee. Uses an index by name; by date, reads all grants. */
export function selectSharedWith(
  { owner, parent, filetypes = TYPES }: FileList,
  { kind, name }: Grantee,
  options: RangeOptions,
  isOutdated: boolean,
): SqlFragment {
  const hiding = isOutdated && parent === undefined
  const place =
    parent !== undefined
      ? sql` and c.parent = ${parent}`
      : hiding
        ? sql` and c.parent not in (select idlocal from hiding)`
        : sql` and c.hidden = 0`
  const granted = sql`c.owner = ${owner} and c.kind = ${sql.lit(kind)} and c.name = ${name} and c.filename is not null
    and c.filetype in ${listTypes(filetypes)}${place}`
  const byName = options.order === 'filename'
  const k = byName ? sql`c.filename` : sql`f.date_modified`
  const { start, end } = orderRange(k, sql`c.idlocal`, options)
  const files = byName
    ? sql``
    : sql` join files f on f.owner = c.owner and f.idlocal = c.idlocal and f.appending = 0`
  return sql`select ${k} as k, c.idlocal from collaborators c${files} where ${granted}${start}
    ${end}`
}
