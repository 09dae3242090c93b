// Completes names from server, settings and files; cached.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from '../config/private-file.ts'
import { directoriesOf, LOCAL_PROFILE } from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import type { CompletionKind } from '../core/define.ts'

/** Age in ms up to which cached values are used, and up to which they are kept for slow servers. */
const MAX_FRESH_MS = 20_000
const MAX_STALE_MS = 3600_000
/** Maximum number of files of a folder. */
const MAX_VALUES = 500
/** Maximum number of versions. */
const MAX_VERSIONS = 50
/** Maximum size of local files, other than text, that are read for their columns. */
const MAX_FILE_BYTES = 4 * 1024 * 1024

/** Requested kind of values. */
export interface ValueRequest {
  kind: Exclude<CompletionKind, 'local'>
  /** Grid whose columns are completed. */
  grid: string | undefined
}

/** Maximum response time of the server, in ms, and a callback for when cached values are used instead. */
export interface Deadline {
  timeoutMs: number
  onTimeout: () => void
}

/** Lists names that can complete `current`. */
export async function listValues(
  context: Context,
  { kind, grid }: ValueRequest,
  current: string,
  deadline: Deadline,
): Promise<string[]> {
  const cache = new Cache(context, deadline)
  if (kind === 'profile') {
    const { profiles = {} } = await context.config.read()
    return [...Object.keys(profiles), LOCAL_PROFILE]
  }
  if (kind === 'version') return grid === undefined ? [] : listVersions(context, cache, grid)
  if (kind === 'column') return grid === undefined ? [] : listColumns(context, cache, grid, current)
  if (kind === 'team' || kind === 'user') return listUsersOrTeams(context, cache, kind)
  const [, file] = /^(.+)@[^/]*$/s.exec(current) ?? []
  if (file !== undefined && kind !== 'folder')
    return (await listVersions(context, cache, file)).map((version) => `${file}@${version}`)
  return listFiles(context, cache, kind, current)
}

/** Lists names and numbers of the latest versions of a file. */
function listVersions(context: Context, cache: Cache, file: string): Promise<string[]> {
  return cache.get(`versions ${file}`, async () => {
    const client = await context.client()
    const { resolveFid } = await import('../../client/index.ts')
    const fid = await resolveFid(client, file)
    const { versions } = await client.call('versions.list', { fid, query: { page_size: MAX_VERSIONS } })
    return versions.flatMap(({ version, name }) => (name ? [name, String(version)] : [String(version)]))
  })
}

/** Lists columns of a grid. Skips names already in a comma-separated list. */
async function listColumns(context: Context, cache: Cache, grid: string, current: string): Promise<string[]> {
  const { isLocalDataFile } = await import('../files/local-data.ts')
  if (grid !== '-' && (await isLocalDataFile(grid)))
    return continueList(await readFileColumns(context, grid), current)
  const names = await cache.get(`columns ${grid}`, async () => {
    const client = await context.client()
    const { resolveFid } = await import('../../client/index.ts')
    const fid = await resolveFid(client, grid)
    // For plots: columns of the first grid.
    const { filetype, references } = await client.call('files.get', { fid })
    const { cols } = await client.call('grids.get', { fid: filetype === 'plot' ? references[0] : fid })
    return cols.map(({ name }) => name)
  })
  return continueList(names, current)
}

/** Returns the names that can continue a comma-separated list. */
function continueList(names: readonly string[], current: string): string[] {
  const comma = current.lastIndexOf(',') + 1
  const typedList = current.slice(0, comma)
  return names.filter((name) => !typedList.split(',').includes(name)).map((name) => typedList + name)
}

/** Reads the columns of a local data file; none if it is too large. */
async function readFileColumns({ environment }: Context, file: string): Promise<string[]> {
  const { readTables } = await import('../files/local-columns.ts')
  const { toParseOptions } = await import('../files/parse-options.ts')
  const tables = await readTables(file, toParseOptions({}, file), environment, MAX_FILE_BYTES)
  return tables.length === 1 ? tables[0].ingested.columns.map(({ name }) => name) : []
}

/** Lists the user's teams, or the members of these. */
async function listUsersOrTeams(context: Context, cache: Cache, kind: 'team' | 'user'): Promise<string[]> {
  const names = await cache.get(kind, async () => {
    const { teams } = await (await context.client()).call('teams.list')
    return kind === 'team'
      ? teams.map(({ name }) => name)
      : teams.flatMap(({ owner, members }) => [owner, ...members])
  })
  return [...new Set(names)]
}

/** Lists files of the folder being typed: folders with a slash, or ids after `alice:`. */
async function listFiles(
  context: Context,
  cache: Cache,
  kind: CompletionKind,
  current: string,
): Promise<string[]> {
  const isId = /^[\w.-]+:\d*$/.test(current)
  const folder = isId ? '' : current.slice(0, current.lastIndexOf('/') + 1)
  const files = await cache.get(`files ${folder}`, async () => {
    const client = await context.client()
    const { resolveFid } = await import('../../client/index.ts')
    const query = { page_size: MAX_VALUES }
    const { children } =
      folder === ''
        ? await client.call('folders.home', { query })
        : await client.call('folders.get', { fid: await resolveFid(client, folder, 'fold'), query })
    return (children?.results ?? []).map(({ filename, filetype, fid }) => `${filetype} ${fid} ${filename}`)
  })
  return files.flatMap((line) => {
    const [, filetype, fid, name] = /^(\w+) (\S+) (.*)$/s.exec(line) ?? []
    const isFolder = filetype === 'fold'
    const isMatch = kind === 'file' || isFolder || (kind === 'folder' ? isFolder : filetype === kind)
    if (!isMatch) return []
    return [isId ? fid : `${folder}${name}${isFolder ? '/' : ''}`]
  })
}

/** Cached values with their time, in ms since 1970. */
type Entries = Record<string, { at: number; values: string[] }>

/** Caches values of the last hour in a file of the user, by server and user. */
class Cache {
  private readonly folder: string
  private readonly file: string

  constructor(
    private readonly context: Context,
    private readonly deadline: Deadline,
  ) {
    this.folder = directoriesOf(context.environment).config
    this.file = join(this.folder, 'completion.json')
  }

  /** Returns fresh values, or loads them within the deadline; otherwise returns cached ones. */
  async get(name: string, load: () => Promise<string[]>): Promise<string[]> {
    const { url, user } = await this.context.settings()
    const key = `${url.value ?? ''} ${user.value ?? ''} ${name}`
    const entries = this.readEntries()
    const cached = Object.hasOwn(entries, key) ? entries[key] : { at: 0, values: [] }
    if (Date.now() - cached.at < MAX_FRESH_MS) return cached.values
    const timeout = new Promise<undefined>((resolve) =>
      setTimeout(resolve, this.deadline.timeoutMs, undefined).unref(),
    )
    // After errors too, cached values are best.
    const values = await Promise.race([load().catch(() => cached.values), timeout])
    if (values === undefined) this.deadline.onTimeout()
    if (values === undefined || values === cached.values) return cached.values
    try {
      this.store(key, values)
    } catch {
      // The folder is not writable: the values are loaded again next time.
    }
    return values
  }

  /** Reads the cache. */
  private readEntries(): Entries {
    try {
      const entries = Object.entries(JSON.parse(readFileSync(this.file, 'utf8')) as Entries)
      return Object.fromEntries(
        entries.filter(([, entry]) => typeof entry?.at === 'number' && Array.isArray(entry.values)),
      )
    } catch {
      // No cache yet, or damaged.
      return {}
    }
  }

  /** Adds values to the cache, and drops expired ones. */
  private store(key: string, values: string[]): void {
    const now = Date.now()
    const recent = Object.entries(this.readEntries()).filter(([, { at }]) => now - at < MAX_STALE_MS)
    writePrivateFile(this.file, JSON.stringify({ ...Object.fromEntries(recent), [key]: { at: now, values } }))
  }
}
