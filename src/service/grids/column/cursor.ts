// Reads chosen rows of a column, one cell at a time, in ascending order.
import { findValueEnd, skipWhitespace } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { streamSlices } from '../../store/aggregates/slice-json.ts'
import { canContainCommas } from '../../store/schema/column-types.ts'
import type { KernelChunk } from './kernel/write-rows.ts'
import { type Snapshot, type SnapshotColumn, skipValues } from './snapshot.ts'

const NULL = Buffer.from('null')

/** JSON of the value in the current row: buf[start, end). */
export interface Cell {
  readonly buf: Buffer
  readonly start: number
  readonly end: number
}

/** Returns the JSON of a value as a text. */
export function jsonOf({ buf, start, end }: Cell): string {
  return buf.toString('utf8', start, end)
}

/** Ascending rows. `next` returns the first row that is at least `from`; infinite if there is none. */
export interface RowSequence {
  next(from: number): number
}

/** Creates the rows from 0 up to `count`, exclusive. */
export function createFirstRows(count: number): RowSequence {
  return { next: (from) => (from < count ? from : Number.POSITIVE_INFINITY) }
}

/** Lists the rows from `from` up to `until`, exclusive, as far as there is room. Returns their number. */
export function listRows(rows: RowSequence, from: number, until: number, list: Int32Array): number {
  let count = 0
  for (let row = rows.next(from); row < until && count < list.length; row = rows.next(row + 1))
    list[count++] = row
  return count
}

/** Returns the end of a value without commas. */
function findSimpleEnd(buf: Buffer, start: number): number {
  let end = start
  while (end < buf.length && buf[end] !== COMMA) end++
  while (buf[end - 1] <= 0x20) end--
  return end
}

const COMMA = 0x2c

/** Number of columns from which each loads one slice at a time. */
export const MANY_COLUMNS = 8

/** Returns how many slices to prefetch per column, which bounds memory; undefined for the default. */
function prefetchedSlices(columns: number): number | undefined {
  if (columns > MANY_COLUMNS) return 1
  return columns > 3 ? 2 : undefined
}

/** Cursor over chosen rows of one column, in ascending order. Slices without a chosen row are not read. */
export class ColumnCursor implements Cell {
  private readonly texts: AsyncIterator<Buffer>
  private readonly needed: SliceRef[] = []
  /** First row of each slice in `needed`. */
  private readonly firsts: number[] = []
  private readonly tail: { text: Buffer; first: number; until: number }
  private chunkIndex = -1
  /** Row of the value at `at`. */
  private row = 0
  /** Row after the last one of the loaded chunk. */
  until = 0
  private at = 0
  buf: Buffer = NULL
  start = 0
  end = 0
  private readonly isSimple: boolean

  constructor(snap: Snapshot, column: SnapshotColumn, rows: RowSequence) {
    this.isSimple = !canContainCommas(column.type)
    let first = -(column.skip ?? 0)
    let nextRow = rows.next(0)
    for (const slice of column.slices) {
      if (nextRow < first + slice.rows) {
        this.needed.push(slice)
        this.firsts.push(first)
        nextRow = rows.next(first + slice.rows)
      }
      first += slice.rows
    }
    this.tail = { text: column.tail, first, until: column.rows }
    this.texts = streamSlices(snap.blobs, this.needed, prefetchedSlices(snap.columns.length))[
      Symbol.asyncIterator
    ]()
  }

  /** Returns whether the chunk with a row must be loaded first. */
  needsLoad(row: number): boolean {
    return row >= this.until
  }

  /** Loads the chunk that contains a row. */
  async load(row: number): Promise<void> {
    while (row >= this.until) {
      this.chunkIndex++
      if (this.chunkIndex < this.needed.length) {
        this.buf = (await this.texts.next()).value
        this.row = this.firsts[this.chunkIndex]
        this.until = this.row + this.needed[this.chunkIndex].rows
      } else if (row < this.tail.until) {
        this.buf = this.tail.text
        this.row = this.tail.first
        this.until = this.tail.until
      } else {
        // The column is shorter than others: its missing values are null.
        this.buf = NULL
        this.row = row
        this.until = Number.POSITIVE_INFINITY
      }
      this.at = 0
    }
  }

  /** The loaded chunk, for a kernel. */
  get chunk(): KernelChunk {
    const isConstant = this.until === Number.POSITIVE_INFINITY
    const isSlice = this.chunkIndex < this.needed.length
    return { text: this.buf, row: this.row, isSimple: this.isSimple && isSlice, isConstant }
  }

  /** Sets `start` and `end` to the value of a row in the loaded chunk. */
  seek(row: number): void {
    if (this.until === Number.POSITIVE_INFINITY) {
      this.start = 0
      this.end = NULL.length
      return
    }
    if (row > this.row) this.at = skipValues(this.buf, this.at, row - this.row)
    this.start = skipWhitespace(this.buf, this.at)
    this.end = this.isSimple ? findSimpleEnd(this.buf, this.start) : findValueEnd(this.buf, this.start)
    this.at = skipWhitespace(this.buf, this.end) + 1
    this.row = row + 1
  }

  async close(): Promise<void> {
    await this.texts.return?.()
  }
}
