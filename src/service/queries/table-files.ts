/** Database files of grids for queries: copies of grids, each by the hash of its content. */
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
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
    return mkdtemp(join(await this.open(), 'work-'))
  }

  /**
   * Returns the file of a grid. If there is none, its content is written as CSV into the folder of the query, which
   * loads it; `keep` then keeps the file for other queries.
   */
  async get(snap: Snapshot, workFolder: string): Promise<{ file: TableFile; keep: () => Promise<void> }> {
    const folder = await this.open()
    const database = join(folder, `${hashSnapshot(snap)}.duckdb`)
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
    await writeCsv(snap, `${name}.csv`)
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
    const folder = await this.open()
    const files: { path: string; bytes: number; used: number }[] = []
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: Number.POSITIVE_INFINITY }))
      files.push({ path, bytes: size, used: mtimeMs })
    }
    let bytes = 0
    for (const { path, bytes: size, used } of files.sort((a, b) => b.used - a.used)) {
      bytes += size
      if (bytes > this.maxBytes || used < Date.now() - MAX_IDLE_MS)
        await rm(path, { recursive: true, force: true })
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
  if (place === undefined) return mkdtemp(join(tmpdir(), 'gridline-queries-'))
  await mkdir(place, { recursive: true, mode: 0o700 })
  return place
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
    let name = column.name
    for (let n = 2; used.has(name.toLowerCase()); n++) name = `${column.name}_${n}`
    used.add(name.toLowerCase())
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

async function writeCsv(snap: Snapshot, path: string): Promise<void> {
  // A second column keeps missing values apart from blank lines.
  const columns = snap.columns.length === 1 ? [snap.columns[0], snap.columns[0]] : snap.columns
  await pipeline(
    streamFirstRows({ ...snap, columns }, createDelimitedWriter(',')),
    createWriteStream(path, { mode: 0o600 }),
  )
}
