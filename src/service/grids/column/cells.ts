import { endOf, skipBlanks } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { streamSlices } from '../../store/aggregates/slice-json.ts'
import { canContainCommas } from '../../store/schema/column-types.ts'
import { type Snapshot, type SnapshotColumn, skipValues } from './content.ts'
import type { ColumnPart } from './kernel/index.ts'

const NULL = Buffer.from('null')

/** Where the value of a column in the current row is, as JSON text: `buf` from `start` to `end`. */
export interface Cell {
  readonly buf: Buffer
  readonly start: number
  readonly end: number
}

/** Rows in ascending order: the first that is at least `from`; infinite if there is none. */
export interface Rows {
  next(from: number): number
}

/** All rows up to a number. */
export function firstRows(count: number): Rows {
  return { next: (from) => (from < count ? from : Number.POSITIVE_INFINITY) }
}

/** Slices of each column that are read ahead, so that all of them together have not too much memory. */
function aheadOf(columns: number): number | undefined {
  if (columns > 8) return 1
  return columns > 3 ? 2 : undefined
}

/** Goes to chosen rows of one column, in ascending order. Slices without a chosen row are not read. */
export class Seeker implements Cell {
  private readonly texts: AsyncIterator<Buffer>
  private readonly needed: SliceRef[] = []
  /** The first row of each text. */
  private readonly firsts: number[] = []
  private readonly tail: { text: Buffer; first: number; until: number }
  private place = -1
  /** The row that `at` is the beginning of. */
  private row = 0
  /** The row after those of the text that is loaded. */
  until = 0
  private at = 0
  buf: Buffer = NULL
  start = 0
  end = 0
  private readonly isSimple: boolean

  constructor(snap: Snapshot, column: SnapshotColumn, rows: Rows) {
    this.isSimple = !canContainCommas(column.type)
    let first = -(column.skip ?? 0)
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
    this.texts = streamSlices(snap.blobs, this.needed, aheadOf(snap.columns.length))[Symbol.asyncIterator]()
  }

  /** Whether the text that has a row must be loaded first. */
  isBeyond(row: number): boolean {
    return row >= this.until
  }

  async load(row: number): Promise<void> {
    while (row >= this.until) {
      this.place++
      if (this.place < this.needed.length) {
        this.buf = (await this.texts.next()).value
        this.row = this.firsts[this.place]
        this.until = this.row + this.needed[this.place].rows
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

  /** The text that is loaded. */
  get part(): ColumnPart {
    const isConstant = this.until === Number.POSITIVE_INFINITY
    const isSlice = this.place < this.needed.length
    return { text: this.buf, row: this.row, isSimple: this.isSimple && isSlice, isConstant }
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
