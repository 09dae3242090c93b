// Finds the rows and cells of delimited text.
import { Problem } from '../../contract/errors.ts'
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
import { ESCAPED, QUOTED } from '../values/cells.ts'
import type { Dialect } from '../values/dialect.ts'
import { isPaddedNumber } from '../values/number.ts'
import { badData, type Warnings } from '../values/warnings.ts'
import { removeSurplusCell } from './surplus-cell.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

/** Results in place of an offset: more text is needed, or the row is malformed. */
const NEEDS_MORE_TEXT = -1
const MALFORMED = -2
/** Delimiters that a single row may use instead of the table's. */
const OTHER_DELIMITERS = [
  ['comma', 0x2c],
  ['semicolon', 0x3b],
  ['tab', TAB],
  ['|', 0x7c],
] as const
/** Maximum number of repairs per call of `next`, since each is slow. */
const MAX_REPAIRS_PER_CALL = 16
/** Maximum size of notes below the last row. */
const MAX_LAST_NOTES_BYTES = 64 * 1024
/** Maximum number of missing cells in a repaired row. */
const MAX_MISSING_CELLS = 2

/** Beginnings and contents of notes about a table that names and values do not have. */
const NOTE =
  /^\W*(sources?|notes?|remarks?|footnotes?|data|quellen?|anmerkung(en)?|hinweis|stand|fuentes?|notas?|fontes?|remarques?|end of|updated|last updated|generated|exported|copyright)\b.*[\s:]|^\s*([*†‡§©¹²³]|\(\d+\)|\[\d+\]|\d+[.)] )|: |\.$|\S+( \S+){3}/i
/** Number of bytes of a cell that are matched with `NOTE`. */
const MAX_NOTE_BYTES = 400

function isNoteText(buf: Uint8Array, start: number, end: number): boolean {
  return NOTE.test(Buffer.from(buf.subarray(start, Math.min(end, start + MAX_NOTE_BYTES))).toString('utf8'))
}

/** Finds the offsets of rows and cells in UTF-8 bytes. Does not decode them. */
export class Tokenizer {
  /** Cell k of row r starts at starts[r * width + k] and ends at ends[…] >> 2; the low bits are flags. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** The line on which each row starts, from 1. */
  readonly lines: Int32Array
  rows = 0
  /** The line on which the next row starts. */
  line = 1
  /** Lines of rows after a blank line, where another table may begin. Emptied by the caller. */
  gapLines: number[] = []
  private isAfterGap = false
  /** Whether a note was skipped since the last row. */
  private isAfterNote = false
  /** Number of lines below the table that were skipped as notes. */
  noteLines = 0
  /** Number of cells missing in short rows. */
  missingCells = 0
  /** Cells of the header. An equal row is a repeated header, not data. */
  header: readonly Buffer[] | undefined
  /** Number of header rows. Short ones cause no warning. */
  headerRows = 0

  private readonly delimiter: number
  private readonly quote: number
  /** Byte before an escaped quote; −1 if there is none. */
  private readonly escape: number
  private readonly style: RecordStyle
  /** Creates the error for the malformed row. */
  private createRowError: () => Problem = () => new Problem('internal', 'no complaint')
  /** By byte: 1 for the delimiter, 2 for line ends, otherwise 0. */
  private readonly byteKinds = new Uint8Array(256)
  /** Capacity of the arrays, in rows. */
  readonly maxRows: number
  private blankRows = 0
  private newlines = 0
  /** Number of rows returned by earlier calls. */
  private earlierRows = 0
  private flags = 0

  /** State of an unclosed quoted cell at the end of the buffer. Offsets count from the start of its row. */
  private openCell: { open: number; at: number; newlines: number; flags: number; stray: number } | undefined

  constructor(
    private readonly dialect: Pick<
      Dialect,
      | 'delimiter'
      | 'quote'
      | 'escape'
      | 'crOnly'
      | 'skipSpace'
      | 'collapse'
      | 'trailing'
      | 'profile'
      | 'comment'
      | 'closed'
    >,
    readonly width: number,
    private readonly warnings: Warnings,
    private readonly source: string,
    arrays?: { starts: Int32Array; ends: Int32Array; lines: Int32Array },
  ) {
    this.delimiter = dialect.delimiter.charCodeAt(0)
    this.quote = dialect.quote === '' ? -1 : dialect.quote.charCodeAt(0)
    this.escape = dialect.escape === '' ? -1 : dialect.escape.charCodeAt(0)
    const { delimiter, quote, escape: escaper } = this
    const { crOnly, skipSpace } = dialect
    this.style = { delimiter, quote, escape: escaper, crOnly, skipSpace }
    this.byteKinds[this.delimiter] = 1
    this.byteKinds[LF] = 2
    this.byteKinds[CR] = 2
    this.maxRows = Math.max(1, Math.floor(65_536 / width))
    this.starts = arrays?.starts ?? new Int32Array(this.maxRows * width)
    this.ends = arrays?.ends ?? new Int32Array(this.maxRows * width)
    this.lines = arrays?.lines ?? new Int32Array(this.maxRows)
  }

  /** Returns whether the previous line was a row of the table, and the next row has not been scanned yet. */
  get isBetweenRows(): boolean {
    return this.blankRows === 0 && !this.isAfterGap && this.openCell === undefined
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
    const { starts, ends, lines, width, byteKinds, quote, delimiter } = this
    const maxRows = Math.min(most, this.maxRows)
    const { collapse, skipSpace, crOnly, closed = 0 } = this.dialect
    const highest = Math.max(delimiter, CR)
    buf[to] = LF
    let rows = 0
    let repairs = 0
    let row = from
    /** Repairs a malformed row. Returns the offset of the next row, NEEDS_MORE_TEXT or MALFORMED. */
    const repair = (): number => {
      const next = this.repairRow(buf, row, to, final, rows)
      if (next < 0) return next
      rows++
      repairs++
      row = next
      return next
    }
    const comment = this.dialect.comment === '' ? -1 : this.dialect.comment.charCodeAt(0)
    scan: while (row < to && rows < maxRows && repairs < MAX_REPAIRS_PER_CALL) {
      if (buf[row] === comment) {
        const lineEnd = buf.indexOf(crOnly ? CR : LF, row)
        const end = lineEnd < 0 ? to : lineEnd
        if (end >= to && !final) break
        this.warnings.count('comment', this.line, (where) => `comment lines were skipped: ${where}`)
        row = Math.min(end, to) + 1
        this.line++
        continue
      }
      const first = rows * width
      let line = this.line
      let cell = 0
      let surplus = false
      let i = row
      if (collapse) while (buf[i] === delimiter) i++
      for (;;) {
        if (skipSpace) while (buf[i] === SPACE) i++
        let start = i
        let end: number
        let flags = 0
        if (buf[i] === quote) {
          end = this.findClosingQuote(buf, row, i, to, final, line)
          if (end === MALFORMED) {
            const mended = this.blankRows > 0 ? MALFORMED : repair()
            if (mended === MALFORMED) {
              if (rows > 0) break scan
              throw this.createRowError()
            }
            if (mended === NEEDS_MORE_TEXT) break scan
            continue scan
          }
          if (end < 0) break scan
          line += this.newlines
          flags = QUOTED | this.flags
          start = i + 1
          i = this.skipSpaces(buf, end + 1)
        } else {
          let c = buf[i]
          for (;;) {
            while (c > highest || byteKinds[c] === 0) c = buf[++i]
            if (closed > cell && cell > 0 && byteKinds[c] === 2 && i < to) {
              const rest = this.findContinuation(buf, i, to, final, closed - cell)
              if (rest === NEEDS_MORE_TEXT) break scan
              if (rest > i) {
                for (; i < rest; i++) if (buf[i] === LF) line++
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
        } else if (end > start || flags !== 0) surplus = true
        cell++
        if (buf[i] !== delimiter) break
        i++
        if (collapse) {
          while (buf[i] === delimiter) i++
          if (byteKinds[buf[i]] === 2) break
        }
      }
      if (i >= to && !final) break
      let next = i + 1
      if (buf[i] === CR) {
        if (next >= to && !final) break
        if (next < to && buf[next] === LF) next++
      }
      if (cell === 1 && (ends[first] === starts[first] << 2 || (width > 1 && this.isBlank(buf, first)))) {
        // In a single column, a blank line is an empty cell, unless only blank lines follow.
        if (width === 1) this.blankRows++
        else this.warnings.count('blank', this.line, (where) => `blank lines were skipped: ${where}`)
        this.isAfterGap = true
        row = next
        this.line = line + 1
        continue
      }
      if (cell > 1 && !surplus && ends[first] === starts[first] << 2 && this.isEmpty(first, cell)) {
        this.warnings.count('empty', this.line, (where) => `rows of empty cells were skipped: ${where}`)
        this.isAfterGap = true
        row = next
        this.line = line + 1
        continue
      }
      if (this.blankRows > 0) {
        rows = this.addBlankRows(rows, row)
        continue
      }
      const mayBeNote = !surplus && this.earlierRows + rows >= this.headerRows
      const below = mayBeNote && !this.isAfterGap && cell === 1 && this.isFinalNote(buf, row, i, to)
      // Whether rows follow is only known with more text.
      if (below && !final && to - row < MAX_LAST_NOTES_BYTES) break
      if (mayBeNote && (this.isAfterGap ? this.isNote(buf, first, cell) : below && final)) {
        const text = excerpt(buf.subarray(row, i), 60).trim()
        const place = this.isAfterGap ? 'a blank line' : 'the last row'
        this.warnings.count(
          'note',
          this.line,
          (where) => `text below ${place} was skipped, as a note about the table: ${where}: ${text}`,
        )
        this.isAfterNote = true
        this.noteLines++
        row = next
        this.line = line + 1
        continue
      }
      if (cell !== width) {
        const split =
          cell === 1 && line === this.line ? this.splitByOtherDelimiter(buf, row, i, rows) : MALFORMED
        if (split >= 0) {
          rows++
          repairs++
          row = split
          continue
        }
        const mended = this.canRepair(buf, row, i, to, cell, line > this.line) ? repair() : MALFORMED
        if (mended === NEEDS_MORE_TEXT) break
        if (mended >= 0) continue
        const problem = this.padOrRejectRow(buf, row, i, rows, cell, surplus)
        if (problem) {
          if (rows > 0) break
          throw problem
        }
      }
      if (this.header !== undefined && this.isHeader(buf, rows)) {
        if (this.isAfterNote) {
          if (rows > 0) break
          throw badData(
            this.source,
            { line: this.line },
            `the header is repeated below a title: a second table starts here: ${excerpt(buf.subarray(row, i))}`,
            'Put each table in its own file.',
          )
        }
        this.warnings.count('header', this.line, (where) => `repeated headers were skipped: ${where}`)
        row = next
        this.line = line + 1
        continue
      }
      if (this.isAfterGap) {
        this.isAfterGap = false
        this.gapLines.push(this.line)
      }
      this.isAfterNote = false
      lines[rows++] = this.line
      row = next
      this.line = line + 1
    }
    this.rows = rows
    this.earlierRows += rows
    return Math.min(row, to)
  }

  /**
   * Returns the offset at which a row continues whose line ends at `i` with `lacking` cells missing, if all
   * rows end with a delimiter: in the next line with delimiters, if it has as many and ends with one.
   * Otherwise `i`, or NEEDS_MORE_TEXT.
   */
  private findContinuation(buf: Uint8Array, i: number, to: number, final: boolean, lacking: number): number {
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
    this.warnings.count(
      'joined',
      this.line,
      (where) => `rows without a delimiter at the end were continued on the next line: ${where}`,
    )
    return rest
  }

  /** Returns whether a data row equals the header. */
  private isHeader(buf: Uint8Array, rows: number): boolean {
    if (this.earlierRows + rows < this.headerRows) return false
    const { starts, ends, width, header } = this
    const first = rows * width
    for (let k = 0; k < width; k++) {
      const name = header![k]
      const start = starts[first + k]
      if ((ends[first + k] >> 2) - start !== name.length) return false
      for (let i = 0; i < name.length; i++) if (buf[start + i] !== name[i]) return false
    }
    return true
  }

  /**
   * Returns whether a row below a blank line is a note, without values that all other rows have: a line
   * without delimiters, text of a note in the first cell only, or a sentence with commas.
   */
  private isNote(buf: Uint8Array, first: number, cells: number): boolean {
    const { starts, ends, width } = this
    const { filled, numeric } = this.dialect.profile
    const end = ends[first] >> 2
    if (width < 2 || isPaddedNumber(buf, starts[first], end)) return false
    // With two columns, a line with a delimiter is a row.
    if (width === 2) return cells === 1 && filled[1] && numeric[1]
    if (!filled.some((always, k) => always && k > 0)) return false
    let isSentence = cells < width
    let isAlone = cells === 1 || isNoteText(buf, starts[first], end)
    for (let k = 1; k < Math.min(cells, width); k++) {
      const start = starts[first + k]
      if (ends[first + k] === start << 2) continue
      isAlone = false
      isSentence &&= buf[start] === SPACE
    }
    return isAlone || (isSentence && filled.some((always, k) => always && k >= cells))
  }

  /**
   * Returns whether a line of one cell is a note below the last row: `Source: …`. This line and all lines to
   * the end of the buffer lack delimiters, while other rows have values.
   */
  private isFinalNote(buf: Uint8Array, row: number, end: number, to: number): boolean {
    const { filled } = this.dialect.profile
    if (this.width < 3 || this.dialect.collapse || !isNoteText(buf, row, end)) return false
    if (!filled.some((always, k) => always && k > 0)) return false
    const next = buf.indexOf(this.delimiter, row)
    return next < 0 || next >= to
  }

  /** Returns whether a cell is only white space. */
  private isBlank(buf: Uint8Array, at: number): boolean {
    if (this.ends[at] & QUOTED) return false
    for (let i = this.starts[at]; i < this.ends[at] >> 2; i++)
      if (buf[i] !== SPACE && buf[i] !== TAB) return false
    return true
  }

  /** Returns whether all cells of a row are empty. */
  private isEmpty(first: number, cells: number): boolean {
    const { starts, ends, width } = this
    for (let k = first; k < first + Math.min(cells, width); k++) if (ends[k] !== starts[k] << 2) return false
    return true
  }

  /** Adds the pending blank lines as empty cells before the row at `row`, while there is space. */
  private addBlankRows(rows: number, row: number): number {
    while (this.blankRows > 0 && rows < this.maxRows) {
      this.starts[rows] = row
      this.ends[rows] = row << 2
      this.lines[rows++] = this.line - this.blankRows--
    }
    return rows
  }

  /**
   * Returns whether a row of the wrong length may have another reading. A short row just lacks cells, unless
   * one of its quoted cells has swallowed the next record.
   */
  private canRepair(
    buf: Uint8Array,
    row: number,
    end: number,
    to: number,
    cells: number,
    spansLines: boolean,
  ): boolean {
    let quoted = row
    while (quoted < end && buf[quoted] !== this.quote) quoted++
    if (quoted === end) return false
    if (cells > this.width || !spansLines) {
      if (!isWellFormed(buf, row, to, this.style)) return true
      if (cells > this.width) return false
    }
    const { width, style } = this
    if (spansLines)
      return isRecordStart(buf, buf.indexOf(this.dialect.crOnly ? CR : LF, row) + 1, to, width, style)
    // An open quote can hide the line end.
    let quotes = 0
    for (let i = quoted; i < end; i++) if (buf[i] === this.quote) quotes++
    return quotes % 2 === 1 && isCellRemainder(buf, end + 1, to, width, style)
  }

  /**
   * Reads a malformed row as one cell per column, if a single best reading exists. Returns the offset of the
   * next row, NEEDS_MORE_TEXT or MALFORMED.
   */
  private repairRow(buf: Uint8Array, row: number, to: number, final: boolean, rows: number): number {
    const { width } = this
    if (this.dialect.collapse || this.quote < 0) return MALFORMED
    if (!final && to - row < 2 * MAX_REPAIR_BYTES) return NEEDS_MORE_TEXT
    // Without the spaces before them, the quotes of this row may be valid.
    const spaced = { ...this.style, skipSpace: true }
    const isSpaced =
      !this.style.skipSpace && !isWellFormed(buf, row, to, this.style) && isWellFormed(buf, row, to, spaced)
    let reading = isSpaced ? repairRecord(buf, row, to, width, width, spaced) : undefined
    // Cells may be missing only if no complete reading exists.
    reading ??= repairRecord(buf, row, to, width, width, this.style)
    for (let fewer = width - 1; !reading && fewer >= Math.max(1, width - MAX_MISSING_CELLS); fewer--)
      reading = repairRecord(buf, row, to, fewer, width, this.style)
    if (!reading) return MALFORMED
    const warning = isSpaced
      ? 'spaces before quotes were removed'
      : 'quotes that are not closed or not doubled were kept as text'
    return this.acceptReading(buf, row, rows, reading, warning)
  }

  /**
   * Splits a row without the delimiter by another one, if only one gives a cell per column. Returns the
   * offset of the next row, or MALFORMED.
   */
  private splitByOtherDelimiter(buf: Uint8Array, row: number, end: number, rows: number): number {
    const { width, style } = this
    if (width < 3 || this.dialect.collapse || this.headerRows > this.earlierRows + rows) return MALFORMED
    let match: { reading: RecordReading; name: string } | undefined
    for (const [name, delimiter] of OTHER_DELIMITERS) {
      const otherStyle = { ...style, delimiter }
      if (delimiter === style.delimiter || !isWellFormed(buf, row, end, otherStyle)) continue
      const reading = repairRecord(buf, row, end, width, width, otherStyle)
      if (!reading) continue
      if (match) return MALFORMED
      match = { reading, name }
    }
    if (!match) return MALFORMED
    const next = buf[end] === CR && buf[end + 1] === LF ? end + 2 : end + 1
    return this.acceptReading(
      buf,
      row,
      rows,
      { ...match.reading, next, lines: 1 },
      `rows with another delimiter (${match.name}) were split by it`,
    )
  }

  /** Accepts a reading as a row. Returns the offset of the next row. */
  private acceptReading(
    buf: Uint8Array,
    row: number,
    rows: number,
    reading: RecordReading,
    warning: string,
  ): number {
    const { width } = this
    this.openCell = undefined
    this.starts.set(reading.starts, rows * width)
    this.ends.set(reading.ends, rows * width)
    this.padRow(row, rows, reading.starts.length)
    this.lines[rows] = this.line
    const text = excerpt(buf.subarray(row, Math.min(reading.next, row + 200)), 60)
    this.warnings.count(warning, this.line, (where) => `${warning}: ${where}: ${text.trim()}`)
    this.isAfterGap = false
    this.line += reading.lines
    return reading.next
  }

  /**
   * Handles a row of the wrong length: pads short rows, drops empty surplus cells, and otherwise returns an
   * error.
   */
  private padOrRejectRow(
    buf: Uint8Array,
    row: number,
    end: number,
    rows: number,
    cells: number,
    surplus: boolean,
  ): Problem | undefined {
    const { width } = this
    // `sniff` has already handled the header.
    if (cells > width && this.headerRows > this.earlierRows + rows) return undefined
    if (cells > width && this.dropSurplusCell(buf, row, end, rows)) return undefined
    if (surplus) {
      return badData(
        this.source,
        { line: this.line },
        `expected ${width === 1 ? '1 cell' : `${width} cells`}, found ${cells}: ${excerpt(buf.subarray(row, end))}`,
        'Fix the line, put quotes around cells that contain the delimiter, or give --delimiter.',
      )
    }
    if (cells > width) {
      const first = rows * width
      // It is unclear which delimiter is the surplus one: cells after an empty one may have shifted.
      if (cells > width + this.dialect.trailing && this.hasEmptyCell(first))
        return badData(
          this.source,
          { line: this.line },
          `expected ${width} cells, found ${cells}, one of them empty, so the others may have shifted: ${excerpt(buf.subarray(row, end))}`,
          'Remove the extra delimiter.',
        )
      this.warnings.count(
        'long',
        this.line,
        (where) => `empty cells beyond column ${width} were dropped: ${where}`,
      )
      return undefined
    }
    this.padRow(row, rows, cells)
    return undefined
  }

  /** Fills a short row with empty cells. */
  private padRow(row: number, rows: number, cells: number): void {
    const { width } = this
    if (cells === width) return
    for (let k = rows * width + cells; k < (rows + 1) * width; k++) {
      this.starts[k] = row
      this.ends[k] = row << 2
    }
    if (this.headerRows > this.earlierRows + rows) return
    this.missingCells += width - cells
    this.warnings.count(
      'short',
      this.line,
      (where) => `rows with fewer than ${width} cells were filled with nulls: ${where}`,
    )
  }

  /** Drops one empty cell of a row with one too many, if it is clear which. Returns whether it did. */
  private dropSurplusCell(buf: Uint8Array, row: number, end: number, rows: number): boolean {
    const { width } = this
    if (this.dialect.collapse || this.dialect.trailing > 0) return false
    const { profile } = this.dialect
    const surplusReading = repairRecord(buf, row, end, width + 1, width, this.style)
    const cells = surplusReading && removeSurplusCell(buf, surplusReading, profile)
    if (!cells) return false
    this.starts.set(cells.starts, rows * width)
    this.ends.set(cells.ends, rows * width)
    const text = excerpt(buf.subarray(row, end), 60)
    this.warnings.count(
      'spare',
      this.line,
      (where) => `an empty cell was dropped from rows with one cell too many: ${where}: ${text}`,
    )
    return true
  }

  /** Returns whether a full row has an empty cell. */
  private hasEmptyCell(first: number): boolean {
    for (let k = first; k < first + this.width; k++) if (this.ends[k] === this.starts[k] << 2) return true
    return false
  }

  /** Skips spaces and tabs after a closing quote. */
  private skipSpaces(buf: Uint8Array, i: number): number {
    let k = i
    while (this.byteKinds[buf[k]] === 0 && (buf[k] === SPACE || buf[k] === TAB)) k++
    return k
  }

  /** Returns whether the last row ended inside a long quoted cell. Scanning resumes inside it. */
  get isInLongCell(): boolean {
    return this.openCell !== undefined && this.openCell.at > 2 * this.openCell.open
  }

  /** Returns the offset of the closing quote, NEEDS_MORE_TEXT or MALFORMED. Sets `newlines` and `flags`. */
  private findClosingQuote(
    buf: Uint8Array,
    row: number,
    open: number,
    to: number,
    final: boolean,
    line: number,
  ): number {
    const { quote, escape: escaper, byteKinds } = this
    const before = this.openCell?.open === open - row ? this.openCell : undefined
    this.openCell = before ? undefined : this.openCell
    let newlines = before?.newlines ?? 0
    let flags = before?.flags ?? 0
    let stray = before && before.stray >= 0 ? row + before.stray : -1
    let j = before ? row + before.at : open + 1
    const halt = (): number => {
      this.openCell = {
        open: open - row,
        at: j - row,
        newlines,
        flags,
        stray: stray < 0 ? -1 : stray - row,
      }
      return NEEDS_MORE_TEXT
    }
    for (;;) {
      const c = buf[j]
      if (c === quote) {
        const after = this.skipSpaces(buf, j + 1)
        if ((after >= to || (buf[after] === CR && after + 1 >= to)) && !final) return halt()
        if (buf[j + 1] === quote) {
          flags = ESCAPED
          j += 2
        } else if (
          byteKinds[buf[after]] !== 0 &&
          (buf[after] !== CR || this.dialect.crOnly || buf[after + 1] === LF)
        ) {
          if (stray >= 0) {
            if (newlines > 0) break
            this.warnings.count(
              'stray',
              line,
              (where) => `unescaped quotes inside quoted cells were kept: ${where}`,
            )
          }
          this.newlines = newlines
          this.flags = flags
          return j
        } else {
          // A stray quote: taken literally if the cell is closed on this line.
          if (stray < 0) stray = j
          flags = ESCAPED
          j++
        }
      } else if (c === LF || (c === CR && this.dialect.crOnly)) {
        if (j >= to) {
          if (!final) return halt()
          this.createRowError = () =>
            badData(
              this.source,
              { line },
              `a quote is opened and never closed: ${excerpt(buf.subarray(open, Math.min(to, open + 200)))}`,
              'Close the quote, or give --delimiter if the file uses another delimiter.',
            )
          return MALFORMED
        }
        newlines++
        j++
        if (stray >= 0) break
      } else if (stray >= 0 && c === this.delimiter) {
        break
      } else if (c === escaper) {
        if (j + 1 >= to && !final) return halt()
        flags = ESCAPED
        j += buf[j + 1] === quote || buf[j + 1] === escaper ? 2 : 1
        if (j > to) {
          j = to
        }
      } else j++
    }
    this.createRowError = () =>
      badData(
        this.source,
        { line },
        `text after the closing quote of a cell: ${excerpt(buf.subarray(open, Math.min(to, stray + 20)))}`,
        'Double every quote inside a quoted cell.',
      )
    return MALFORMED
  }
}
