// Sorts the rows of grids by columns.
import { Problem } from '../../../contract/errors.ts'
import { formatBytes, type Limits } from '../../../contract/limits.ts'
import {
  asBuffer,
  type Bytes,
  ensureCapacity,
  findValueEnd,
  hasEscapes,
  jsonKindOf,
  nextValue,
  parseInstantBytes,
  skipWhitespace,
  WorkBudget,
} from '../../../json/index.ts'
import { Admission } from '../../core/admission.ts'
import { Lru } from '../../core/lru.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import type { RowSet } from '../column/row-set.ts'
import { type Snapshot, type SnapshotColumn, streamColumn } from '../column/snapshot.ts'
import { decodeStart } from './decode-start.ts'
import { tooManyRowsError } from './rows.ts'

/** Size of the cache of row orders, in bytes. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Maximum memory of sorted rows that are being sent to all clients, in units of `sort_bytes`. */
const MAX_BUFFERED_SHARE = 4
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

  /** Size of sorted rows that are being sent, in bytes. */
  private bufferedBytes = 0
  private readonly abandoned = new FinalizationRegistry<{ release: () => void }>(({ release }) => release())

  /**
   * Buffers sorted rows in memory until they are sent. Throws `too_large` above `sort_bytes`, and
   * `overloaded` if the buffers of all responses are too large.
   */
  async buffer(rows: Bytes): Promise<Bytes> {
    const maxBytes = this.limits.sort_bytes
    const parts: Uint8Array[] = []
    let bytes = 0
    for await (const part of rows) {
      bytes += part.length
      if (bytes > maxBytes) throw tooManyRowsError(maxBytes)
      parts.push(part)
    }
    if (this.bufferedBytes + bytes > MAX_BUFFERED_SHARE * maxBytes)
      throw new Problem('overloaded', 'too many sorted rows are being sent (limit sort_bytes)')
    this.bufferedBytes += bytes
    let isHeld = true
    const release = (): void => {
      if (isHeld) this.bufferedBytes -= bytes
      isHeld = false
      parts.length = 0
    }
    const iterator = {
      async next(): Promise<IteratorResult<Uint8Array>> {
        const value = parts.shift()
        if (value) return { value, done: false }
        release()
        return { value: undefined, done: true }
      },
      async return(): Promise<IteratorResult<Uint8Array>> {
        release()
        return { value: undefined, done: true }
      },
    }
    // Free the buffer of a response that is never read.
    this.abandoned.register(iterator, { release })
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

/** Ranks of kinds of values: numbers come first, missing values last. */
const NUMBER_RANK = 0
const OTHER_RANK = 1
const TEXT_RANK = 2
const NONE_RANK = 3
/** Number of digits that a double represents exactly. */
const EXACT_DIGITS = 15
const WHOLE = /^-?\d+$/
/** Initial size of the buffer of texts, in bytes. */
const INITIAL_TEXT_BYTES = 64 * 1024
/** Maximum number of bytes of a value that are compared. */
const MAX_KEY_BYTES = 1024
/** Number of bytes after the prefix that are compared in a loop. */
const LOOP_BYTES = 32
/** Number of bytes of a text that are compared as one number: as many as a double represents exactly. */
const PREFIX_BYTES = 6

/** Sort keys of one column, by position among the sorted rows. */
class SortKeys {
  private readonly ranks: Uint8Array
  /** Numbers, and prefixes of all other values. */
  private readonly numbers: Float64Array
  /** Concatenated decoded texts, and the start of each. UTF-8 bytes sort as code points do. */
  private texts: Buffer
  private readonly starts: Uint32Array
  private at = 0
  constructor(
    rows: number,
    private readonly isMoments: boolean,
  ) {
    // The column can be shorter than others: its missing values have rank NONE.
    this.ranks = new Uint8Array(rows).fill(NONE_RANK)
    this.numbers = new Float64Array(rows)
    this.texts = Buffer.allocUnsafe(INITIAL_TEXT_BYTES)
    this.starts = new Uint32Array(rows + 1)
  }

  /** Size of all texts, in bytes. */
  get bytes(): number {
    return this.at
  }

  add(row: number, text: Buffer, start: number, end: number): void {
    const kind = jsonKindOf(text[start])
    this.starts[row] = this.at
    this.texts = ensureCapacity(this.texts, this.at, MAX_KEY_BYTES * 3)
    if (kind !== 'null') this.ranks[row] = NUMBER_RANK
    if (kind === 'number') {
      this.numbers[row] = Number(text.toString('latin1', start, end))
      // Integers that a double cannot represent are compared as written.
      if (end - start > EXACT_DIGITS && end - start < MAX_KEY_BYTES)
        this.at += text.copy(this.texts, this.at, start, end)
    } else if (kind === 'string' && this.isMoments)
      this.numbers[row] = parseInstantBytes(text, start + 1, end - 1)
    else if (kind === 'string') {
      this.ranks[row] = TEXT_RANK
      // The beginning of a long text is enough.
      const cut = Math.min(end, start + MAX_KEY_BYTES)
      if (hasEscapes(text, start, cut))
        this.at += this.texts.write(decodeStart(text, start, end, MAX_KEY_BYTES), this.at)
      else this.at += text.copy(this.texts, this.at, start + 1, Math.min(end - 1, cut))
    } else if (kind !== 'null') {
      this.ranks[row] = OTHER_RANK
      this.at += text.copy(this.texts, this.at, start, Math.min(end, start + MAX_KEY_BYTES))
    }
    this.starts[row + 1] = this.at
    if (this.ranks[row] === TEXT_RANK || this.ranks[row] === OTHER_RANK)
      this.numbers[row] = this.prefixNumber(this.starts[row])
  }

  /**
   * Converts the first bytes of the last text to a number that sorts alike. It saves most comparisons of
   * texts.
   */
  private prefixNumber(start: number): number {
    let number = 0
    for (let k = start; k < start + PREFIX_BYTES; k++)
      number = number * 256 + (k < this.at ? this.texts[k] : 0)
    return number
  }

  /** Compares integers of many digits that are equal as doubles, by their texts. */
  private compareWritten(a: number, b: number): number {
    const { starts, texts } = this
    if (starts[a] === starts[a + 1] || starts[b] === starts[b + 1]) return 0
    const [textA, textB] = [a, b].map((k) => texts.toString('latin1', starts[k], starts[k + 1]))
    if (textA === textB || !WHOLE.test(textA) || !WHOLE.test(textB)) return 0
    return BigInt(textA) < BigInt(textB) ? -1 : BigInt(textA) > BigInt(textB) ? 1 : 0
  }

  /** Returns whether a row has no value. */
  isEmpty(row: number): boolean {
    return this.ranks[row] === NONE_RANK
  }

  /** Returns a negative number if row `a` comes before row `b`; 0 if their values are equal. */
  compare(a: number, b: number): number {
    const { ranks, numbers, texts, starts } = this
    const rank = ranks[a]
    if (rank !== ranks[b]) return rank - ranks[b]
    if (numbers[a] !== numbers[b]) return numbers[a] - numbers[b]
    if (rank === NONE_RANK) return 0
    if (rank === NUMBER_RANK) return this.compareWritten(a, b)
    const end = starts[a + 1]
    const endOther = starts[b + 1]
    // Texts with equal prefixes that end within the prefix differ in length only.
    let i = Math.min(end, starts[a] + PREFIX_BYTES)
    let j = Math.min(endOther, starts[b] + PREFIX_BYTES)
    // A loop is faster for short texts, a call for long ones.
    for (const near = i + LOOP_BYTES; i < near && i < end && j < endOther; i++, j++)
      if (texts[i] !== texts[j]) return texts[i] - texts[j]
    const rest = i < end && j < endOther ? texts.compare(texts, j, endOther, i, end) : 0
    return rest || end - starts[a] - (endOther - starts[b])
  }
}

/** Sorts rows by several columns. Throws `too_large` if their sort keys exceed `maxBytes`. */
async function sortRows(
  snap: Snapshot,
  by: readonly SortColumn[],
  only: RowSet | undefined,
  maxBytes: number,
  work: WorkBudget,
): Promise<Uint32Array> {
  const keys: SortKeys[] = []
  let bytes = 0
  for (const { column } of by) {
    const columnKeys = await readSortKeys(snap, column, only, work)
    bytes += columnKeys.bytes
    if (bytes > maxBytes) throw tooManyBytesError(by, bytes, maxBytes, 'Choose fewer rows.')
    keys.push(columnKeys)
  }
  // Positions among the chosen rows.
  const rows = new Uint32Array(only?.count ?? snap.rows)
  for (let k = 0; k < rows.length; k++) rows[k] = k
  const compare = (a: number, b: number): number => {
    for (let k = 0; k < keys.length; k++) {
      const result = keys[k].compare(a, b)
      if (result !== 0)
        return by[k].descending && !keys[k].isEmpty(a) && !keys[k].isEmpty(b) ? -result : result
    }
    // Equal rows keep their order.
    return a - b
  }
  const order = await mergeSort(rows, compare, work)
  if (!only) return order
  const chosen = only.toArray()
  return order.map((k) => chosen[k])
}

/** Reads the sort keys of a column, of the rows `only`. */
async function readSortKeys(
  snap: Snapshot,
  column: SnapshotColumn,
  only: RowSet | undefined,
  work: WorkBudget,
): Promise<SortKeys> {
  const keys = new SortKeys(only?.count ?? snap.rows, isDateType(column.type))
  let [row, position, read] = [0, 0, 0]
  for await (const text of streamColumn(snap, column, undefined, 1)) {
    const buf = asBuffer(text)
    if (buf.length === 1 && buf[0] === COMMA) continue
    for (let i = skipWhitespace(buf, 0); i < buf.length; row++) {
      const end = findValueEnd(buf, i)
      if (!only || only.has(row)) keys.add(position++, buf, i, end)
      read += end - i
      if (read > READ_BATCH_BYTES) {
        if (work.spend(read)) await work.pause()
        read = 0
      }
      i = nextValue(buf, end)
    }
    await work.pause()
  }
  return keys
}

const COMMA = 0x2c
/** Number of bytes that are read before their work is counted. */
const READ_BATCH_BYTES = 20_000

/** Number of rows that are sorted or merged without yielding to the event loop. */
const BATCH_ROWS = 4096
/** Comparisons per row of a sorted batch. */
const COMPARISONS_PER_ROW = 12

/**
 * Sorts row numbers in `rows`, and returns the result. Yields to the event loop. Needs as much memory again.
 */
export async function mergeSort(
  rows: Uint32Array,
  compare: (a: number, b: number) => number,
  work = new WorkBudget(),
): Promise<Uint32Array> {
  for (let k = 0; k < rows.length; k += BATCH_ROWS) {
    rows.subarray(k, k + BATCH_ROWS).sort(compare)
    await work.spendAndPause(BATCH_ROWS * COMPARISONS_PER_ROW)
  }
  let from: Uint32Array = rows
  let to: Uint32Array = new Uint32Array(rows.length)
  for (let width = BATCH_ROWS; width < rows.length; width *= 2) {
    for (let low = 0; low < rows.length; low += 2 * width) {
      const middle = Math.min(low + width, rows.length)
      const high = Math.min(low + 2 * width, rows.length)
      let left = low
      let right = middle
      for (let at = low; at < high; at++) {
        if (left < middle && (right >= high || compare(from[left], from[right]) <= 0)) to[at] = from[left++]
        else to[at] = from[right++]
        if ((at & (BATCH_ROWS - 1)) === 0 && work.spend(BATCH_ROWS)) await work.pause()
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
