// Writes the rows of a sheet as CSV.
import { ensureCapacity } from '../../json/index.ts'
import { isSparse, sparseError } from '../delimited/sparse.ts'
import { badFile } from '../values/warnings.ts'
import { type CellRange, WHOLE_SHEET } from './sheet-range.ts'

/** Size of a sheet, known after its conversion. */
export interface SheetSize {
  name: string
  /** Largest number of columns of a row. */
  width: number
  /** Number of columns on the left that are empty in all rows except titles. */
  left: number
  rows: number
  /** Number of non-empty cells. */
  filled: number
  /** Widths to which rows were padded, each with the byte offset at which it begins. */
  widths: { from: number; width: number }[]
}

/** Minimum size of text that is passed on, and initial size of its buffer. */
const MIN_CHUNK_BYTES = 64 * 1024
const BUFFER_BYTES = 128 * 1024
/** Maximum number of bytes that are copied one by one. */
const MAX_LOOP_BYTES = 32
/** Maximum size of a row as CSV: its cells can all refer to the same long text. */
const MAX_ROW_BYTES = 64 * 1024 * 1024
const COMMA = 0x2c
const LF = 0x0a

/**
 * Writes the rows of a sheet as CSV, in one pass. Rows are padded to the largest width so far; see `padRows`.
 */
export class SheetWriter {
  readonly size: SheetSize
  private out: Buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  /** Number of bytes written to `out`. */
  at = 0
  /** Number of bytes of `out` that were counted, and number of those before `out`. */
  private counted = 0
  private written = 0
  private line = 0
  private isBelowTitles = false

  constructor(
    name: string,
    private readonly source: string,
    private readonly area: CellRange,
    /** Counts the bytes of converted text. Throws `bad_data` beyond the limits. */
    private readonly count: (bytes: number) => void,
  ) {
    this.size = { name, width: 0, left: Number.POSITIVE_INFINITY, rows: 0, filled: 0, widths: [] }
  }

  /**
   * Adds a row. `count`: number of filled cells. `number`: row number, from 1. `textOf` returns the text of a
   * cell.
   */
  addRow<Cell>(
    cells: readonly (Cell | undefined)[],
    count: number,
    number: number,
    textOf: (cell: Cell | undefined, line: number) => string,
  ): void {
    const {
      rows: [top, bottom],
      columns: [left, right],
    } = this.area
    const { size } = this
    if (number < top || number > bottom) return
    const part = left > 0 || right < cells.length - 1
    const row = part ? cells.slice(left, right + 1) : cells
    const filled = part ? row.filter((cell) => cell !== undefined).length : count
    if (filled === 0) return
    this.countRow(row.length, filled)
    // Absent rows become blank lines, so that line numbers are row numbers.
    this.addText('\n'.repeat(Math.max(0, number - this.line - 1)))
    this.line = Math.max(number, this.line + 1)
    const texts = Array.from({ length: size.width }, (_, k) => textOf(row[k], this.line))
    const first = texts.findIndex((text) => text !== '')
    // Titles above the table become single cells.
    this.isBelowTitles ||= filled > 1
    if (this.isBelowTitles) size.left = Math.min(size.left, first)
    if (this.isBelowTitles && size.widths.at(-1)?.width !== size.width)
      size.widths.push({ from: this.written + this.at, width: size.width })
    const isWhole = this.isBelowTitles || size.width === 1
    const written = isWhole ? texts : [texts[first] ?? '']
    this.checkRow(written.reduce((sum, text) => sum + text.length, 0))
    this.addText(`${written.map(quoteSheetCell).join(',')}\n`)
  }

  /** Counts a row and its filled cells. Throws `bad_data` if the sheet is nearly empty. */
  private countRow(width: number, filled: number): void {
    const { size } = this
    size.rows++
    size.filled += filled
    size.width = Math.max(size.width, width)
    // Checked per row, since a few cells far to the right are expensive to write.
    if (isSparse(size.rows, size.width, size.filled))
      throw sparseError(
        `${this.source}, sheet ${size.name}`,
        size.rows,
        size.width,
        'Delete the cells far outside the table, or export the sheet as CSV.',
      )
  }

  /** Line of the next row, from 1. */
  get nextLine(): number {
    return this.line + 1
  }

  get isFull(): boolean {
    return this.at >= MIN_CHUNK_BYTES
  }

  /**
   * Returns whether the cells of the row with this number can be added with `addCell`, `addBytes` and `addCommas`,
   * and then `endPlainRow`: it follows a row of the table, and the whole sheet is read.
   */
  takesPlainRow(number: number): boolean {
    const { size, area } = this
    return (
      this.isBelowTitles &&
      number === this.line + 1 &&
      area === WHOLE_SHEET &&
      size.widths.at(-1)?.width === size.width
    )
  }

  /** Adds a text as a cell. */
  addCell(text: string): void {
    this.addText(quoteSheetCell(text))
  }

  /** Adds bytes[from, to). */
  addBytes(bytes: Uint8Array, from: number, to: number): void {
    const count = to - from
    // Counted within a row, too.
    if (this.at - this.counted > MIN_CHUNK_BYTES) this.countBytes()
    this.out = ensureCapacity(this.out, this.at, count)
    const { out, at } = this
    if (count <= MAX_LOOP_BYTES) for (let k = 0; k < count; k++) out[at + k] = bytes[from + k]
    else out.set(bytes.subarray(from, to), at)
    this.at += count
  }

  addCommas(count: number): void {
    this.out = ensureCapacity(this.out, this.at, count)
    for (let k = 0; k < count; k++) this.out[this.at++] = COMMA
  }

  /**
   * Ends a row after its cell in column `last`. `first`: column of the first text that is not empty; −1 if there is
   * none. `filled`: number of filled cells.
   */
  endPlainRow(last: number, first: number, filled: number): void {
    const { size } = this
    this.countRow(0, filled)
    size.left = Math.min(size.left, first)
    this.addCommas(size.width - 1 - last)
    this.out = ensureCapacity(this.out, this.at, 1)
    this.out[this.at++] = LF
    this.line++
  }

  private addText(text: string): void {
    if (this.at - this.counted > MIN_CHUNK_BYTES) this.countBytes()
    this.out = ensureCapacity(this.out, this.at, text.length * 3)
    this.at += this.out.write(text, this.at)
  }

  /** Counts the bytes of `out`. Throws `bad_data` beyond the limits. */
  private countBytes(): void {
    this.checkRow(this.at)
    this.count(this.at - this.counted)
    this.counted = this.at
  }

  /** Throws `bad_data` if rows that wait to be passed on are too large: more than one waits only if they are short. */
  private checkRow(size: number): void {
    if (size > MAX_ROW_BYTES)
      throw badFile(
        `${this.source}, sheet ${this.size.name}`,
        `row ${this.nextLine} has more than ${MAX_ROW_BYTES / 1024 ** 2} MB of text`,
        'Export the sheet as CSV.',
      )
  }

  /** Yields the CSV since the last call, if it is long enough or `final`. */
  *takeBytes(final: boolean): Generator<Uint8Array> {
    if (this.at === 0 || (!final && !this.isFull)) return
    const bytes = this.out.subarray(0, this.at)
    this.count(bytes.length - this.counted)
    this.counted = 0
    this.written += bytes.length
    this.out = Buffer.allocUnsafe(BUFFER_BYTES)
    this.at = 0
    yield bytes
  }
}

/** Quotes a CSV cell if necessary. */
export function quoteSheetCell(text: string): string {
  return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
