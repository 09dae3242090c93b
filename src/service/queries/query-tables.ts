/** Finds the grids that a query names, as far as the caller may read them. */
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { type Fid, parseFid, ROOT } from '../../contract/fid.ts'
import { findClosest, formatList, withSuggestion } from '../../contract/message-texts.ts'
import { splitVersion } from '../../contract/version-ref.ts'
import type { TableName } from '../../sql/index.ts'
import { authorizeCall, canWrite, type Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { findByPath, splitPath } from '../files/names.ts'
import { loadVersionRow } from '../files/versions.ts'
import { type Snapshot, takeVersionSnapshot, trimSnapshot } from '../grids/column/snapshot.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import type { Readers } from '../store/store.ts'

/** Maximum number of grids whose names are compared with an unknown one. */
const MAX_COMPARED_NAMES = 1000
/** Maximum number of files in folders with a name like an unknown one. */
const MAX_COMPARED_FILES = 200
/** Minimum length of a part of a name that tells it, in characters. */
const MIN_TELLING_CHARACTERS = 3
/** Number of grids that an error names. */
const MAX_LISTED_NAMES = 8
/** Maximum number of tables of one query. */
const MAX_TABLES = 100
/** Schemas of DuckDB, which cannot be users. */
const RESERVED_SCHEMAS: ReadonlySet<string> = new Set([
  ...['main', 'memory', 'system', 'temp', 'information_schema', 'pg_catalog'],
])

/** A grid, and the version of it if one is named. */
export interface GridSource {
  fid: Fid
  version?: string
}

/** Where the names of a query are looked up. */
export interface NameScope {
  /** Folders of the caller, by their ids: the first with a grid of the name counts. */
  folders: readonly number[]
  /** Numbers of the grids that the query makes: grids above them of the same name come first. */
  except?: ReadonlySet<number>
  /** Those of `folders` that hold files of the draft: only files that exist only in it count. */
  draftFolders?: ReadonlySet<number>
  /** Grids with a draft of this name are read as in it. */
  draft?: string
}

/** The home folder of the caller. */
const HOME: NameScope = { folders: [ROOT] }

/** A table of a query, with the grid that it is. */
export interface QueriedTable {
  table: TableName
  /** The table as the query names it, in lower case. */
  name: string
  source: GridSource
  file: FileRow
  /** Changes with the content of the grid. */
  state: string
  isDraft: boolean
  snapshot: Snapshot
}

/**
 * Takes snapshots of the grids that a query names, in one transaction. A name is a path, a fid or, in `given`, an
 * alias of one, each with an optional version (`sales@3`); with a schema, it is a path of that user. Throws
 * `unknown_table` with the names that are no grids, also for grids that the caller may not read.
 */
export async function takeTableSnapshots(
  service: Service,
  principal: Principal,
  names: readonly TableName[],
  given: ReadonlyMap<string, string>,
  scope: NameScope = HOME,
): Promise<QueriedTable[]> {
  if (names.length > MAX_TABLES)
    throw new Problem('invalid_query', `a query can have ${MAX_TABLES} tables, not ${names.length}`)
  const reserved = names.find(({ schema }) => RESERVED_SCHEMAS.has(schema.toLowerCase()))
  if (reserved)
    throw new Problem(
      'invalid_query',
      `${formatTableName(reserved)}: ${reserved.schema} means something else in SQL`,
      {
        hint:
          reserved.schema.toLowerCase() === 'information_schema'
            ? 'List your grids with: gridline ls. SUMMARIZE sales describes the columns of one.'
            : `Name the grid by its id: "${reserved.schema}:12"`,
      },
    )
  const missing: TableName[] = []
  const snapshots = await service.store.read(async (readers) => {
    const found: QueriedTable[] = []
    for (const table of names) {
      const queried = await takeTableSnapshot(service, readers, principal, aliasOf(table, given), scope)
      if (queried) found.push({ table, name: formatTableName(table).toLowerCase(), ...queried })
      else if (!table.isDefined) missing.push(table)
    }
    return found
  })
  if (missing.length > 0) throw await createUnknownTable(service, principal, missing, scope)
  const empty = snapshots.find(({ snapshot }) => snapshot.columns.length === 0)
  if (empty) throw new Problem('invalid_query', `${formatTableName(empty.table)} has no columns`)
  return Promise.all(
    snapshots.map(async (queried) => ({ ...queried, snapshot: await trimSnapshot(queried.snapshot) })),
  )
}

function formatTableName({ schema, name }: TableName): string {
  return schema === '' ? name : `${schema}.${name}`
}

function aliasOf(table: TableName, given: ReadonlyMap<string, string>): TableName {
  const alias = given.get(formatTableName(table).toLowerCase())
  return alias === undefined ? table : { schema: '', name: alias }
}

/** Returns a snapshot of a grid; undefined if it does not exist, or the caller may not read it. */
async function takeTableSnapshot(
  service: Service,
  readers: Readers,
  principal: Principal,
  table: TableName,
  scope: NameScope,
): Promise<Omit<QueriedTable, 'table' | 'name'> | undefined> {
  const source = await findGrid(service, readers, principal, table, scope)
  const found = source && (await findVersion(readers, principal, source))
  if (!found) return undefined
  const { row, state, file } = found
  const snapshot = await takeVersionSnapshot(service.store, readers, source.fid, row)
  return { snapshot, source, file, state, isDraft: row !== undefined && row.version < 0 }
}

/**
 * Returns the state of a grid, which changes with its content; undefined if it does not exist, or the caller may not
 * read it.
 */
export async function findGridState(
  readers: Readers,
  principal: Principal,
  source: GridSource,
): Promise<string | undefined> {
  try {
    return (await findVersion(readers, principal, source))?.state
  } catch (error) {
    // A version that has expired, or is not kept any more.
    if (error instanceof Problem && (error.code === 'not_found' || error.code === 'forbidden'))
      return undefined
    throw error
  }
}

/**
 * Finds a version of a grid; undefined if the grid does not exist, or the caller may not read it. Throws `not_found` for
 * a missing version.
 */
async function findVersion(
  readers: Readers,
  principal: Principal,
  { fid, version }: GridSource,
): Promise<{ row: VersionRow | undefined; file: FileRow; state: string } | undefined> {
  const request = { ...principal, version, operation: 'grids.content', fid, filetype: 'grid' } as const
  // Whether there is such a file, or such a version of it, is for those who may read it.
  const access = await undefinedIfNotFound(authorizeCall(readers, request))
  // A path leads to no file in the trash, and so an id does not either.
  if (access?.state !== 'active') return undefined
  const row = await loadVersionRow(readers, access, version)
  // The version of the file changes with each write, but not when rows are only stored in another way.
  return { row, file: access.file, state: row ? `version ${row.version}` : `${access.file.version}` }
}

/** Finds the grid of a name, which may have a version. */
async function findGrid(
  { limits, formerNames }: Service,
  readers: Readers,
  { caller }: Principal,
  { schema, name }: TableName,
  scope: NameScope,
): Promise<GridSource | undefined> {
  const owner = schema === '' ? (caller?.username ?? '') : formerNames.currentName(schema)
  const { folders, except, draft, draftFolders } = schema === '' ? scope : HOME
  const find = async (file: string): Promise<Fid | undefined> => {
    const fid = schema === '' ? parseFid(formerNames.currentFid(file)) : undefined
    if (fid) return fid
    const names = splitPath(file, limits)
    let own: Fid | undefined
    for (const folder of folders) {
      const found = await findByPath(readers.files, owner, folder, names)
      if (found?.filetype !== 'grid') continue
      if (draftFolders?.has(folder) && !(await isOnlyDraft(readers, found, draft!))) continue
      if (!except?.has(found.idlocal)) return found
      own ??= found
    }
    return own
  }
  const fid = await find(name)
  if (fid) return { fid, version: await findDraftOf(readers, caller, fid, scope) }
  const split = splitVersion(name)
  const versioned = split && (await find(split.file))
  return versioned && { fid: versioned, version: split.version }
}

/** Returns whether a file exists only as a draft of this name. */
async function isOnlyDraft({ drafts }: Readers, { owner, idlocal }: Fid, draft: string): Promise<boolean> {
  return (await drafts.get(owner, idlocal, draft))?.version === null
}

/** Returns the name of the draft in which a grid is read, if it has one that the caller may see. */
async function findDraftOf(
  readers: Readers,
  caller: Principal['caller'],
  { owner, idlocal }: Fid,
  { draft }: NameScope,
): Promise<string | undefined> {
  const row = draft === undefined ? undefined : await readers.drafts.get(owner, idlocal, draft)
  if (!row || row.version === null) return undefined
  const file = await readers.files.get(owner, idlocal)
  return file && (await canWrite(readers, file, { caller })) ? draft : undefined
}

/** Creates the error for tables that are no grids: with a similar one, or the names of some grids. */
async function createUnknownTable(
  { store }: Service,
  { caller }: Principal,
  tables: readonly TableName[],
  { folders }: NameScope,
): Promise<Problem> {
  const names = tables.map(formatTableName)
  const [{ line }] = tables
  const { grids, paths } = caller
    ? await store.read(async (readers) => ({
        grids: await listNamesIn(readers, caller.username, folders),
        paths: await listPathsLike(readers, caller.username, names[0]),
      }))
    : { grids: [], paths: [] }
  const closest = findClosest(names[0], grids) ?? findClosest(names[0], paths) ?? paths[0]
  const listed = grids.slice(0, MAX_LISTED_NAMES)
  const more = grids.length > listed.length ? ' and others' : ''
  const list = closest !== undefined || listed.length === 0 ? '' : ` Your grids: ${listed.join(', ')}${more}.`
  return new Problem(
    'unknown_table',
    `${line === undefined ? '' : `line ${line}: `}no grid is named ${formatList(names)}`,
    {
      tables: names,
      hint: withSuggestion(
        closest?.includes('/') ? `"${closest}"` : closest,
        `A table is the path of a grid, or its id or version in double quotes ("alice:1", "sales@3").${list}`,
      ),
    },
  )
}

/** Lists the names of the grids in folders, up to a maximum. */
async function listNamesIn({ files }: Readers, owner: string, folders: readonly number[]): Promise<string[]> {
  const names: string[] = []
  for (const folder of folders)
    names.push(...(await files.listNames(owner, folder, 'grid', MAX_COMPARED_NAMES - names.length)))
  return names
}

/** Lists the paths of grids in folders whose names contain the last part of a path, those of exactly this name first. */
async function listPathsLike({ lists, folders }: Readers, owner: string, path: string): Promise<string[]> {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (name === '') return []
  const files = await lists.searchFiles(owner, name, MAX_COMPARED_FILES)
  const isExact = (file: FileRow): boolean => file.filename.toLowerCase() === name
  const isLike = (file: FileRow): boolean =>
    name.length >= MIN_TELLING_CHARACTERS && file.filename.toLowerCase().includes(name)
  const found = files.filter(
    (file) => file.filetype === 'grid' && file.parent !== ROOT && (isExact(file) || isLike(file)),
  )
  found.sort((a, b) => Number(isExact(b)) - Number(isExact(a)))
  const ancestors = await folders.loadAncestorsOfAll(found)
  return found.map(({ filename }, k) =>
    [...ancestors[k].map((folder) => folder.filename).reverse(), filename].join('/'),
  )
}
