import { Problem } from '../../../contract/errors.ts'
import { formatBytes, type Limits } from '../../../contract/limits.ts'
import {
  type Bytes,
  endOf,
  hasEscapes,
  instantIn,
  kindOf,
  nextValue,
  skipBlanks,
  Work,
  withRoom,
} from '../../../json/index.ts'
import { Admission } from '../../core/admission.ts'
import { Lru } from '../../core/lru.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import { columnText, type Snapshot, type SnapshotColumn } from '../column/content.ts'
import type { RowSet } from '../column/row-set.ts'
import { startOfText } from './cut.ts'
import { tooManyRows } from './rows.ts'

const KEPT_BYTES = 64 * 1024 * 1024
/** Sorted rows of several requests that are held at the same time, in units of `sort_bytes`. */
const HELD_SHARE = 4
/** How long a request waits for its turn, in ms. */
const SORT_WAIT_MS = 10_000

/** Pages with sorted rows that are made at once; at most half of them for one user. */
const AT_ONCE = 2

/** Sorts grids by a column, few at a time, and keeps the orders that were asked for last. */
export class RowOrders {
  private readonly kept = new Lru<Uint32Array>(KEPT_BYTES, ({ byteLength }) => byteLength)
  private readonly running = new Map<string, Promise<Uint32Array>>()
  private readonly turns: Admission

  constructor(private readonly limits: Limits) {
    this.turns = new Admission(
      { running: AT_ONCE, waiting: limits.sorts_waiting, wait: SORT_WAIT_MS },
      'sorts_waiting',
    )
  }

  /** Throws `too_large` for too many rows to sort, or too many values to sort by. */
  private check(rows: number, by: readonly SortColumn[], only: RowSet | undefined): void {
    const { sort_rows, sort_bytes } = this.limits
    const hint = only ? 'Choose fewer rows.' : 'Choose fewer rows with a where, or sort by other columns.'
    // Several columns need as much memory as more rows.
    const most = by.length > 1 ? Math.floor((2 * sort_rows) / by.length) : sort_rows
    if (rows > most)
      throw new Problem('too_large', `${rows} rows to sort; at most ${most} are sorted (limit sort_rows)`, {
        field: 'sort',
        hint,
      })
    const bytes = by.reduce((sum, { column }) => sum + sizeOf(column), 0)
    if (!only && bytes > sort_bytes) throw tooMuch(by, bytes, sort_bytes, hint)
  }

  /** Bytes of sorted rows of one answer. */
  get mostBytes(): number {
    return this.limits.sort_bytes
  }

  /** Bytes of sorted rows that are being sent. */
  private held = 0
  private readonly forgotten = new FinalizationRegistry<{ release: () => void }>(({ release }) => release())

  /**
   * Sorted rows, held in memory until they are sent. Throws `too_large` beyond `sort_bytes`, and `overloaded` if others
   * are sent too much at the same time.
   */
  async hold(rows: Bytes): Promise<Bytes> {
    const most = this.limits.sort_bytes
    const parts: Uint8Array[] = []
    let bytes = 0
    for await (const part of rows) {
      bytes += part.length
      if (bytes > most) throw tooManyRows(most)
      parts.push(part)
    }
    if (this.held + bytes > HELD_SHARE * most)
      throw new Problem('overloaded', 'too many sorted rows are being sent (limit sort_bytes)')
    this.held += bytes
    let isHeld = true
    const release = (): void => {
      if (isHeld) this.held -= bytes
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
    // An answer that nobody begins to read.
    this.forgotten.register(iterator, { release })
    return { [Symbol.asyncIterator]: () => iterator as AsyncIterableIterator<Uint8Array> } as Bytes
  }

  /** Runs work that reads sorted rows when it is its turn. Throws `overloaded`. */
  inTurn<T>(user: string, work: () => Promise<T>, gone?: () => boolean): Promise<T> {
    return this.turns.run(user, work, gone)
  }

  /** The order of a grid's rows by one of its columns, which is kept. `state` identifies the data. Throws `too_large`. */
  async orderByOne(state: string, snap: Snapshot, by: SortColumn, work: Work): Promise<Uint32Array> {
    const key = `${state} ${by.column.uid} ${by.descending}`
    const kept = this.kept.get(key)
    if (kept) return kept
    const others = this.running.get(key)
    if (others) {
      const order = await others.catch(() => undefined)
      // Its client has left, or may spend less: this request sorts for itself.
      if (order) return order
    }
    const pending = this.orderBy(snap, [by], work)
    this.running.set(key, pending)
    try {
      const order = await pending
      this.kept.set(key, order)
      return order
    } finally {
      if (this.running.get(key) === pending) this.running.delete(key)
    }
  }

  /** The order of some rows of a grid, or of all, by several columns. Rows without a value are last. Throws `too_large`. */
  async orderBy(snap: Snapshot, by: readonly SortColumn[], work: Work, only?: RowSet): Promise<Uint32Array> {
    this.check(only?.count ?? snap.rows, by, only)
    return sorted(snap, by, only, this.limits.sort_bytes, work)
  }
}

/** A column to sort by, and how. */
export interface SortColumn {
  column: SnapshotColumn
  descending: boolean
}

function tooMuch(by: readonly SortColumn[], bytes: number, most: number, hint: string): Problem {
  const names = by.map(({ column }) => JSON.stringify(column.name)).join(', ')
  return new Problem(
    'too_large',
    `${names}: ${formatBytes(bytes)} of values to sort by; at most ${formatBytes(most)} are sorted (limit sort_bytes)`,
    { field: 'sort', hint },
  )
}

function sizeOf({ slices, tail }: SnapshotColumn): number {
  return slices.reduce((sum, { bytes }) => sum + bytes, tail.length)
}

/** Ranks of values of different kinds: numbers come first, and rows without a value last. */
const NUMBER = 0
const OTHER = 1
const TEXT = 2
const NONE = 3
/** Digits of a number that a double holds exactly. */
const EXACT_DIGITS = 15
const WHOLE = /^-?\d+$/
/** Bytes for texts at first. */
const FIRST_BYTES = 64 * 1024
/** Bytes of a value by which it is sorted. */
const MAX_KEY = 1024
/** Bytes after the prefix that are compared one by one. */
const NEAR = 32
/** Bytes of a text that are compared as one number: as many as a double holds exactly. */
const PREFIX = 6

/** What the rows of a column are compared by. */
class Keys {
  private readonly ranks: Uint8Array
  /** Values of numbers, and prefixes of the others. */
  private readonly numbers: Float64Array
  /** The decoded texts, one after the other, and where each begins. UTF-8 bytes sort as code points do. */
  private texts: Buffer
  private readonly starts: Uint32Array
  private at = 0
  constructor(
    rows: number,
    private readonly isMoments: boolean,
  ) {
    // Other columns can be longer: their rows have no value here.
    this.ranks = new Uint8Array(rows).fill(NONE)
    this.numbers = new Float64Array(rows)
    this.texts = Buffer.allocUnsafe(FIRST_BYTES)
    this.starts = new Uint32Array(rows + 1)
  }

  /** Bytes of the texts. */
  get bytes(): number {
    return this.at
  }

  add(row: number, text: Buffer, start: number, end: number): void {
    const kind = kindOf(text[start])
    this.starts[row] = this.at
    this.texts = withRoom(this.texts, this.at, MAX_KEY * 3)
    if (kind !== 'null') this.ranks[row] = NUMBER
    if (kind === 'number') {
      this.numbers[row] = Number(text.toString('latin1', start, end))
      // Whole numbers that a double cannot hold are compared as they are written.
      if (end - start > EXACT_DIGITS && end - start < MAX_KEY)
        this.at += text.copy(this.texts, this.at, start, end)
    } else if (kind === 'string' && this.isMoments) this.numbers[row] = instantIn(text, start + 1, end - 1)
    else if (kind === 'string') {
      this.ranks[row] = TEXT
      // The beginning of a long text is enough.
      const cut = Math.min(end, start + MAX_KEY)
      if (hasEscapes(text, start, cut))
        this.at += this.texts.write(startOfText(text, start, end, MAX_KEY), this.at)
      else this.at += text.copy(this.texts, this.at, start + 1, Math.min(end - 1, cut))
    } else if (kind !== 'null') {
      this.ranks[row] = OTHER
      this.at += text.copy(this.texts, this.at, start, Math.min(end, start + MAX_KEY))
    }
    this.starts[row + 1] = this.at
    if (this.ranks[row] === TEXT || this.ranks[row] === OTHER)
      this.numbers[row] = this.prefix(this.starts[row])
  }

  /** The first bytes of the text that ends here, as a number that sorts as they do. Spares most comparisons of texts. */
  private prefix(start: number): number {
    let number = 0
    for (let k = start; k < start + PREFIX; k++) number = number * 256 + (k < this.at ? this.texts[k] : 0)
    return number
  }

  /** Numbers that are equal as doubles: whole numbers with many digits are not, if they are written otherwise. */
  private compareWritten(a: number, b: number): number {
    const { starts, texts } = this
    if (starts[a] === starts[a + 1] || starts[b] === starts[b + 1]) return 0
    const [one, other] = [a, b].map((k) => texts.toString('latin1', starts[k], starts[k + 1]))
    if (one === other || !WHOLE.test(one) || !WHOLE.test(other)) return 0
    return BigInt(one) < BigInt(other) ? -1 : BigInt(one) > BigInt(other) ? 1 : 0
  }

  /** Whether a row has no value. */
  isEmpty(row: number): boolean {
    return this.ranks[row] === NONE
  }

  /** Negative if the value of row `a` comes before that of row `b`; 0 if they are equal. */
  compare(a: number, b: number): number {
    const { ranks, numbers, texts, starts } = this
    const rank = ranks[a]
    if (rank !== ranks[b]) return rank - ranks[b]
    if (numbers[a] !== numbers[b]) return numbers[a] - numbers[b]
    if (rank === NONE) return 0
    if (rank === NUMBER) return this.compareWritten(a, b)
    const end = starts[a + 1]
    const endOther = starts[b + 1]
    // Texts that end within the prefix, with zero bytes after it, differ in length only.
    let i = Math.min(end, starts[a] + PREFIX)
    let j = Math.min(endOther, starts[b] + PREFIX)
    // Short texts are compared here, long ones by a call, which costs more.
    for (const near = i + NEAR; i < near && i < end && j < endOther; i++, j++)
      if (texts[i] !== texts[j]) return texts[i] - texts[j]
    const rest = i < end && j < endOther ? texts.compare(texts, j, endOther, i, end) : 0
    return rest || end - starts[a] - (endOther - starts[b])
  }
}

async function sorted(
  snap: Snapshot,
  by: readonly SortColumn[],
  only: RowSet | undefined,
  most: number,
  work: Work,
): Promise<Uint32Array> {
  const keys: Keys[] = []
  let bytes = 0
  for (const { column } of by) {
    const found = await keysOf(snap, column, only, work)
    bytes += found.bytes
    if (bytes > most) throw tooMuch(by, bytes, most, 'Choose fewer rows.')
    keys.push(found)
  }
  // Places among the chosen rows.
  const rows = new Uint32Array(only?.count ?? snap.rows)
  for (let k = 0; k < rows.length; k++) rows[k] = k
  const compare = (a: number, b: number): number => {
    for (let k = 0; k < keys.length; k++) {
      const found = keys[k].compare(a, b)
      if (found !== 0) return by[k].descending && !keys[k].isEmpty(a) && !keys[k].isEmpty(b) ? -found : found
    }
    // Equal rows keep their order.
    return a - b
  }
  const order = await mergeSort(rows, compare, work)
  if (!only) return order
  const chosen = only.list()
  return order.map((k) => chosen[k])
}

async function keysOf(
  snap: Snapshot,
  column: SnapshotColumn,
  only: RowSet | undefined,
  work: Work,
): Promise<Keys> {
  const keys = new Keys(only?.count ?? snap.rows, isDateType(column.type))
  let row = 0
  let place = 0
  let read = 0
  for await (const text of columnText(snap, column, undefined, 1)) {
    const piece = Buffer.from(text.buffer, text.byteOffset, text.length)
    if (piece.length === 1 && piece[0] === COMMA) continue
    for (let i = skipBlanks(piece, 0); i < piece.length; row++) {
      const end = endOf(piece, i)
      if (!only || only.has(row)) keys.add(place++, piece, i, end)
      read += end - i
      if (read > READ_CHARACTERS) {
        if (work.spend(read)) await work.pause()
        read = 0
      }
      i = nextValue(piece, end)
    }
    await work.pause()
  }
  return keys
}

const COMMA = 0x2c
/** Characters that are read before the work of reading them is counted. */
const READ_CHARACTERS = 20_000
/** Rows that are sorted, or merged, without letting others have their turn. */
const RUN_ROWS = 4096
/** Comparisons for each row of a run. */
const RUN_DEPTH = 12

/** Sorts row numbers. Pauses by its work. Uses as much memory again. */
export async function mergeSort(
  rows: Uint32Array,
  compare: (a: number, b: number) => number,
  work = new Work(),
): Promise<Uint32Array> {
  for (let k = 0; k < rows.length; k += RUN_ROWS) {
    rows.subarray(k, k + RUN_ROWS).sort(compare)
    await work.spendAndPause(RUN_ROWS * RUN_DEPTH)
  }
  let from: Uint32Array = rows
  let to: Uint32Array = new Uint32Array(rows.length)
  for (let width = RUN_ROWS; width < rows.length; width *= 2) {
    for (let low = 0; low < rows.length; low += 2 * width) {
      const middle = Math.min(low + width, rows.length)
      const high = Math.min(low + 2 * width, rows.length)
      let left = low
      let right = middle
      for (let at = low; at < high; at++) {
        if (left < middle && (right >= high || compare(from[left], from[right]) <= 0)) to[at] = from[left++]
        else to[at] = from[right++]
        if ((at & (RUN_ROWS - 1)) === 0 && work.spend(RUN_ROWS)) await work.pause()
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
