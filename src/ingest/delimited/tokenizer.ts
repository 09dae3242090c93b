// Finds the rows and cells of delimited text.
import type { Problem } from '../../contract/errors.ts'
import { excerpt } from '../../json/index.ts'
import { MAX_REPAIR_BYTES } from '../detect/repair.ts'
import { QUOTED } from '../values/cells.ts'
import { CR, LF, SPACE } from '../values/characters.ts'
import type { Dialect } from '../values/dialect.ts'
import { badData, COMMENT_LINES_WARNING, type Warnings } from '../values/warnings.ts'
import { QuotedCells } from './quoted-cells.ts'
import { isNote, isNoteText } from './row-notes.ts'
import { RowRepair } from './row-repair.ts'
import { MALFORMED, NEEDS_MORE_TEXT, ScannedRows, type TextBlock } from './scanned-rows.ts'

/** Maximum number of repairs per call of `next`, since each is slow. */
const MAX_REPAIRS_PER_CALL = 16
/** Maximum size of notes below the last row. */
const MAX_LAST_NOTES_BYTES = 64 * 1024

/** Finds the offsets of rows and cells in UTF-8 bytes. Does not decode them. */
export class Tokenizer extends ScannedRows {
  /** Lines of rows after a blank line, where another table may begin. Emptied by the caller. */
  gapLines: number[] = []
  private isAfterGap = false
  /** Whether a note was skipped since the last row. */
  private isAfterNote = false
  /** Number of lines below the table that were skipped as notes. */
  noteLines = 0
  /** Cells of the header. An equal row is a repeated header, not data. */
  header: readonly Buffer[] | undefined

  private readonly delimiter: number
  private readonly quote: number
  private readonly comment: number
  private readonly quotedCells: QuotedCells
  private readonly repair: RowRepair
  /** Whether a line without delimiters can be a note below the last row. */
  private readonly canEndInNotes: boolean
  /** By byte: 1 for the delimiter, 2 for line ends, otherwise 0. */
  private readonly byteKinds = new Uint8Array(256)
  private blankRows = 0
  /** Number of repairs in this call of `next`. */
  private repairs = 0

  /** Results of `scanCells`: number of cells, whether one beyond the last column has a value, last line. */
  private cells = 0
  private hasSurplus = false
  private lastLine = 0

  constructor(
    private readonly dialect: Dialect,
    width: number,
    private readonly warnings: Warnings,
    private readonly source: string,
    arrays?: { starts: Int32Array; ends: Int32Array; lines: Int32Array },
  ) {
    super(width, arrays)
    const codeOf = (character: string): number => (character === '' ? -1 : character.charCodeAt(0))
    const { crOnly, skipSpace, collapse, profile } = dialect
    this.delimiter = codeOf(dialect.delimiter)
    this.quote = codeOf(dialect.quote)
    this.comment = codeOf(dialect.comment)
    this.byteKinds[this.delimiter] = 1
    this.byteKinds[LF] = 2
    this.byteKinds[CR] = 2
    this.canEndInNotes = width >= 3 && !collapse && profile.filled.some((always, k) => always && k > 0)
    const { delimiter, quote } = this
    const style = { delimiter, quote, escape: codeOf(dialect.escape), crOnly, skipSpace }
    this.quotedCells = new QuotedCells(style, this.byteKinds, warnings, source)
    this.repair = new RowRepair(this, dialect, style, warnings, source)
  }

  /** Returns whether the previous line was a row of the table, and the next row has not been scanned yet. */
  get isBetweenRows(): boolean {
    return this.blankRows === 0 && !this.isAfterGap && this.quotedCells.unfinished === undefined
  }

  /** Returns whether the last row ended inside a long quoted cell. Scanning resumes inside it. */
  get isInLongCell(): boolean {
    const { unfinished } = this.quotedCells
    return unfinished !== undefined && unfinished.at > 2 * unfinished.open
  }

  /** Takes over rows that `PlainRows` has put into the arrays. `line`: line after them. */
  acceptRows(rows: number, line: number): void {
    this.rows = rows
    this.earlierRows += rows
    this.line = line
  }

  /**
   * Scans complete rows in buf[from, to); overwrites buf[to]. With `final`, the last row needs no line end.
   * Fills `rows`, `starts`, `ends` and `lines`, up to `most` rows. Returns the offset of the first row not
   * scanned. Throws only for the first row, so that earlier rows are read.
   */
  next(buf: Uint8Array, from: number, to: number, final: boolean, most = this.maxRows): number {
    const block = { buf, to, final }
    const maxRows = Math.min(most, this.maxRows)
    buf[to] = LF
    this.rows = 0
    this.repairs = 0
    let row = from
    while (row < to && this.rows < maxRows && this.repairs < MAX_REPAIRS_PER_CALL) {
      const next = this.scanRow(block, row)
      if (next < 0) break
      row = next
    }
    this.earlierRows += this.rows
    return Math.min(row, to)
  }

  /**
   * Scans or skips the row at `row`. Returns the offset of the next row, or a negative number if the row is
   * incomplete, or malformed below complete ones.
   */
  private scanRow(block: TextBlock, row: number): number {
    const { buf, to, final } = block
    if (buf[row] === this.comment) return this.skipComment(block, row)
    const end = this.scanCells(block, row)
    if (end === MALFORMED) {
      const next = this.blankRows > 0 ? MALFORMED : this.acceptRepair(this.repair.repairQuotes(block, row))
      return next === MALFORMED ? this.stop(this.quotedCells.createError!()) : next
    }
    if (end < 0 || (end >= to && !final)) return NEEDS_MORE_TEXT
    let next = end + 1
    if (buf[end] === CR) {
      if (next >= to && !final) return NEEDS_MORE_TEXT
      if (next < to && buf[next] === LF) next++
    }
    /**
     * Skips a row that has only empty cells, with a warning; in a single column, holds it back as an empty
     * cell until a value follows. Returns whether it did.
     */
    if (this.skipEmptyRow(buf)) return this.endRow(next)
    if (this.blankRows > 0) return this.addBlankRows(row)
    const isGap = this.isAfterGap
    const canBeNote = !this.hasSurplus && !this.isInHeader
    if (
      canBeNote &&
      (isGap ? isNote(buf, this, this.cells, this.dialect.profile) : this.isLastNote(block, row, end))
    ) {
      // Whether rows follow is only known with more text.
      if (!isGap && !final && to - row < MAX_LAST_NOTES_BYTES) return NEEDS_MORE_TEXT
      if (isGap || final) {
        this.countNote(excerpt(buf.subarray(row, end), 60).trim())
        return this.endRow(next)
      }
    }
    if (this.cells !== this.width) {
      const mended = this.mendLength(block, row, end)
      if (mended !== MALFORMED) return mended
      const problem = this.repair.padOrRejectRow(buf, row, end, this.cells, this.hasSurplus)
      if (problem) return this.stop(problem)
    }
    if (this.header !== undefined && this.isHeader(buf)) {
      if (this.isAfterNote) {
        const text = excerpt(buf.subarray(row, end))
        const what = `the header is repeated below a title: a second table starts here: ${text}`
        return this.stop(badData(this.source, { line: this.line }, what, 'Put each table in its own file.'))
      }
      this.warnings.countLine(this.line, 'repeated headers were skipped')
      return this.endRow(next)
    }
    if (isGap) this.gapLines.push(this.line)
    this.isAfterGap = false
    this.isAfterNote = false
    this.lines[this.rows++] = this.line
    return this.endRow(next)
  }

  private endRow(next: number): number {
    this.line = this.lastLine + 1
    return next
  }

  /** Throws an error if it is in the first row. Otherwise, stops before it, so that earlier rows are read. */
  private stop(problem: Problem): number {
    if (this.rows === 0) throw problem
    return MALFORMED
  }

  /** Skips a comment line. Returns the offset of the next line, or NEEDS_MORE_TEXT. */
  private skipComment({ buf, to, final }: TextBlock, row: number): number {
    const lineEnd = buf.indexOf(this.dialect.crOnly ? CR : LF, row)
    const end = lineEnd < 0 ? to : lineEnd
    if (end >= to && !final) return NEEDS_MORE_TEXT
    this.warnings.countLine(this.line, COMMENT_LINES_WARNING)
    this.line++
    return Math.min(end, to) + 1
  }

  /**
   * Finds the cells of the row at `row`. Returns the offset of its line end, NEEDS_MORE_TEXT or MALFORMED.
   * Sets `cells`, `hasSurplus` and `lastLine`.
   */
  private scanCells(block: TextBlock, row: number): number {
    const { buf, to } = block
    const { starts, ends, width, byteKinds, quote, delimiter, quotedCells } = this
    const { collapse, skipSpace, crOnly, closed = 0 } = this.dialect
    const highest = Math.max(delimiter, CR)
    const first = this.rows * width
    let cell = 0
    let i = row
    this.hasSurplus = false
    this.lastLine = this.line
    if (collapse) while (buf[i] === delimiter) i++
    for (;;) {
      if (skipSpace) while (buf[i] === SPACE) i++
      let start = i
      let end: number
      let flags = 0
      if (buf[i] === quote) {
        end = quotedCells.find(block, row, i, this.lastLine)
        if (end < 0) return end
        this.lastLine += quotedCells.newlines
        flags = QUOTED | quotedCells.flags
        start = i + 1
        i = quotedCells.skipSpaces(buf, end + 1)
      } else {
        let c = buf[i]
        for (;;) {
          while (c > highest || byteKinds[c] === 0) c = buf[++i]
          if (closed > cell && cell > 0 && byteKinds[c] === 2 && i < to) {
            const rest = this.findContinuation(block, i, closed - cell)
            if (rest === NEEDS_MORE_TEXT) return rest
            if (rest > i) {
              for (; i < rest; i++) if (buf[i] === LF) this.lastLine++
              c = buf[i]
              continue
            }
          }
          // A lone CR belongs to the cell.
          if (c !== CR || crOnly || buf[i + 1] === LF) break
          c = buf[++i]
        }
        end = i
      }
      if (cell < width) {
        starts[first + cell] = start
        ends[first + cell] = (end << 2) | flags
      } else if (end > start || flags !== 0) this.hasSurplus = true
      cell++
      if (buf[i] !== delimiter) break
      i++
      if (collapse) {
        while (buf[i] === delimiter) i++
        if (byteKinds[buf[i]] === 2) break
      }
    }
    this.cells = cell
    return i
  }

  /**
   * Returns the offset of the delimiter at which a row continues whose line ends at `i` with `lacking` cells
   * missing, and counts a warning: in the next line with delimiters, if it has as many and ends with one.
   * Otherwise `i`, or NEEDS_MORE_TEXT.
   */
  private findContinuation({ buf, to, final }: TextBlock, i: number, lacking: number): number {
    const { delimiter } = this
    let delimiters = 0
    let rest = i
    let k = i + 1
    for (; k < to && (delimiters === 0 || buf[k] !== LF); k++) {
      if (buf[k] !== delimiter) continue
      if (delimiters++ === 0) rest = k
    }
    if (k >= to && !final) return k - i > MAX_REPAIR_BYTES ? i : NEEDS_MORE_TEXT
    const end = buf[k - 1] === CR ? k - 2 : k - 1
    if (delimiters !== lacking || buf[end] !== delimiter) return i
    this.warnings.countLine(this.line, 'rows without a delimiter at the end were continued on the next line')
    return rest
  }

  /** Returns whether the row has only empty cells, and is skipped. */
  private skipEmptyRow(buf: Uint8Array): boolean {
    const { starts, ends, width, cells, line } = this
    const first = this.rows * width
    const isEmptyCell = ends[first] === starts[first] << 2
    if (cells > 1) {
      if (this.hasSurplus || !isEmptyCell || this.countEmpty(cells) < Math.min(cells, width)) return false
      this.warnings.countLine(line, 'rows of empty cells were skipped')
    } else {
      if (!isEmptyCell && (width === 1 || !this.isBlank(buf))) return false
      // In a single column, a blank line is an empty cell, unless only blank lines follow.
      if (width === 1) this.blankRows++
      else this.warnings.countLine(line, 'blank lines were skipped')
    }
    this.isAfterGap = true
    return true
  }

  /** Adds the pending blank lines as empty cells before the row at `row`, while there is space. Returns `row`. */
  private addBlankRows(row: number): number {
    while (this.blankRows > 0 && this.rows < this.maxRows) {
      this.starts[this.rows] = row
      this.ends[this.rows] = row << 2
      this.lines[this.rows++] = this.line - this.blankRows--
    }
    return row
  }

  /**
   * Returns whether a line of one cell is a note below the last row: `Source: …`. This line and all lines to
   * the end of the buffer lack delimiters, while other rows have values.
   */
  private isLastNote({ buf, to }: TextBlock, row: number, end: number): boolean {
    if (this.cells > 1 || !this.canEndInNotes || !isNoteText(buf, row, end)) return false
    const next = buf.indexOf(this.delimiter, row)
    return next < 0 || next >= to
  }

  /** Counts a line that is skipped as a note. */
  private countNote(text: string): void {
    const place = this.isAfterGap ? 'a blank line' : 'the last row'
    this.warnings.count(
      'note',
      this.line,
      (where) => `text below ${place} was skipped, as a note about the table: ${where}: ${text}`,
    )
    this.isAfterNote = true
    this.noteLines++
  }

  /** Returns whether a data row equals the header. */
  private isHeader(buf: Uint8Array): boolean {
    if (this.isInHeader) return false
    const { starts, ends, width, header } = this
    const first = this.rows * width
    for (let k = 0; k < width; k++) {
      const name = header![k]
      const start = starts[first + k]
      if ((ends[first + k] >> 2) - start !== name.length) return false
      for (let i = 0; i < name.length; i++) if (buf[start + i] !== name[i]) return false
    }
    return true
  }

  /**
   * Reads a row of the wrong length in another way. Returns the offset of the next row, NEEDS_MORE_TEXT or
   * MALFORMED.
   */
  private mendLength(block: TextBlock, row: number, end: number): number {
    const spansLines = this.lastLine > this.line
    if (this.cells === 1 && !spansLines) {
      const next = this.repair.splitByOtherDelimiter(block.buf, row, end)
      if (next >= 0) return this.acceptRepair(next)
    }
    if (!this.repair.canRepair(block, row, end, this.cells, spansLines)) return MALFORMED
    return this.acceptRepair(this.repair.repairQuotes(block, row))
  }

  /** Passes on the result of a repair, and updates the state if the row was repaired. */
  private acceptRepair(next: number): number {
    if (next < 0) return next
    this.quotedCells.unfinished = undefined
    this.isAfterGap = false
    this.repairs++
    return next
  }
}
