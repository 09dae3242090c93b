// Sorts the rows of grids by columns.
import { Problem } from '../../../contract/errors.ts'
import { formatBytes, type Limits } from '../../../contract/limits.ts'
import type { Bytes, WorkBudget } from '../../../json/index.ts'
import { Admission } from '../../core/admission.ts'
import { Lru } from '../../store/schema/lru.ts'
import type { RowSet } from '../column/row-set.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import { createPositions, RadixSorter } from './radix-sort.ts'
import { readSortKeys } from './sort-keys.ts'
import { SortedRows, tooManyRowsError } from './sorted-rows.ts'

/** Size of the cache of row orders, in bytes. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Maximum memory of sorted rows that are being sent to all clients, in units of `sort_bytes`. */
const MAX_BUFFERED_SHARE = 4
/**
 * Maximum number of responses that are put in order while they are sent, which needs half of the memory: each of them keeps
 * the address space of a WebAssembly memory, 10 GB.
 */
const MAX_DIRECT_RESPONSES = 2
/** Maximum wait for a slot, in ms. */
const SLOT_TIMEOUT_MS = 10_000

/** Maximum number of requests that sort at once; at most half of them for one user. */
const MAX_RUNNING_SORTS = 2

/** Sorts the rows of grids, few grids at a time, and caches recent row orders. */
export class RowSorter {
  private readonly cache = new Lru<Uint32Array>(CACHE_BYTES, ({ byteLength }) => byteLength)
  private readonly running = new Map<string, Promise<Uint32Array>>()
  private readonly slots: Admission

  constructor(private readonly limits: Limits) {
    this.slots = new Admission(
      { running: MAX_RUNNING_SORTS, waiting: limits.sorts_waiting, wait: SLOT_TIMEOUT_MS },
      'sorts_waiting',
    )
  }

  /** Throws `too_large` for too many rows to sort, or too many bytes of values to sort by. */
  private checkLimits(rows: number, by: readonly SortColumn[], only: RowSet | undefined): void {
    const { sort_rows, sort_bytes } = this.limits
    const hint = only ? 'Choose fewer rows.' : 'Choose fewer rows with a where, or sort by other columns.'
    // Several columns need as much memory as more rows.
    const maxRows = by.length > 1 ? Math.floor((2 * sort_rows) / by.length) : sort_rows
    if (rows > maxRows)
      throw new Problem(
        'too_large',
        `${rows} rows to sort; at most ${maxRows} are sorted (limit sort_rows)`,
        { field: 'sort', hint },
      )
    const sizes = by.flatMap(({ column: { slices, tail } }) => [
      tail.length,
      ...slices.map(({ bytes }) => bytes),
    ])
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    if (!only && bytes > sort_bytes) throw tooManyBytesError(by, bytes, sort_bytes, hint)
  }

  /** Maximum size of sorted rows in one response, in bytes. */
  get maxBytes(): number {
    return this.limits.sort_bytes
  }

  /** Size of the sorted rows that are being sent, in bytes, and the number of responses that are put in order meanwhile. */
  private readonly sent = { bytes: 0, direct: 0 }
  private readonly abandoned = new FinalizationRegistry<Share>((share) => share.release())

  /**
   * Keeps sorted rows in memory until they are sent. Throws `too_large` above `sort_bytes`, and `overloaded` if the
   * rows of all responses are too large.
   */
  async buffer(rows: Bytes): Promise<Bytes> {
    const maxBytes = this.limits.sort_bytes
    if (rows instanceof SortedRows && this.sent.direct < MAX_DIRECT_RESPONSES) {
      const bytes = await rows.prepare()
      if (rows.isCompact) return this.hold(rows, bytes, true)
    }
    const collected = new CollectedRows(rows, maxBytes)
    return this.hold(collected, await collected.prepare(), false)
  }

  /** Counts the memory of rows until they are read, closed, or never read. Throws `overloaded`. */
  private hold(rows: SortedRows | CollectedRows, bytes: number, isDirect: boolean): Bytes {
    if (this.sent.bytes + bytes > MAX_BUFFERED_SHARE * this.limits.sort_bytes)
      throw new Problem('overloaded', 'too many sorted rows are being sent (limit sort_bytes)')
    const share = new Share(this.sent, bytes, isDirect)
    const chunks = rows[Symbol.asyncIterator]()
    const iterator = {
      async next(): Promise<IteratorResult<Uint8Array>> {
        let isOver = true
        try {
          const result = await chunks.next()
          isOver = result.done === true
          return result
        } finally {
          if (isOver) share.release()
        }
      },
      async return(): Promise<IteratorResult<Uint8Array>> {
        share.release()
        return chunks.return(undefined)
      },
    }
    // The share does not know the iterator, which would otherwise never count as abandoned.
    this.abandoned.register(iterator, share)
    return { [Symbol.asyncIterator]: () => iterator }
  }

  /** Runs work that sorts rows once a slot is free. Throws `overloaded` if it waits too long. */
  runInSlot<T>(user: string, work: () => Promise<T>, isAborted?: () => boolean): Promise<T> {
    return this.slots.run(user, work, isAborted)
  }

  /**
   * Returns the row order by one column. Cached by `fingerprint`, which identifies the data. Throws
   * `too_large`.
   */
  async sortByOne(
    fingerprint: string,
    snap: Snapshot,
    by: SortColumn,
    work: WorkBudget,
  ): Promise<Uint32Array> {
    const key = `${fingerprint} ${by.column.uid} ${by.descending}`
    const cached = this.cache.get(key)
    if (cached) return cached
    const otherRun = this.running.get(key)
    if (otherRun) {
      const order = await otherRun.catch(() => undefined)
      // The other request was aborted, or has a smaller work budget: sort again.
      if (order) return order
    }
    const pending = this.sortBy(snap, [by], work)
    this.running.set(key, pending)
    try {
      const order = await pending
      this.cache.set(key, order)
      return order
    } finally {
      if (this.running.get(key) === pending) this.running.delete(key)
    }
  }

  /** Returns the order of rows by several columns. Missing values come last. Throws `too_large`. */
  async sortBy(
    snap: Snapshot,
    by: readonly SortColumn[],
    work: WorkBudget,
    only?: RowSet,
  ): Promise<Uint32Array> {
    this.checkLimits(only?.count ?? snap.rows, by, only)
    return sortRows(snap, by, only, this.limits.sort_bytes, work)
  }
}

/** Part of the memory of all responses that one response has. */
class Share {
  private isReleased = false

  constructor(
    private readonly all: { bytes: number; direct: number },
    private readonly bytes: number,
    private readonly isDirect: boolean,
  ) {
    all.bytes += bytes
    if (isDirect) all.direct++
  }

  release(): void {
    if (this.isReleased) return
    this.isReleased = true
    this.all.bytes -= this.bytes
    if (this.isDirect) this.all.direct--
  }
}

/** Rows that are in order before the first one is sent. */
class CollectedRows {
  private readonly chunks: Uint8Array[] = []

  constructor(
    private readonly rows: Bytes,
    private readonly maxBytes: number,
  ) {}

  /** Reads the rows. Returns their size in bytes. Throws `too_large` above `maxBytes`. */
  async prepare(): Promise<number> {
    let bytes = 0
    for await (const chunk of this.rows) {
      bytes += chunk.length
      if (bytes > this.maxBytes) throw tooManyRowsError(this.maxBytes)
      this.chunks.push(chunk)
    }
    return bytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let chunk = this.chunks.shift(); chunk; chunk = this.chunks.shift()) yield chunk
  }
}

/** A column to sort by. */
export interface SortColumn {
  column: SnapshotColumn
  descending: boolean
}

/** Creates the error for too many bytes of values to sort by. */
function tooManyBytesError(by: readonly SortColumn[], bytes: number, limit: number, hint: string): Problem {
  const names = by.map(({ column }) => JSON.stringify(column.name)).join(', ')
  return new Problem(
    'too_large',
    `${names}: ${formatBytes(bytes)} of values to sort by; at most ${formatBytes(limit)} are sorted (limit sort_bytes)`,
    { field: 'sort', hint },
  )
}

/**
 * Sorts rows by several columns, from the last one to the first. Throws `too_large` if the texts to sort by
 * exceed `maxBytes`.
 */
async function sortRows(
  snap: Snapshot,
  by: readonly SortColumn[],
  only: RowSet | undefined,
  maxBytes: number,
  work: WorkBudget,
): Promise<Uint32Array> {
  // Positions among the chosen rows. Equal rows keep their order.
  const sorter = new RadixSorter(createPositions(only?.count ?? snap.rows), work)
  let bytes = 0
  for (const { column, descending } of by.toReversed()) {
    const keys = await readSortKeys({ snap, column, only, work }, descending)
    bytes += keys.bytes
    if (bytes > maxBytes) throw tooManyBytesError(by, bytes, maxBytes, 'Choose fewer rows.')
    for (const words of keys.words) await sorter.sortBy(words)
  }
  if (!only) return sorter.positions
  const chosen = only.toArray()
  return sorter.positions.map((k) => chosen[k])
}
