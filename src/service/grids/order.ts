import { Problem } from '../../contract/errors.ts'
import { bytesText, type Limits } from '../../contract/limits.ts'
import { breathe, endOf, hasEscapes, instantIn, kindOf, skipBlanks, turnIsLong } from '../../json/index.ts'
import { Admission } from '../core/admission.ts'
import { Lru } from '../core/lru.ts'
import { isMoments } from '../store/column-types.ts'
import { columnText, type Snapshot, type SnapshotColumn } from './content.ts'
import { startOfText } from './cut.ts'
import type { RowSet } from './row-set.ts'

const KEPT_BYTES = 64 * 1024 * 1024
/** How long a request waits for its turn, in ms. */
const PATIENCE = 10_000

/** Pages with sorted rows that are made at once; at most half of them for one user. */
const AT_ONCE = 2

/** Sorts grids by a column, few at a time, and keeps the orders that were asked for last. */
export class RowOrders {
  private readonly kept = new Lru<Uint32Array>(KEPT_BYTES, ({ byteLength }) => byteLength)
  private readonly running = new Map<string, Promise<Uint32Array>>()
  private readonly turns: Admission

  constructor(private readonly limits: Limits) {
    this.turns = new Admission(
      { running: AT_ONCE, waiting: limits.sorts_waiting, wait: PATIENCE },
      'sorts_waiting',
    )
  }

  /** Throws `too_large` for too many rows to sort, or too much text to sort by. */
  private check(rows: number, columns: readonly SnapshotColumn[]): void {
    const { sort_rows, sort_bytes } = this.limits
    const hint = 'Choose fewer rows with a where, or sort by other columns.'
    if (rows > sort_rows)
      throw new Problem(
        'too_large',
        `${rows} rows to sort; at most ${sort_rows} are sorted (limit sort_rows)`,
        {
          field: 'sort',
          hint,
        },
      )
    const bytes = columns.reduce((sum, column) => sum + sizeOf(column), 0)
    if (bytes > sort_bytes) {
      const names = columns.map(({ name }) => JSON.stringify(name)).join(', ')
      throw new Problem(
        'too_large',
        `${names}: ${bytesText(bytes)} of values to sort by; at most ${bytesText(sort_bytes)} are sorted (limit sort_bytes)`,
        { field: 'sort', hint },
      )
    }
  }

  /** Throws `too_large` for rows that are too much text to be put in another order. */
  checkOutput(snap: Snapshot, chosen: number): void {
    const most = this.limits.sort_bytes
    const all = snap.columns.reduce((sum, column) => sum + sizeOf(column), 0)
    const bytes = snap.rows === 0 ? 0 : (all * chosen) / snap.rows
    if (bytes > most)
      throw new Problem(
        'too_large',
        `about ${bytesText(Math.round(bytes))} of rows to sort; at most ${bytesText(most)} are sorted (limit sort_bytes)`,
        { field: 'sort', hint: 'Read fewer rows with head or where, or fewer columns.' },
      )
  }

  /** Runs work that reads sorted rows when it is its turn. Throws `overloaded`. */
  inTurn<T>(user: string, work: () => Promise<T>, gone?: () => boolean): Promise<T> {
    return this.turns.run(user, work, gone)
  }

  /** The order of a grid's rows by one of its columns, which is kept. `state` identifies the data. Throws `too_large`. */
  async orderByOne(state: string, snap: Snapshot, by: SortColumn): Promise<Uint32Array> {
    const key = `${state} ${by.column.uid} ${by.descending}`
    const kept = this.kept.get(key)
    if (kept) return kept
    let work = this.running.get(key)
    if (!work) {
      work = this.orderBy(snap, [by]).finally(() => this.running.delete(key))
      this.running.set(key, work)
    }
    const order = await work
    this.kept.set(key, order)
    return order
  }

  /** The order of some rows of a grid, or of all, by several columns. Rows without a value are last. Throws `too_large`. */
  async orderBy(snap: Snapshot, by: readonly SortColumn[], only?: RowSet): Promise<Uint32Array> {
    this.check(
      snap.rows,
      by.map(({ column }) => column),
    )
    return sorted(snap, by, only)
  }
}

/** A column to sort by, and how. */
export interface SortColumn {
  column: SnapshotColumn
  descending: boolean
}

function sizeOf({ slices, tail }: SnapshotColumn): number {
  return slices.reduce((sum, { bytes }) => sum + bytes, tail.length)
}

/** Ranks of values of different kinds: numbers come first, and rows without a value last. */
const NUMBER = 0
const OTHER = 1
const TEXT = 2
const NONE = 3
/** Bytes of a value by which it is sorted. */
const LONGEST_KEY = 1024
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
  private readonly texts: Buffer
  private readonly starts: Uint32Array
  private at = 0
  constructor(
    rows: number,
    bytes: number,
    private readonly isMoments: boolean,
  ) {
    // Other columns can be longer: their rows have no value here.
    this.ranks = new Uint8Array(rows).fill(NONE)
    this.numbers = new Float64Array(rows)
    this.texts = Buffer.allocUnsafe(bytes)
    this.starts = new Uint32Array(rows + 1)
  }

  add(row: number, text: Buffer, start: number, end: number): void {
    const kind = kindOf(text[start])
    this.starts[row] = this.at
    if (kind !== 'null') this.ranks[row] = NUMBER
    if (kind === 'number') this.numbers[row] = Number(text.toString('latin1', start, end))
    else if (kind === 'string' && this.isMoments) this.numbers[row] = instantIn(text, start + 1, end - 1)
    else if (kind === 'string') {
      this.ranks[row] = TEXT
      // The beginning of a long text is enough.
      const cut = Math.min(end, start + LONGEST_KEY)
      if (hasEscapes(text, start, cut))
        this.at += this.texts.write(startOfText(text, start, end, LONGEST_KEY), this.at)
      else this.at += text.copy(this.texts, this.at, start + 1, Math.min(end - 1, cut))
    } else if (kind !== 'null') {
      this.ranks[row] = OTHER
      this.at += text.copy(this.texts, this.at, start, Math.min(end, start + LONGEST_KEY))
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
    if (rank === NUMBER || rank === NONE) return 0
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

async function sorted(snap: Snapshot, by: readonly SortColumn[], only?: RowSet): Promise<Uint32Array> {
  const keys: Keys[] = []
  for (const { column } of by) keys.push(await keysOf(snap, column))
  const rows = new Uint32Array(only ? only.count : snap.rows)
  let at = 0
  if (only) for (const row of only) rows[at++] = row
  else for (; at < rows.length; at++) rows[at] = at
  const compare = (a: number, b: number): number => {
    for (let k = 0; k < keys.length; k++) {
      const found = keys[k].compare(a, b)
      if (found !== 0) return by[k].descending && !keys[k].isEmpty(a) && !keys[k].isEmpty(b) ? -found : found
    }
    // Equal rows keep their order.
    return a - b
  }
  return mergeSort(rows, compare)
}

async function keysOf(snap: Snapshot, column: SnapshotColumn): Promise<Keys> {
  const keys = new Keys(snap.rows, sizeOf(column), isMoments(column.type))
  let row = 0
  for await (const text of columnText(snap, column, undefined, 1)) {
    const piece = Buffer.from(text.buffer, text.byteOffset, text.length)
    if (piece.length === 1 && piece[0] === COMMA) continue
    for (let i = skipBlanks(piece, 0); i < piece.length; row++) {
      const end = endOf(piece, i)
      keys.add(row, piece, i, end)
      i = skipBlanks(piece, skipBlanks(piece, end) + 1)
      if ((row & 0xfff) === 0 && turnIsLong()) await breathe()
    }
    await breathe()
  }
  return keys
}

const COMMA = 0x2c
/** Rows that are sorted, or merged, without letting others have their turn. */
const RUN = 4096

/** Sorts row numbers. Yields to the event loop. Uses as much memory again. */
async function mergeSort(rows: Uint32Array, compare: (a: number, b: number) => number): Promise<Uint32Array> {
  for (let k = 0; k < rows.length; k += RUN) {
    rows.subarray(k, k + RUN).sort(compare)
    if (turnIsLong()) await breathe()
  }
  let from: Uint32Array = rows
  let to: Uint32Array = new Uint32Array(rows.length)
  for (let width = RUN; width < rows.length; width *= 2) {
    for (let low = 0; low < rows.length; low += 2 * width) {
      const middle = Math.min(low + width, rows.length)
      const high = Math.min(low + 2 * width, rows.length)
      let left = low
      let right = middle
      for (let at = low; at < high; at++) {
        if (left < middle && (right >= high || compare(from[left], from[right]) <= 0)) to[at] = from[left++]
        else to[at] = from[right++]
        if ((at & (RUN - 1)) === 0 && turnIsLong()) await breathe()
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
