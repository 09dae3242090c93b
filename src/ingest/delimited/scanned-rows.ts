// Holds the offsets of the rows and cells that a tokenizer has found.
import { maxBlockRows } from '../kernel/index.ts'
import { QUOTED, type RowCells } from '../values/cells.ts'
import { SPACE, TAB } from '../values/characters.ts'

/** Results in place of an offset: more text is needed, or the row is malformed. */
export const NEEDS_MORE_TEXT = -1
export const MALFORMED = -2

/** Text up to buf[to], which is a line end. `final`: no text follows. */
export interface TextBlock {
  buf: Uint8Array
  to: number
  final: boolean
}

/** Rows of one block. Those before index `rows` are complete; the row at that index is being scanned. */
export class ScannedRows implements RowCells {
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly lines: Int32Array
  /** Capacity of the arrays, in rows. */
  readonly maxRows: number
  rows = 0
  /** The line on which the next row starts. */
  line = 1
  /** Number of cells missing in short rows. */
  missingCells = 0
  /** Number of header rows. Short ones cause no warning. */
  headerRows = 0
  /** Number of rows in earlier blocks. */
  protected earlierRows = 0

  constructor(
    readonly width: number,
    arrays?: { starts: Int32Array; ends: Int32Array; lines: Int32Array },
  ) {
    this.maxRows = maxBlockRows(width)
    this.starts = arrays?.starts ?? new Int32Array(this.maxRows * width)
    this.ends = arrays?.ends ?? new Int32Array(this.maxRows * width)
    this.lines = arrays?.lines ?? new Int32Array(this.maxRows)
  }

  get isInHeader(): boolean {
    return this.headerRows > this.earlierRows + this.rows
  }

  /** Returns whether the first cell is only white space, without quotes. */
  isBlank(buf: Uint8Array): boolean {
    const first = this.rows * this.width
    if (this.ends[first] & QUOTED) return false
    for (let i = this.starts[first]; i < this.ends[first] >> 2; i++)
      if (buf[i] !== SPACE && buf[i] !== TAB) return false
    return true
  }

  /** Counts the empty cells among the first `cells`. */
  countEmpty(cells: number): number {
    const { starts, ends, rows, width } = this
    let count = 0
    for (let k = rows * width; k < rows * width + Math.min(cells, width); k++)
      if (ends[k] === starts[k] << 2) count++
    return count
  }

  /** Sets the first cells. */
  setCells({ starts, ends }: { starts: readonly number[]; ends: readonly number[] }): void {
    this.starts.set(starts, this.rows * this.width)
    this.ends.set(ends, this.rows * this.width)
  }

  /** Fills the cells after the first `cells` with empty ones at the offset `at`. Counts them below the header. */
  padRow(at: number, cells: number): void {
    const { rows, width } = this
    this.starts.fill(at, rows * width + cells, (rows + 1) * width)
    this.ends.fill(at << 2, rows * width + cells, (rows + 1) * width)
    if (!this.isInHeader) this.missingCells += width - cells
  }
}
