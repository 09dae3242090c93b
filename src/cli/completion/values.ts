import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivately } from '../config/private-file.ts'
import { LOCAL, places } from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import type { Completed } from '../core/define.ts'

/** How long an answer is used again, in ms. Older ones are used when the server is slow. */
const FRESH_MS = 20_000
const STALE_MS = 3600_000
/** Files of a folder that are read. */
const MAX_VALUES = 500
/** Versions of a file that are offered. */
const MAX_VERSIONS = 50
/** Bytes of a local file, other than a text, that are read for its columns. */
const MAX_FILE_BYTES = 4 * 1024 * 1024

export interface Asked {
  kind: Exclude<Completed, 'local'>
  /** The grid that columns are of. */
  grid: string | undefined
}

/** How long the server has to answer, in ms, and what happens when it does not: then the last answer is used. */
export interface Patience {
  limit: number
  late: () => void
}

/** Names from the server or the settings that may complete `current`. */
export async function valuesOf(
  context: Context,
  { kind, grid }: Asked,
  current: string,
  patience: Patience,
): Promise<string[]> {
  const cache = new Cache(context, patience)
  if (kind === 'profile') {
    const { profiles = {} } = await context.config.read()
    return [...Object.keys(profiles), LOCAL]
  }
  if (kind === 'version') return grid === undefined ? [] : versionsOf(context, cache, grid)
  if (kind === 'column') return grid === undefined ? [] : columnsOf(context, cache, grid, current)
  if (kind === 'team' || kind === 'user') return peopleOf(context, cache, kind)
  const [, file] = /^(.+)@[^/]*$/s.exec(current) ?? []
  if (file !== undefined && kind !== 'folder')
    return (await versionsOf(context, cache, file)).map((version) => `${file}@${version}`)
  return filesOf(context, cache, kind, current)
}

/** The names and numbers of the last versions of a file. */
function versionsOf(context: Context, cache: Cache, file: string): Promise<string[]> {
  return cache.get(`versions ${file}`, async () => {
    const client = await context.client()
    const { resolve } = await import('../../client/index.ts')
    const fid = await resolve(client, file)
    const { versions } = await client.call('versions.list', { fid, query: { page_size: MAX_VERSIONS } })
    return versions.flatMap(({ version, name }) => (name ? [name, String(version)] : [String(version)]))
  })
}

/** Columns of a grid; in a comma-separated list, those that are not in it. */
async function columnsOf(context: Context, cache: Cache, grid: string, current: string): Promise<string[]> {
  const { isDataFileHere } = await import('../files/local-data.ts')
  if (grid !== '-' && (await isDataFileHere(grid))) return listed(await columnsOfFile(context, grid), current)
  const names = await cache.get(`columns ${grid}`, async () => {
    const client = await context.client()
    const { resolve } = await import('../../client/index.ts')
    const fid = await resolve(client, grid)
    // Of a plot, those of the grid that it shows.
    const { filetype, references } = await client.call('files.get', { fid })
    const { cols } = await client.call('grids.get', { fid: filetype === 'plot' ? references[0] : fid })
    return cols.map(({ name }) => name)
  })
  return listed(names, current)
}

/** Names that may follow in a comma-separated list. */
function listed(names: readonly string[], current: string): string[] {
  const comma = current.lastIndexOf(',') + 1
  const given = current.slice(0, comma)
  return names.filter((name) => !given.split(',').includes(name)).map((name) => given + name)
}

/** Columns of a data file of this machine. None if it is so long that a shell would wait. */
async function columnsOfFile({ environment }: Context, file: string): Promise<string[]> {
  const { tablesOf } = await import('../files/head.ts')
  const { readingOptionsOf } = await import('../files/parse-options.ts')
  const tables = await tablesOf(file, readingOptionsOf({}, file), environment, MAX_FILE_BYTES)
  return tables.length === 1 ? tables[0].ingested.columns.map(({ name }) => name) : []
}

async function peopleOf(context: Context, cache: Cache, kind: 'team' | 'user'): Promise<string[]> {
  const found = await cache.get(kind, async () => {
    const { teams } = await (await context.client()).call('teams.list')
    return kind === 'team'
      ? teams.map(({ name }) => name)
      : teams.flatMap(({ owner, members }) => [owner, ...members])
  })
  return [...new Set(found)]
}

/** Files of the folder that is being typed: folders with a slash, and ids after `alice:`. */
async function filesOf(context: Context, cache: Cache, kind: Completed, current: string): Promise<string[]> {
  const isId = /^[\w.-]+:\d*$/.test(current)
  const folder = isId ? '' : current.slice(0, current.lastIndexOf('/') + 1)
  const files = await cache.get(`files ${folder}`, async () => {
    const client = await context.client()
    const { resolve } = await import('../../client/index.ts')
    const query = { page_size: MAX_VALUES }
    const { children } =
      folder === ''
        ? await client.call('folders.home', { query })
        : await client.call('folders.get', { fid: await resolve(client, folder, 'fold'), query })
    return (children?.results ?? []).map(({ filename, filetype, fid }) => `${filetype} ${fid} ${filename}`)
  })
  return files.flatMap((line) => {
    const [, filetype, fid, name] = /^(\w+) (\S+) (.*)$/s.exec(line) ?? []
    const isFolder = filetype === 'fold'
    const isWanted = kind === 'file' || isFolder || (kind === 'folder' ? isFolder : filetype === kind)
    if (!isWanted) return []
    return [isId ? fid : `${folder}${name}${isFolder ? '/' : ''}`]
  })
}

type Entries = Record<string, { at: number; values: string[] }>

/** Answers of the last hour, in a file of the user: for each server and user. */
class Cache {
  private readonly folder: string
  private readonly file: string

  constructor(
    private readonly context: Context,
    private readonly patience: Patience,
  ) {
    this.folder = places(context.environment).config
    this.file = join(this.folder, 'completion.json')
  }

  /** Values that are fresh, or read within the limit; otherwise the last ones. */
  async get(what: string, read: () => Promise<string[]>): Promise<string[]> {
    const { url, user } = await this.context.settings()
    const key = `${url.value ?? ''} ${user.value ?? ''} ${what}`
    const entries = this.entries()
    const known = Object.hasOwn(entries, key) ? entries[key] : { at: 0, values: [] }
    if (Date.now() - known.at < FRESH_MS) return known.values
    const late = new Promise<undefined>((resolve) =>
      setTimeout(resolve, this.patience.limit, undefined).unref(),
    )
    // After an error too, the last answer is the best one.
    const values = await Promise.race([read().catch(() => known.values), late])
    if (values === undefined) this.patience.late()
    if (values === undefined || values === known.values) return known.values
    this.keep(key, values)
    return values
  }

  private entries(): Entries {
    try {
      const entries = Object.entries(JSON.parse(readFileSync(this.file, 'utf8')) as Entries)
      return Object.fromEntries(
        entries.filter(([, kept]) => typeof kept?.at === 'number' && Array.isArray(kept.values)),
      )
    } catch {
      // There is none, or it is damaged.
      return {}
    }
  }

  private keep(key: string, values: string[]): void {
    const now = Date.now()
    const recent = Object.entries(this.entries()).filter(([, { at }]) => now - at < STALE_MS)
    writePrivately(this.file, JSON.stringify({ ...Object.fromEntries(recent), [key]: { at: now, values } }))
  }
}
