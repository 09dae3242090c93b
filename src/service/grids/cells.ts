import { type Bytes, endOf, skipBlanks } from '../../json/index.ts'
import type { SliceRef } from '../store/grids.ts'
import { readSlices } from '../store/texts.ts'
import { columnText, type Snapshot, type SnapshotColumn, skipValues } from './content.ts'
import type { RowSet } from './row-set.ts'

const NULL = Buffer.from('null')
const COMMA = 0x2c

/** Where the value of a column in the current row is, as JSON text: `buf` from `start` to `end`. */
export interface Cell {
  readonly buf: Buffer
  readonly start: number
  readonly end: number
}

/** Goes through all values of one column. */
export class Cursor implements Cell {
  private readonly pieces: AsyncIterator<Uint8Array>
  buf: Buffer = Buffer.alloc(0)
  start = 0
  end = 0
  private at = 0

  constructor(snap: Snapshot, column: SnapshotColumn, head: number | undefined) {
    const pieces: Bytes = columnText(snap, column, head, snap.columns.length > 8 ? 1 : undefined)
    this.pieces = pieces[Symbol.asyncIterator]()
  }

  /** Whether `fill` must be called before `next`. */
  get dry(): boolean {
    return this.at >= this.buf.length
  }

  async fill(): Promise<void> {
    while (this.at >= this.buf.length) {
      const { value, done } = await this.pieces.next()
      if (done) {
        // A column shorter than the others: return nulls.
        this.buf = NULL
        this.at = 0
        return
      }
      // Skip chunks that are only the comma between two values.
      this.buf =
        value.length === 1 && value[0] === COMMA
          ? Buffer.alloc(0)
          : Buffer.from(value.buffer, value.byteOffset, value.length)
      this.at = 0
    }
  }

  /** Sets start and end to the next value in `buf`. */
  next(): void {
    this.start = skipBlanks(this.buf, this.at)
    this.end = endOf(this.buf, this.start)
    this.at = skipBlanks(this.buf, this.end) + 1
  }

  async close(): Promise<void> {
    await this.pieces.return?.()
  }
}

/** Goes to chosen rows of one column, in ascending order. Slices without a chosen row are not read. */
export class Seeker implements Cell {
  private readonly texts: AsyncIterator<Buffer>
  private readonly needed: SliceRef[] = []
  /** The first row of each text. */
  private readonly firsts: number[] = []
  private readonly tail: { text: Buffer; first: number; until: number }
  private part = -1
  /** The row that `at` is the beginning of, and the row after the text. */
  private row = 0
  private until = 0
  private at = 0
  buf: Buffer = NULL
  start = 0
  end = 0

  constructor(snap: Snapshot, column: SnapshotColumn, rows: RowSet) {
    let first = 0
    let hit = rows.next(0)
    for (const slice of column.slices) {
      if (hit < first + slice.rows) {
        this.needed.push(slice)
        this.firsts.push(first)
        hit = rows.next(first + slice.rows)
      }
      first += slice.rows
    }
    this.tail = { text: column.tail, first, until: column.rows }
    this.texts = readSlices(snap.blobs, this.needed, snap.columns.length > 8 ? 1 : undefined)[
      Symbol.asyncIterator
    ]()
  }

  /** Whether the text that has a row must be loaded first. */
  isBeyond(row: number): boolean {
    return row >= this.until
  }

  async load(row: number): Promise<void> {
    while (row >= this.until) {
      this.part++
      if (this.part < this.needed.length) {
        this.buf = (await this.texts.next()).value
        this.row = this.firsts[this.part]
        this.until = this.row + this.needed[this.part].rows
      } else if (row < this.tail.until) {
        this.buf = this.tail.text
        this.row = this.tail.first
        this.until = this.tail.until
      } else {
        // A column shorter than the others.
        this.buf = NULL
        this.row = row
        this.until = Number.POSITIVE_INFINITY
      }
      this.at = 0
    }
  }

  /** Sets start and end to the value of a row that is loaded. */
  seek(row: number): void {
    if (this.until === Number.POSITIVE_INFINITY) {
      this.start = 0
      this.end = NULL.length
      return
    }
    this.at = skipValues(this.buf, this.at, row - this.row)
    this.start = skipBlanks(this.buf, this.at)
    this.end = endOf(this.buf, this.start)
    this.at = skipBlanks(this.buf, this.end) + 1
    this.row = row + 1
  }

  async close(): Promise<void> {
    await this.texts.return?.()
  }
}
