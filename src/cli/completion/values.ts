import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { type CommandEntry, type Completed, isNamed } from '../define.ts'
import { LOCAL, places } from '../settings.ts'
import { type Node, nodeOf } from './tree.ts'

/** Time in which a shell gets its answer, in ms. What arrives later is kept for the next Tab. */
const LIMIT_MS = 300
/** How long an answer is used again, in ms. */
const FRESH_MS = 20_000
/** Names that are offered. */
const MOST = 500

/** What completes the last of these words: of a command line, without the program. */
export async function completionsOf(
  context: Context,
  commands: readonly CommandEntry[],
  words: readonly string[],
): Promise<string[]> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const asked = await kindAt(commands, before)
  if (!asked) return []
  const cache = new Cache(context)
  const late = new Promise<string[]>((resolve) => setTimeout(() => resolve([]), LIMIT_MS).unref())
  const found = await Promise.race([valuesOf(context, cache, asked, current).catch(() => []), late])
  // A name with a line end would be two, and shells show control characters as they are.
  const isPlain = (name: string): boolean => !/[\u0000-\u001f\u007f-\u009f]/.test(name)
  return found.filter((name) => name.startsWith(current) && isPlain(name)).slice(0, MOST)
}

interface Asked {
  kind: Completed
  /** The grid that columns are of. */
  grid: string | undefined
}

/** What the next word of a command line is. */
async function kindAt(
  commands: readonly CommandEntry[],
  before: readonly string[],
): Promise<Asked | undefined> {
  let entries = commands
  let node: Node | undefined
  const given: string[] = []
  let last: string | undefined
  for (const word of before) {
    const expectsValue = last !== undefined
    last = undefined
    if (expectsValue) continue
    if (word.startsWith('-')) {
      const option = node?.options.find(({ names }) => names.includes(word))
      if (option?.takesValue) last = word
      continue
    }
    const entry = entries.find((one) => isNamed(one, word))
    if (entry) {
      // Only the commands that are named are loaded.
      const loaded = await entry.load()
      node = 'commands' in loaded ? undefined : await nodeOf(entry)
      entries = 'commands' in loaded ? loaded.commands : []
    } else given.push(word)
  }
  if (!node) return undefined
  const option = last === undefined ? undefined : node.options.find(({ names }) => names.includes(last))
  const { completes } = node
  const kind = option ? option.completes : completes[Math.min(given.length, completes.length - 1)]
  const at = before.indexOf('--grid')
  return kind && { kind, grid: at >= 0 ? before[at + 1] : given[0] }
}

async function valuesOf(
  context: Context,
  cache: Cache,
  { kind, grid }: Asked,
  current: string,
): Promise<string[]> {
  if (kind === 'profile') {
    const { profiles = {} } = await context.config.read()
    return [...Object.keys(profiles), LOCAL]
  }
  if (kind === 'column') return grid === undefined ? [] : columnsOf(context, cache, grid, current)
  if (kind === 'team' || kind === 'user') return peopleOf(context, cache, kind)
  return filesOf(context, cache, kind, current)
}

/** Columns of a grid; in a comma-separated list, those that are not in it. */
async function columnsOf(context: Context, cache: Cache, grid: string, current: string): Promise<string[]> {
  const names = await cache.get(`columns ${grid}`, async () => {
    const client = await context.client()
    const { resolve } = await import('../../client/index.ts')
    const { cols } = await client.call('grids.get', { fid: await resolve(client, grid, 'grid') })
    return cols.map(({ name }) => name)
  })
  const comma = current.lastIndexOf(',') + 1
  const given = current.slice(0, comma)
  return names.filter((name) => !given.split(',').includes(name)).map((name) => given + name)
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
    const query = { page_size: MOST }
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

/** Answers of the last seconds, in a file of the user: for each server and user. */
class Cache {
  constructor(private readonly context: Context) {}

  async get(what: string, read: () => Promise<string[]>): Promise<string[]> {
    const { url, user } = await this.context.settings()
    const key = `${url.value ?? ''} ${user.value ?? ''} ${what}`
    const folder = places(this.context.environment).config
    const file = join(folder, 'completion.json')
    type Entries = Record<string, { at: number; values: string[] }>
    let entries: Entries = {}
    try {
      entries = JSON.parse(readFileSync(file, 'utf8')) as Entries
    } catch {
      // The first answer.
    }
    const now = Date.now()
    const known = Object.hasOwn(entries, key) ? entries[key] : undefined
    if (known && now - known.at < FRESH_MS) return known.values
    const values = await read()
    const fresh = Object.entries(entries).filter(([, { at }]) => now - at < FRESH_MS)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const written = JSON.stringify({ ...Object.fromEntries(fresh), [key]: { at: now, values } })
    writeFileSync(`${file}.${process.pid}`, written, { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
    return values
  }
}
