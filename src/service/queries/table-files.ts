/** Database files of grids for queries: copies of grids, each by the hash of its content. */
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Problem } from '../../contract/errors.ts'
import { takeUniqueName } from '../../contract/unique-name.ts'
import type { Bytes } from '../../json/index.ts'
import type { QueryTables, TableColumn } from '../../sql/index.ts'
import type { Snapshot, SnapshotColumn } from '../grids/column/snapshot.ts'
import { createDelimitedWriter } from '../grids/read/row-writers.ts'
import { streamFirstRows } from '../grids/read/rows.ts'
import { familyOf } from '../store/schema/column-types.ts'

/** Numbers from here on may have no exact double. */
const MIN_LARGE = 2 ** 53
/** Digits of such a number. */
const LARGE_DIGITS = /\d{16}/
/** Time after its last use when a file is deleted, in ms: content of deleted grids must not stay. */
const MAX_IDLE_MS = 24 * 3600 * 1000
/** Time after its last use before which a file is not deleted, in ms: a query may be about to open it. */
const MIN_IDLE_MS = 60_000
/** Time after which a folder of a query is one that a killed server has left, in ms. */
const MAX_WORK_MS = 3600_000
const WORK_PREFIX = 'work-'
const TEMPORARY_PREFIX = 'gridline-queries-'

type TableFile = Omit<QueryTables['tables'][number], 'table'>

/** Files of grids that were queried, so that the next query need not copy them again. */
export class TableFiles {
  private folder: Promise<string> | undefined

  /** `place`: folder next to the database; undefined: a temporary one, removed by `close`. */
  constructor(
    private readonly place: string | undefined,
    private readonly maxBytes: number,
  ) {}

  /** Creates a folder for one query. Remove it after the query. */
  async createWorkFolder(): Promise<string> {
    const folder = await this.open()
    // Another server may have deleted an old folder.
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return mkdtemp(join(folder, WORK_PREFIX))
  }

  /**
   * Returns the file of a grid. If there is none, its content is written as CSV into the folder of the query, which
   * loads it; `keep` then keeps the file for other queries. Throws `too_large` above the size of all files.
   */
  async get(
    snap: Snapshot,
    workFolder: string,
    budget: CopyBudget,
  ): Promise<{ file: TableFile; keep: () => Promise<void> }> {
    const folder = await this.open()
    const hash = hashSnapshot(snap)
    const copied = budget.copied.get(hash)
    if (copied) return { file: { database: copied }, keep: async () => {} }
    const database = join(folder, `${hash}.duckdb`)
    const now = new Date()
    // Its time is that of its last use.
    if (
      await utimes(database, now, now).then(
        () => true,
        () => false,
      )
    )
      return { file: { database }, keep: async () => {} }
    const name = join(workFolder, randomBytes(6).toString('hex'))
    await writeCsv(snap, `${name}.csv`, budget)
    budget.copied.set(hash, `${name}.duckdb`)
    return {
      file: {
        database: `${name}.duckdb`,
        csv: { path: `${name}.csv`, columns: columnsOf(snap) },
      },
      keep: () => rename(`${name}.duckdb`, database),
    }
  }

  /** Deletes files that were not used for a day, and the least recently used ones above the maximum size. */
  async prune(): Promise<void> {
    // A temporary folder begins with the first query.
    const folder = this.place ?? (await this.folder)
    if (folder === undefined) return
    const files: { path: string; bytes: number; used: number }[] = []
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name)
      const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: Number.POSITIVE_INFINITY }))
      files.push({ path, bytes: size, used: mtimeMs })
    }
    let bytes = 0
    const now = Date.now()
    for (const { path, bytes: size, used } of files.sort((a, b) => b.used - a.used)) {
      const idleMs = now - used
      const isWork = basename(path).startsWith(WORK_PREFIX)
      if (!isWork) bytes += size
      const isExpired = isWork
        ? idleMs > MAX_WORK_MS
        : idleMs > MAX_IDLE_MS || (bytes > this.maxBytes && idleMs > MIN_IDLE_MS)
      if (isExpired) await rm(path, { recursive: true, force: true })
    }
  }

  async close(): Promise<void> {
    if (this.place === undefined && this.folder) await rm(await this.folder, { recursive: true, force: true })
  }

  private open(): Promise<string> {
    this.folder ??= openFolder(this.place)
    return this.folder
  }
}

async function openFolder(place: string | undefined): Promise<string> {
  if (place === undefined) {
    await removeOrphans()
    return mkdtemp(join(tmpdir(), TEMPORARY_PREFIX))
  }
  await mkdir(place, { recursive: true, mode: 0o700 })
  return place
}

/** Removes temporary folders that killed servers have left. */
async function removeOrphans(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(TEMPORARY_PREFIX)) continue
    const path = join(tmpdir(), name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > 2 * MAX_IDLE_MS)
      await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

/** Hashes what a snapshot refers to: names, types and values of its columns. */
function hashSnapshot({ columns, rows }: Snapshot): string {
  const hash = createHash('sha256').update(`${rows}\n`)
  for (const { name, type, slices, tail, rows: count, skip = 0 } of columns) {
    hash.update(
      `${JSON.stringify([name, type, count, skip, slices.map(({ blob }) => [blob.owner, blob.hash])])}\n`,
    )
    hash.update(tail)
  }
  return hash.digest('hex').slice(0, 40)
}

/** Returns columns with names that differ also in lower case, as SQL compares names. */
function columnsOf({ columns }: Snapshot): TableColumn[] {
  const used = new Set<string>()
  return columns.map((column) => {
    const name = takeUniqueName(column.name, used, (text) => text.toLowerCase())
    const family = familyOf(column.type)
    const type = family === 'json' || family === 'empty' ? 'text' : family
    return { name, type, ...(type === 'number' && hasLargeNumbers(column) && { isLarge: true }) }
  })
}

/** Returns whether a column can have numbers that have no exact double. */
function hasLargeNumbers({ slices, tail }: SnapshotColumn): boolean {
  return (
    slices.some(({ bounds }) => {
      if (!bounds) return true
      return [bounds.low, bounds.high].some((bound) => Math.abs(Number(bound ?? 0)) >= MIN_LARGE)
    }) || LARGE_DIGITS.test(tail.toString('latin1'))
  )
}

/** Copies that one query has made, and what it may still write. */
export interface CopyBudget {
  /** Copies of this query by hash: names of the same content share one. */
  copied: Map<string, string>
  /** Number of bytes that may still be written. */
  bytesLeft: number
  isAborted: (() => boolean) | undefined
}

async function writeCsv(snap: Snapshot, path: string, budget: CopyBudget): Promise<void> {
  // A second column keeps missing values apart from blank lines.
  const columns = snap.columns.length === 1 ? [snap.columns[0], snap.columns[0]] : snap.columns
  const chunks = streamFirstRows({ ...snap, columns }, createDelimitedWriter(','))
  await pipeline(countBytes(chunks, budget), createWriteStream(path, { mode: 0o600 }))
}

async function* countBytes(chunks: Bytes, budget: CopyBudget): Bytes {
  for await (const chunk of chunks) {
    budget.bytesLeft -= chunk.length
    if (budget.bytesLeft < 0)
      throw new Problem('too_large', 'the grids of the query are larger than the limit query_cache_bytes', {
        hint: 'Query fewer grids, or fewer versions of one.',
      })
    if (budget.isAborted?.()) throw new Problem('aborted', 'nobody waits for the result')
    yield chunk
  }
}
