// Repairs rows with misplaced quotes, another delimiter, or too few or too many cells.
import type { Problem } from '../../contract/errors.ts'
import { excerpt } from '../../json/index.ts'
import {
  isCellRemainder,
  isRecordStart,
  isWellFormed,
  MAX_REPAIR_BYTES,
  type RecordReading,
  type RecordStyle,
  repairRecord,
} from '../detect/repair.ts'
import { CR, LF } from '../values/characters.ts'
import type { Dialect } from '../values/dialect.ts'
import { badData, type Warnings } from '../values/warnings.ts'
import { MALFORMED, NEEDS_MORE_TEXT, type ScannedRows, type TextBlock } from './scanned-rows.ts'
import { removeSurplusCell } from './surplus-cell.ts'

/** Delimiters that a single row may use instead of the table's. */
const OTHER_DELIMITERS = [
  ['comma', 0x2c],
  ['semicolon', 0x3b],
  ['tab', 0x09],
  ['|', 0x7c],
] as const
/** Maximum number of missing cells in a repaired row. */
const MAX_MISSING_CELLS = 2

/** Repairs the row that is being scanned. Its text begins at `row` and ends at `end`. */
export class RowRepair {
  /** Built once, since all rows of a file can be short or long. */
  private readonly shortWarning: string
  private readonly longWarning: string

  constructor(
    private readonly rows: ScannedRows,
    private readonly dialect: Pick<Dialect, 'collapse' | 'trailing' | 'profile'>,
    private readonly style: RecordStyle,
    private readonly warnings: Warnings,
    private readonly source: string,
  ) {
    this.shortWarning = `rows with fewer than ${rows.width} cells were filled with nulls`
    this.longWarning = `empty cells beyond column ${rows.width} were dropped`
  }

  /**
   * Returns whether a row of the wrong length may have another reading. A short row just lacks cells, unless
   * one of its quoted cells has swallowed the next record.
   */
  canRepair({ buf, to }: TextBlock, row: number, end: number, cells: number, spansLines: boolean): boolean {
    const { style } = this
    const { width } = this.rows
    let quoted = row
    while (quoted < end && buf[quoted] !== style.quote) quoted++
    if (quoted === end) return false
    if (cells > width || !spansLines) {
      if (!isWellFormed(buf, row, to, style)) return true
      if (cells > width) return false
    }
    if (spansLines) return isRecordStart(buf, buf.indexOf(style.crOnly ? CR : LF, row) + 1, to, width, style)
    // An open quote can hide the line end.
    let quotes = 0
    for (let i = quoted; i < end; i++) if (buf[i] === style.quote) quotes++
    return quotes % 2 === 1 && isCellRemainder(buf, end + 1, to, width, style)
  }

  /**
   * Reads a malformed row as one cell per column, if a single best reading exists. Returns the offset of the
   * next row, NEEDS_MORE_TEXT or MALFORMED.
   */
  repairQuotes({ buf, to, final }: TextBlock, row: number): number {
    const { style } = this
    const { width } = this.rows
    if (this.dialect.collapse || style.quote < 0) return MALFORMED
    if (!final && to - row < 2 * MAX_REPAIR_BYTES) return NEEDS_MORE_TEXT
    // Without the spaces before them, the quotes of this row may be valid.
    const spaced = { ...style, skipSpace: true }
    const isSpaced =
      !style.skipSpace && !isWellFormed(buf, row, to, style) && isWellFormed(buf, row, to, spaced)
    const read = (cells: number, withStyle: RecordStyle): RecordReading | undefined =>
      repairRecord(buf, row, to, { cells, width, style: withStyle })
    let reading = isSpaced ? read(width, spaced) : undefined
    // Cells may be missing only if no complete reading exists.
    for (let cells = width; !reading && cells >= Math.max(1, width - MAX_MISSING_CELLS); cells--)
      reading = read(cells, style)
    if (!reading) return MALFORMED
    return this.acceptReading(
      buf,
      row,
      reading,
      isSpaced
        ? 'spaces before quotes were removed'
        : 'quotes that are not closed or not doubled were kept as text',
    )
  }

  /**
   * Splits a row without the delimiter by another one, if only one gives a cell per column. Returns the
   * offset of the next row, or MALFORMED.
   */
  splitByOtherDelimiter(buf: Uint8Array, row: number, end: number): number {
    const { style } = this
    const { width, isInHeader } = this.rows
    if (width < 3 || this.dialect.collapse || isInHeader) return MALFORMED
    let match: { reading: RecordReading; name: string } | undefined
    for (const [name, delimiter] of OTHER_DELIMITERS) {
      const otherStyle = { ...style, delimiter }
      if (delimiter === style.delimiter || !isWellFormed(buf, row, end, otherStyle)) continue
      const reading = repairRecord(buf, row, end, { cells: width, width, style: otherStyle })
      if (!reading) continue
      if (match) return MALFORMED
      match = { reading, name }
    }
    if (!match) return MALFORMED
    const next = buf[end] === CR && buf[end + 1] === LF ? end + 2 : end + 1
    const reading = { ...match.reading, next, lines: 1 }
    return this.acceptReading(
      buf,
      row,
      reading,
      `rows with another delimiter (${match.name}) were split by it`,
    )
  }

  /** Accepts a reading as a row. Returns the offset of the next row. */
  private acceptReading(buf: Uint8Array, row: number, reading: RecordReading, warning: string): number {
    const { rows } = this
    rows.setCells(reading)
    this.padRow(row, reading.starts.length)
    rows.lines[rows.rows++] = rows.line
    const text = excerpt(buf.subarray(row, Math.min(reading.next, row + 200)), 60)
    this.warnings.countLine(rows.line, warning, `: ${text.trim()}`)
    rows.line += reading.lines
    return reading.next
  }

  /**
   * Handles a row of the wrong length: pads short rows, drops empty surplus cells, and otherwise returns an
   * error. `surplus`: whether a cell beyond the last column has a value.
   */
  padOrRejectRow(
    buf: Uint8Array,
    row: number,
    end: number,
    cells: number,
    surplus: boolean,
  ): Problem | undefined {
    const { line, width, isInHeader } = this.rows
    if (cells < width) {
      this.padRow(row, cells)
      return undefined
    }
    // `sniff` has already handled the header.
    if (isInHeader) return undefined
    const dropped = this.dropSurplusCell(buf, row, end)
    if (dropped === 'dropped') return undefined
    const text = (): string => excerpt(buf.subarray(row, end))
    if (dropped === 'ambiguous')
      return badData(
        this.source,
        { line },
        `expected ${width} cells, found ${cells}, so a value may contain the delimiter: ${text()}`,
        'Put quotes around that value, or remove the extra delimiter.',
      )
    if (surplus) {
      return badData(
        this.source,
        { line },
        `expected ${width === 1 ? '1 cell' : `${width} cells`}, found ${cells}: ${text()}`,
        'Fix the line, put quotes around cells that contain the delimiter, or give --delimiter.',
      )
    }
    // It is unclear which delimiter is the surplus one: cells after an empty one may have shifted.
    if (cells > width + this.dialect.trailing && this.rows.countEmpty(width) > 0)
      return badData(
        this.source,
        { line },
        `expected ${width} cells, found ${cells}, one of them empty, so the others may have shifted: ${text()}`,
        'Remove the extra delimiter.',
      )
    this.warnings.countLine(line, this.longWarning)
    return undefined
  }

  /** Fills a short row with empty cells. */
  private padRow(row: number, cells: number): void {
    const { line, width, isInHeader } = this.rows
    if (cells === width) return
    this.rows.padRow(row, cells)
    if (isInHeader) return
    this.warnings.countLine(line, this.shortWarning)
  }

  /** Drops one empty cell of a row with one too many, if it is clear which. */
  private dropSurplusCell(buf: Uint8Array, row: number, end: number): 'dropped' | 'kept' | 'ambiguous' {
    const { rows, style } = this
    const { collapse, trailing, profile } = this.dialect
    const { width } = rows
    if (collapse || trailing > 0) return 'kept'
    const reading = repairRecord(buf, row, end, { cells: width + 1, width, style })
    const cells = reading && removeSurplusCell(buf, reading, { profile, delimiter: style.delimiter })
    if (!cells || cells === 'ambiguous') return cells ?? 'kept'
    rows.setCells(cells)
    const text = excerpt(buf.subarray(row, end), 60)
    this.warnings.countLine(
      rows.line,
      'an empty cell was dropped from rows with one cell too many',
      `: ${text}`,
    )
    return 'dropped'
  }
}
