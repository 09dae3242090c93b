/** Parquet files of grids for queries: copies of grids, each by the hash of its content. */
import { createHash, randomBytes } from 'node:crypto'
import { constants, createWriteStream } from 'node:fs'
import { access, mkdir, mkdtemp, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { errorCodeOf, Problem } from '../../contract/errors.ts'
import { takeUniqueName } from '../../contract/unique-name.ts'
import type { Bytes } from '../../json/index.ts'
import type { ColumnStorage, StoredTable, TableColumn } from '../../sql/index.ts'
import {
  batchReads,
  largestChunkBytes,
  type Snapshot,
  skipRows,
  streamColumn,
} from '../grids/column/snapshot.ts'
import { chooseQueriedStorage, FactFinder, needsFacts } from '../grids/read/parquet/storages.ts'
import { batchGroupReads, GROUP_ROWS, writeFile } from '../grids/read/parquet/write-file.ts'
import { contentKeyOf } from '../store/aggregates/grids.ts'
import { familyOf, isDateType } from '../store/schema/column-types.ts'
import { findPositions, includesAll, listCopies, nameCopy, widen } from './copied-columns.ts'

/**
 * Minimum number of stored rows for a copy without the appended ones. DuckDB reads the groups of rows of larger tables
 * in parallel, and `first` without an order can be a row of any group.
 */
const MIN_STORED_ROWS = GROUP_ROWS
/** Mode of files: a query could not change the table that others read, even if a statement that writes ever passed. */
const READ_ONLY = 0o400
/** Size of files that may wait to be written while more is made, in bytes. */
const WRITTEN_AHEAD_BYTES = 4 * 1024 * 1024
/** Maximum number of appended rows that are read beside a copy. With more, the whole grid is copied. */
const MAX_REST_ROWS = 20_000
/** Time after its last use when a file is deleted, in ms: content of deleted grids must not stay. */
const MAX_IDLE_MS = 24 * 3600 * 1000
/** Time after its last use before which a file is not deleted, in ms: a query may read it. */
const MIN_IDLE_MS = 300_000
/** Time after which a folder of a query is one that a killed server has left, in ms. */
const MAX_WORK_MS = 3600_000
const WORK_PREFIX = 'work-'
const TEMPORARY_PREFIX = 'gridline-queries-'

type TableFile = Omit<StoredTable, 'table'>

/** How the file of a grid is read. */
interface Reading {
  /** Nothing that exists is used. */
  isAfresh: boolean
  /** Words of the query, in lower case: it reads only columns with such names; undefined: any column. */
  words?: ReadonlySet<string>
}

/** Files of grids that were queried, so that the next query need not copy them again. */
export class TableFiles {
  private folder: Promise<string> | undefined

  /** `place`: folder next to the database. If it is undefined or cannot be written, a temporary one, which `close` removes. */
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
   * Returns the file of a grid. If there is none, it is written into the folder of the query; `keep` then keeps it for
   * other queries. It can have only the columns that the query names. The file of a large grid has only its stored
   * slices, and so stays as it is for many appends: rows that were appended since are its rest. Throws `too_large` above
   * the size of all files.
   */
  async get(
    snap: Snapshot,
    { isAfresh, words }: Reading,
    workFolder: string,
    budget: CopyBudget,
  ): Promise<{ file: TableFile; keep: () => Promise<void> }> {
    const folder = await this.open()
    const columns = columnsOf(snap)
    const place = (name: string): string => join(folder, `${name}.parquet`)
    const write = async (part: Snapshot, positions: readonly number[], isRest: boolean) => {
      const path = join(workFolder, `${randomBytes(6).toString('hex')}.parquet`)
      return { path, storages: await writeCopy(part, positions, path, isRest, budget) }
    }
    const parts = isAfresh ? undefined : splitTail(snap)
    // Parts that did not fit together have left a file of the whole.
    const whole = parts && place(hashSnapshot(snap))
    if (whole !== undefined && (await touch(whole)))
      return { file: { columns, storedColumns: columns.length, path: whole }, keep: async () => {} }
    const { stored, rest } = parts ?? { stored: snap, rest: undefined }
    const hash = hashSnapshot(stored)
    const needed = findPositions(columns, words)
    const kept = isAfresh ? [] : await listCopies(folder, hash, columns.length)
    let copy = budget.files.get(hash)
    for (const positions of kept) {
      if (copy || !includesAll(positions, needed)) continue
      const path = place(nameCopy(hash, positions, columns.length))
      if (await touch(path)) copy = { path, positions }
    }
    let keep = async (): Promise<void> => {}
    if (!copy) {
      const positions = widen(needed, kept, columns.length)
      const { path } = await write(stored, positions, false)
      copy = { path, positions }
      // While the query runs.
      const synced = syncFile(path)
      synced.catch(() => {})
      keep = async () => {
        await synced
        await rename(path, place(nameCopy(hash, positions, columns.length)))
      }
    }
    budget.files.set(hash, copy)
    const { path, positions } = copy
    const storedColumns = positions.length
    return {
      file: { columns, storedColumns, path, rest: rest && (await write(rest, positions, true)) },
      keep,
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
    const seen = new Set<string>()
    const now = Date.now()
    for (const { path, bytes: size, used } of files.sort((a, b) => b.used - a.used)) {
      const idleMs = now - used
      const isWork = basename(path).startsWith(WORK_PREFIX)
      // A later copy of the same content has the columns of those before it.
      const [hash] = basename(path, '.parquet').split('-')
      const isReplaced = !isWork && seen.has(hash)
      seen.add(hash)
      if (!isWork) bytes += size
      const isExpired = isWork
        ? idleMs > MAX_WORK_MS
        : idleMs > MAX_IDLE_MS || ((bytes > this.maxBytes || isReplaced) && idleMs > MIN_IDLE_MS)
      if (isExpired) await rm(path, { recursive: true, force: true })
    }
  }

  async close(): Promise<void> {
    const folder = await this.folder?.catch(() => undefined)
    if (folder !== undefined && folder !== this.place) await rm(folder, { recursive: true, force: true })
  }

  private open(): Promise<string> {
    this.folder ??= openFolder(this.place)
    return this.folder
  }
}

async function openFolder(place: string | undefined): Promise<string> {
  if (place !== undefined && (await makeWritable(place))) return place
  await removeOrphans()
  return mkdtemp(join(tmpdir(), TEMPORARY_PREFIX))
}

/** Makes a folder. Returns false if nothing can be written there: a database can be on a disk that is only read. */
async function makeWritable(folder: string): Promise<boolean> {
  try {
    // Not `recursive`: it may never end if the system refuses to create a folder. The database is in its parent.
    await mkdir(folder, { mode: 0o700 }).catch((error) => {
      if (errorCodeOf(error) !== 'EEXIST') throw error
    })
    await access(folder, constants.W_OK)
    return true
  } catch (error) {
    if (/^(?:EROFS|EACCES|EPERM|ENOENT)$/.test(errorCodeOf(error))) return false
    throw error
  }
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

/** Resolves when a file is complete even if the power fails. */
async function syncFile(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
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
      `${JSON.stringify([name, type, count, skip, slices.map((slice) => [slice.blob.owner, contentKeyOf(slice)])])}\n`,
    )
    hash.update(tail)
  }
  return hash.digest('hex').slice(0, 40)
}

/** Returns columns with names that differ also in lower case, as SQL compares names. */
function columnsOf({ columns }: Snapshot): TableColumn[] {
  const used = new Set<string>()
  return columns.map((column) => {
    const family = familyOf(column.type)
    const type = family === 'json' || family === 'empty' ? 'text' : family
    return { name: takeUniqueName(column.name, used, (text) => text.toLowerCase()), type }
  })
}

/** Copies that one query has made, and what it may still write. */
export interface CopyBudget {
  /** Files of this query by the hash of their content, which names of the same content share. */
  files: Map<string, { path: string; positions: readonly number[] }>
  /** Number of bytes that may still be written. */
  bytesLeft: number
  isAborted: (() => boolean) | undefined
}

/** A column has values that do not fit its storage. */
class OtherStorage extends Error {}

/**
 * Writes columns of a grid as a Parquet file, and returns how they are stored. Their first slices tell how, if all others
 * agree; else, all of their values do. `isRest`: days and times are texts.
 */
async function writeCopy(
  { columns, ...snap }: Snapshot,
  positions: readonly number[],
  path: string,
  isRest: boolean,
  budget: CopyBudget,
): Promise<ColumnStorage[]> {
  const bytesLeft = budget.bytesLeft
  const part: Snapshot = { ...snap, columns: positions.map((position) => columns[position]) }
  try {
    return await writeStored(part, positions, await findColumnFacts(part, !isRest), path, isRest, budget)
  } catch (error) {
    if (!(error instanceof OtherStorage)) throw error
    budget.bytesLeft = bytesLeft
    await rm(path)
    return writeStored(part, positions, await findColumnFacts(part, false), path, isRest, budget)
  }
}

/** Finds the facts about the values of columns. `isGuess`: of those in their first slices, if they tell enough. */
async function findColumnFacts(snap: Snapshot, isGuess: boolean): Promise<number[]> {
  const finder = new FactFinder(
    snap.rows * snap.columns.length,
    Math.max(0, ...snap.columns.map(largestChunkBytes)),
  )
  const facts: number[] = []
  const read = snap.columns.filter(({ type }) => needsFacts(type))
  const looked = batchReads(snap, isGuess ? read.map(({ slices }) => ({ slices: slices.slice(0, 1) })) : read)
  for (const column of snap.columns) {
    const { type, slices, skip = 0 } = column
    const find = (rows?: number): Promise<number> => finder.find(type, streamColumn(looked, column, rows, 1))
    const first = isGuess && slices.length > 0 ? await find(slices[0].rows - skip) : undefined
    const isEnough = first !== undefined && CHECKED.has(chooseQueriedStorage(type, first))
    facts.push(isEnough ? first : await find())
  }
  return facts
}

/** Storages of which values that do not fit are noticed, or that fit all values of a column. */
const CHECKED: ReadonlySet<ColumnStorage> = new Set<ColumnStorage>([
  'integer',
  'double',
  'boolean',
  'day',
  'localTime',
  'utcTime',
  'text',
])

async function writeStored(
  { columns, rows, ...snap }: Snapshot,
  positions: readonly number[],
  facts: number[],
  path: string,
  isRest: boolean,
  budget: CopyBudget,
): Promise<ColumnStorage[]> {
  const storages = columns.map(({ type }, k) => chooseQueriedStorage(type, facts[k]))
  const read = batchGroupReads({ columns, rows, ...snap })
  const file = writeFile(
    columns.map((column, k) => {
      const storage = isRest && isDateType(column.type) ? 'text' : storages[k]
      return {
        name: `${storage}${positions[k]}`,
        storage,
        values: streamColumn(read, column),
      }
    }),
    {
      rows,
      textBytes: Math.max(...columns.map(largestChunkBytes)),
      isCompressed: false,
      check(k, more) {
        facts[k] |= more
        if (chooseQueriedStorage(columns[k].type, facts[k]) !== storages[k]) throw new OtherStorage()
      },
    },
  )
  await pipeline(
    countBytes(file, budget),
    createWriteStream(path, { mode: READ_ONLY, highWaterMark: WRITTEN_AHEAD_BYTES }),
  )
  return storages
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
