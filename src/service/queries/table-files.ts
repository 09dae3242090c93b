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
import type { CsvTable, StoredTable, TableColumn } from '../../sql/index.ts'
import { type Snapshot, type SnapshotColumn, skipRows } from '../grids/column/snapshot.ts'
import { createDelimitedWriter } from '../grids/read/row-writers.ts'
import { streamFirstRows } from '../grids/read/rows.ts'
import { familyOf } from '../store/schema/column-types.ts'

/** Numbers from here on may have no exact double. */
const MIN_LARGE = 2 ** 53
/** Size of CSV that may wait to be written while more is made, in bytes. */
const WRITTEN_AHEAD_BYTES = 4 * 1024 * 1024
/**
 * Minimum number of stored rows for a copy without the appended ones. DuckDB reads that many in one piece. It reads the
 * pieces of larger tables in parallel, and `first` without an order can be a row of any piece.
 */
const MIN_STORED_ROWS = 122_880
/** Maximum number of appended rows that are loaded beside a copy. With more, the whole grid is copied. */
const MAX_REST_ROWS = 20_000
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

type TableFile = Omit<StoredTable, 'table'>

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
   * loads it; `keep` then keeps the file for other queries. The file of a large grid has only its stored slices, and so
   * stays as it is for many appends: rows that were appended since are its rest. `isAfresh`: none of this, and a new
   * file. Throws `too_large` above the size of all files.
   */
  async get(
    snap: Snapshot,
    isAfresh: boolean,
    workFolder: string,
    budget: CopyBudget,
  ): Promise<{ file: TableFile; keep: () => Promise<void> }> {
    const folder = await this.open()
    const placeOf = (hash: string): string => join(folder, `${hash}.duckdb`)
    const write = async (part: Snapshot): Promise<CsvTable> => {
      const path = join(workFolder, `${randomBytes(6).toString('hex')}.csv`)
      await writeCsv(part, path, budget)
      return { path, columns: columnsOf(part) }
    }
    const parts = isAfresh ? undefined : splitTail(snap)
    // Parts that did not fit together have left a file of the whole.
    const whole = parts && placeOf(hashSnapshot(snap))
    if (whole !== undefined && (await touch(whole)))
      return { file: { database: whole }, keep: async () => {} }
    const { stored, rest } = parts ?? { stored: snap, rest: undefined }
    const hash = hashSnapshot(stored)
    const written = rest && (await write(rest))
    const known = budget.files.get(hash)
    if (known) return { file: { ...known, rest: written }, keep: async () => {} }
    const isKept = !isAfresh && (await touch(placeOf(hash)))
    const csv = isKept ? undefined : await write(stored)
    const file = { database: csv ? csv.path.replace(/csv$/, 'duckdb') : placeOf(hash), csv }
    budget.files.set(hash, file)
    return {
      file: { ...file, rest: written },
      keep: async () => (isKept ? undefined : rename(file.database, placeOf(hash))),
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

/** Sets the time of the last use of a file. Returns false if the file does not exist. */
async function touch(path: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(path, now, now)
    return true
  } catch {
    return false
  }
}

/**
 * Splits a snapshot into its slices and the rows after them; undefined if columns differ in them, or if one file of the
 * whole is better.
 */
function splitTail(snap: Snapshot): { stored: Snapshot; rest: Snapshot } | undefined {
  const counts = snap.columns.map(({ slices }) => slices.reduce((sum, slice) => sum + slice.rows, 0))
  const [rows] = counts
  const isEven = snap.columns.every(
    (column, k) => counts[k] === rows && column.rows === snap.rows && !column.skip,
  )
  if (!isEven || rows < MIN_STORED_ROWS || rows >= snap.rows || snap.rows - rows > MAX_REST_ROWS)
    return undefined
  const stored = snap.columns.map((column) => ({ ...column, rows, tail: Buffer.alloc(0) }))
  return { stored: { ...snap, columns: stored, rows }, rest: skipRows(snap, rows) }
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
  /** Files of this query by the hash of their content, which names of the same content share. */
  files: Map<string, TableFile>
  /** Number of bytes that may still be written. */
  bytesLeft: number
  isAborted: (() => boolean) | undefined
}

async function writeCsv(snap: Snapshot, path: string, budget: CopyBudget): Promise<void> {
  // A second column keeps missing values apart from blank lines.
  const columns = snap.columns.length === 1 ? [snap.columns[0], snap.columns[0]] : snap.columns
  const chunks = streamFirstRows({ ...snap, columns }, createDelimitedWriter(','))
  await pipeline(
    countBytes(chunks, budget),
    createWriteStream(path, { mode: 0o600, highWaterMark: WRITTEN_AHEAD_BYTES }),
  )
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
