import { Problem } from '../../contract/errors.ts'
import { excerpt } from '../../json/index.ts'
import {
  isRecord,
  isRest,
  isTidy,
  REPAIR_BYTES,
  type Reading,
  type RecordStyle,
  repair,
} from '../detect/repair.ts'
import type { Dialect } from '../values/dialect.ts'
import { ESCAPED, QUOTED } from '../values/flags.ts'
import { isPaddedNumber } from '../values/number.ts'
import { badData, type Warnings } from '../values/warnings.ts'
import { withoutSpare } from './spare.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

/** No cell or row: more of the text is needed; or it is malformed. */
const HALTED = -1
const MALFORMED = -2
/** Delimiters that a single row can have instead of the table's. */
const OTHER_DELIMITERS = [
  ['comma', 0x2c],
  ['semicolon', 0x3b],
  ['tab', TAB],
  ['|', 0x7c],
] as const
/** Malformed rows of one call of `next`: each can take a moment. */
const MAX_REPAIRS = 16
/** Length of the text without delimiters that can be notes below the last row. */
const LAST_NOTES_BYTES = 64 * 1024
/** Cells that a malformed row may lack. */
const MAX_MISSING = 2

/** What notes about a table begin with or contain, and what names and values do not. */
const NOTE =
  /^\W*(sources?|notes?|remarks?|footnotes?|data|quellen?|anmerkung(en)?|hinweis|stand|fuentes?|notas?|fontes?|remarques?|end of|updated|last updated|generated|exported|copyright)\b.*[\s:]|^\s*([*†‡§©¹²³]|\(\d+\)|\[\d+\]|\d+[.)] )|: |\.$|\S+( \S+){3}/i
/** Bytes of a cell in which that is looked for. */
const NOTE_BYTES = 400

function isNoteText(buf: Uint8Array, start: number, end: number): boolean {
  return NOTE.test(Buffer.from(buf.subarray(start, Math.min(end, start + NOTE_BYTES))).toString('utf8'))
}

/** Finds the offsets of rows and cells in UTF-8 bytes. Does not decode them. */
export class Tokenizer {
  /** Cell k of row r starts at starts[r * width + k] and ends at ends[…] >> 2; the low bits are flags. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** The line each row starts on, from 1. */
  readonly lines: Int32Array
  rows = 0
  /** The line the next row starts on. */
  line = 1
  /** Lines of rows that follow a blank line, where another table may begin. The reader empties it. */
  behindGaps: number[] = []
  private gap = false
  /** Whether a note was skipped since the last row. */
  private noted = false
  /** Lines below the table that were skipped as notes. */
  notes = 0
  /** Number of cells missing in short rows. */
  missing = 0
  /** The texts of the header: a row of the same texts is not data. */
  header: readonly Buffer[] | undefined
  /** Number of header rows. They may be shorter than data rows without a warning. */
  headerRows = 0

  private readonly delimiter: number
  private readonly quote: number
  /** The byte before an escaped quote; −1 if there is none. */
  private readonly escape: number
  private readonly style: RecordStyle
  /** What is wrong with the row that was found to be malformed. */
  private complaint: () => Problem = () => new Problem('internal', 'no complaint')
  private readonly kind = new Uint8Array(256)
  /** Rows that the arrays have room for. */
  readonly maxRows: number
  private blankRows = 0
  private newlines = 0
  /** Number of rows returned by earlier calls. */
  private given = 0
  private flags = 0

  /** State of an unclosed quoted cell at the end of the buffer. Offsets count from the start of its row. */
  private halted: { open: number; at: number; newlines: number; flags: number; stray: number } | undefined

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
    this.kind[this.delimiter] = 1
    this.kind[LF] = 2
    this.kind[CR] = 2
    this.maxRows = Math.max(1, Math.floor(65_536 / width))
    this.starts = arrays?.starts ?? new Int32Array(this.maxRows * width)
    this.ends = arrays?.ends ?? new Int32Array(this.maxRows * width)
    this.lines = arrays?.lines ?? new Int32Array(this.maxRows)
  }

  /** Returns whether the next row follows a row of the table, and no part of it has been scanned. */
  get isBetweenRows(): boolean {
    return this.blankRows === 0 && !this.gap && this.halted === undefined
  }

  /** Takes over rows that `PlainRows` has put into the arrays. `line` is the line after them. */
  accept(rows: number, line: number): void {
    this.rows = rows
    this.given += rows
    this.line = line
  }

  /**
   * Scans complete rows in buf[from, to); buf[to] is overwritten. Returns the offset of the first incomplete
   * row. With `final`, the last row needs no line end. Fills `rows`, `starts`, `ends` and `lines`, and stops
   * early when they are full, or hold `most` rows. Throws only for the first row, so that those before it are read.
   */
  next(buf: Uint8Array, from: number, to: number, final: boolean, most = this.maxRows): number {
    const { starts, ends, lines, width, kind, quote, delimiter } = this
    const maxRows = Math.min(most, this.maxRows)
    const { collapse, skipSpace, crOnly, closed = 0 } = this.dialect
    const highest = Math.max(delimiter, CR)
    buf[to] = LF
    let rows = 0
    let repairs = 0
    let row = from
    /** Reads a malformed row another way. Returns whether that is done, HALTED or MALFORMED. */
    const mend = (): number => {
      const next = this.mend(buf, row, to, final, rows)
      if (next < 0) return next
      rows++
      repairs++
      row = next
      return next
    }
    const comment = this.dialect.comment === '' ? -1 : this.dialect.comment.charCodeAt(0)
    scan: while (row < to && rows < maxRows && repairs < MAX_REPAIRS) {
      if (buf[row] === comment) {
        const found = buf.indexOf(crOnly ? CR : LF, row)
        const end = found < 0 ? to : found
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
            const mended = this.blankRows > 0 ? MALFORMED : mend()
            if (mended === MALFORMED) {
              if (rows > 0) break scan
              throw this.complaint()
            }
            if (mended === HALTED) break scan
            continue scan
          }
          if (end < 0) break scan
          line += this.newlines
          flags = QUOTED | this.flags
          start = i + 1
          i = this.blanks(buf, end + 1)
        } else {
          let c = buf[i]
          for (;;) {
            while (c > highest || kind[c] === 0) c = buf[++i]
            if (closed > cell && cell > 0 && kind[c] === 2 && i < to) {
              const rest = this.goesOn(buf, i, to, final, closed - cell)
              if (rest === HALTED) break scan
              if (rest > i) {
                for (; i < rest; i++) if (buf[i] === LF) line++
                c = buf[i]
                continue
              }
            }
            // A CR that does not end a line is part of the cell.
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
          if (kind[buf[i]] === 2) break
        }
      }
      // At a line end, or at the scratch byte after the buffer.
      if (i >= to && !final) break
      let next = i + 1
      if (buf[i] === CR) {
        if (next >= to && !final) break
        if (next < to && buf[next] === LF) next++
      }
      if (cell === 1 && (ends[first] === starts[first] << 2 || (width > 1 && this.isBlank(buf, first)))) {
        // A blank line. With one column it is an empty cell, unless only blank lines follow.
        if (width === 1) this.blankRows++
        else this.warnings.count('blank', this.line, (where) => `blank lines were skipped: ${where}`)
        this.gap = true
        row = next
        this.line = line + 1
        continue
      }
      if (cell > 1 && !surplus && ends[first] === starts[first] << 2 && this.isEmpty(first, cell)) {
        this.warnings.count('empty', this.line, (where) => `rows of empty cells were skipped: ${where}`)
        this.gap = true
        row = next
        this.line = line + 1
        continue
      }
      if (this.blankRows > 0) {
        rows = this.giveBlankRows(rows, row)
        continue
      }
      const mayBeNote = !surplus && this.given + rows >= this.headerRows
      const below = mayBeNote && !this.gap && cell === 1 && this.mayEndTable(buf, row, i, to)
      // More of the text shows whether rows follow.
      if (below && !final && to - row < LAST_NOTES_BYTES) break
      if (mayBeNote && (this.gap ? this.isNote(buf, first, cell) : below && final)) {
        const text = excerpt(buf.subarray(row, i), 60).trim()
        const place = this.gap ? 'a blank line' : 'the last row'
        this.warnings.count(
          'note',
          this.line,
          (where) => `text below ${place} was skipped, as a note about the table: ${where}: ${text}`,
        )
        this.noted = true
        this.notes++
        row = next
        this.line = line + 1
        continue
      }
      if (cell !== width) {
        const other = cell === 1 && line === this.line ? this.mendDelimiter(buf, row, i, rows) : MALFORMED
        if (other >= 0) {
          rows++
          repairs++
          row = other
          continue
        }
        const mended = this.mayMend(buf, row, i, to, cell, line > this.line) ? mend() : MALFORMED
        if (mended === HALTED) break
        if (mended >= 0) continue
        const problem = this.padOrRejectRow(buf, row, i, rows, cell, surplus)
        if (problem) {
          if (rows > 0) break
          throw problem
        }
      }
      if (this.header !== undefined && this.isHeader(buf, rows)) {
        if (this.noted) {
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
      if (this.gap) {
        this.gap = false
        this.behindGaps.push(this.line)
      }
      this.noted = false
      lines[rows++] = this.line
      row = next
      this.line = line + 1
    }
    this.rows = rows
    this.given += rows
    return Math.min(row, to)
  }

  /**
   * Where a row goes on whose line ends at `i`, of which `lacking` cells are not ended, and all rows end with a delimiter:
   * in the next line that has delimiters, if it has as many, one of them at its end. `i` if it does not, or HALTED.
   */
  private goesOn(buf: Uint8Array, i: number, to: number, final: boolean, lacking: number): number {
    const { delimiter } = this
    let found = 0
    let rest = i
    let k = i + 1
    for (; k < to && (found === 0 || buf[k] !== LF); k++) {
      if (buf[k] !== delimiter) continue
      if (found++ === 0) rest = k
    }
    if (k >= to && !final) return k - i > REPAIR_BYTES ? i : HALTED
    const end = buf[k - 1] === CR ? k - 2 : k - 1
    if (found !== lacking || buf[end] !== delimiter) return i
    this.warnings.count(
      'joined',
      this.line,
      (where) => `rows that do not end with a delimiter, as all others do, go on in the next line: ${where}`,
    )
    return rest
  }

  /** Returns whether a row, which is not the header itself, has the texts of the header. */
  private isHeader(buf: Uint8Array, rows: number): boolean {
    if (this.given + rows < this.headerRows) return false
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
   * Returns whether a row below a blank line is a text without the values that all other rows have: a line
   * without delimiters, or the text of a note in the first cell, or a sentence with commas.
   */
  private isNote(buf: Uint8Array, first: number, cells: number): boolean {
    const { starts, ends, width } = this
    const { filled, numeric } = this.dialect.profile
    const end = ends[first] >> 2
    if (width < 2 || isPaddedNumber(buf, starts[first], end)) return false
    // With two columns, a delimiter makes a row of the text.
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
   * Returns whether a line of one cell is a note below the last row: `Source: …`. It, and all lines that
   * follow to the end of the buffer, have no delimiter, where other rows have values.
   */
  private mayEndTable(buf: Uint8Array, row: number, end: number, to: number): boolean {
    const { filled } = this.dialect.profile
    if (this.width < 3 || this.dialect.collapse || !isNoteText(buf, row, end)) return false
    if (!filled.some((always, k) => always && k > 0)) return false
    const next = buf.indexOf(this.delimiter, row)
    return next < 0 || next >= to
  }

  /** Returns whether a cell has nothing but white space. */
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

  /** Adds the pending empty cells (blank lines) before the row at `row`, while there is room. */
  private giveBlankRows(rows: number, row: number): number {
    while (this.blankRows > 0 && rows < this.maxRows) {
      this.starts[rows] = row
      this.ends[rows] = row << 2
      this.lines[rows++] = this.line - this.blankRows--
    }
    return rows
  }

  /**
   * Returns whether a row of the wrong length may have another reading. A short one has cells that are
   * missing, unless a quoted cell of it has swallowed the next record.
   */
  private mayMend(
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
      if (!isTidy(buf, row, to, this.style)) return true
      if (cells > this.width) return false
    }
    const { width, style } = this
    if (spansLines)
      return isRecord(buf, buf.indexOf(this.dialect.crOnly ? CR : LF, row) + 1, to, width, style)
    // A quote inside a cell can hide the line end.
    let quotes = 0
    for (let i = quoted; i < end; i++) if (buf[i] === this.quote) quotes++
    return quotes % 2 === 1 && isRest(buf, end + 1, to, width, style)
  }

  /**
   * Reads a malformed row as exactly as many cells as there are columns, if there is one best way to do so. Returns
   * the offset of the next row, HALTED or MALFORMED.
   */
  private mend(buf: Uint8Array, row: number, to: number, final: boolean, rows: number): number {
    const { width } = this
    if (this.dialect.collapse || this.quote < 0) return MALFORMED
    if (!final && to - row < 2 * REPAIR_BYTES) return HALTED
    // Spaces after delimiters, in this row only, make quotes of what is inside.
    const spaced = { ...this.style, skipSpace: true }
    const isSpaced =
      !this.style.skipSpace && !isTidy(buf, row, to, this.style) && isTidy(buf, row, to, spaced)
    let reading = isSpaced ? repair(buf, row, to, width, width, spaced) : undefined
    // A record with cells missing is taken as it is, but not as something else.
    reading ??= repair(buf, row, to, width, width, this.style)
    for (let fewer = width - 1; !reading && fewer >= Math.max(1, width - MAX_MISSING); fewer--)
      reading = repair(buf, row, to, fewer, width, this.style)
    if (!reading) return MALFORMED
    const said = isSpaced
      ? 'spaces before quotes were removed'
      : 'quotes that are not closed or not doubled were kept as text'
    return this.take(buf, row, rows, reading, said)
  }

  /**
   * Reads a row without the delimiter as exactly as many cells as there are columns, if one other delimiter gives them.
   * Returns the offset of the next row, or MALFORMED.
   */
  private mendDelimiter(buf: Uint8Array, row: number, end: number, rows: number): number {
    const { width, style } = this
    if (width < 3 || this.dialect.collapse || this.headerRows > this.given + rows) return MALFORMED
    let found: { reading: Reading; name: string } | undefined
    for (const [name, delimiter] of OTHER_DELIMITERS) {
      const other = { ...style, delimiter }
      if (delimiter === style.delimiter || !isTidy(buf, row, end, other)) continue
      const reading = repair(buf, row, end, width, width, other)
      if (!reading) continue
      if (found) return MALFORMED
      found = { reading, name }
    }
    if (!found) return MALFORMED
    const next = buf[end] === CR && buf[end + 1] === LF ? end + 2 : end + 1
    return this.take(
      buf,
      row,
      rows,
      { ...found.reading, next, lines: 1 },
      `rows with another delimiter (${found.name}) were split by it`,
    )
  }

  /** Takes the cells of a reading as a row. Returns the offset of the next one. */
  private take(buf: Uint8Array, row: number, rows: number, reading: Reading, said: string): number {
    const { width } = this
    this.halted = undefined
    this.starts.set(reading.starts, rows * width)
    this.ends.set(reading.ends, rows * width)
    this.pad(row, rows, reading.starts.length)
    this.lines[rows] = this.line
    const shown = excerpt(buf.subarray(row, Math.min(reading.next, row + 200)), 60)
    this.warnings.count(said, this.line, (where) => `${said}: ${where}: ${shown.trim()}`)
    this.gap = false
    this.line += reading.lines
    return reading.next
  }

  /** Handles a row of the wrong length: pads short rows, drops empty surplus cells, and complains otherwise. */
  private padOrRejectRow(
    buf: Uint8Array,
    row: number,
    end: number,
    rows: number,
    cells: number,
    surplus: boolean,
  ): Problem | undefined {
    const { width } = this
    // Names of columns were read before.
    if (cells > width && this.headerRows > this.given + rows) return undefined
    if (cells > width && this.dropSpare(buf, row, end, rows)) return undefined
    if (surplus) {
      return badData(
        this.source,
        { line: this.line },
        `${cells} cells where there ${width === 1 ? 'is 1 column' : `are ${width} columns`}: ${excerpt(buf.subarray(row, end))}`,
        'Fix the line, put quotes around cells that contain the delimiter, or give --delimiter.',
      )
    }
    if (cells > width) {
      const first = rows * width
      // One delimiter too many, and it is unclear which: cells after an empty one may have shifted.
      if (cells > width + this.dialect.trailing && this.hasEmpty(first))
        return badData(
          this.source,
          { line: this.line },
          `${cells} cells where there are ${width} columns, including an empty one, so the others may have shifted: ${excerpt(buf.subarray(row, end))}`,
          'Remove the extra delimiter.',
        )
      this.warnings.count(
        'long',
        this.line,
        (where) => `empty cells beyond column ${width} were dropped: ${where}`,
      )
      return undefined
    }
    this.pad(row, rows, cells)
    return undefined
  }

  /** Fills up a row with fewer cells than columns. */
  private pad(row: number, rows: number, cells: number): void {
    const { width } = this
    if (cells === width) return
    for (let k = rows * width + cells; k < (rows + 1) * width; k++) {
      this.starts[k] = row
      this.ends[k] = row << 2
    }
    if (this.headerRows > this.given + rows) return
    this.missing += width - cells
    this.warnings.count(
      'short',
      this.line,
      (where) => `rows with fewer than ${width} cells were filled with nulls: ${where}`,
    )
  }

  /** Drops one empty cell of a row that has one too many, if it is clear which one it is. */
  private dropSpare(buf: Uint8Array, row: number, end: number, rows: number): boolean {
    const { width } = this
    if (this.dialect.collapse || this.dialect.trailing > 0) return false
    const { profile } = this.dialect
    const whole = repair(buf, row, end, width + 1, width, this.style)
    const kept = whole && withoutSpare(buf, whole, profile)
    if (!kept) return false
    this.starts.set(kept.starts, rows * width)
    this.ends.set(kept.ends, rows * width)
    const shown = excerpt(buf.subarray(row, end), 60)
    this.warnings.count(
      'spare',
      this.line,
      (where) =>
        `an empty cell was dropped from rows with one cell too many, so that the others are in their columns: ${where}: ${shown}`,
    )
    return true
  }

  /** Returns whether a full row has an empty cell. */
  private hasEmpty(first: number): boolean {
    for (let k = first; k < first + this.width; k++) if (this.ends[k] === this.starts[k] << 2) return true
    return false
  }

  /** Skips spaces and tabs after a closing quote. */
  private blanks(buf: Uint8Array, i: number): number {
    let k = i
    while (this.kind[buf[k]] === 0 && (buf[k] === SPACE || buf[k] === TAB)) k++
    return k
  }

  /** Returns whether the last row ended inside a long quoted cell. Scanning resumes inside it. */
  get inLongCell(): boolean {
    return this.halted !== undefined && this.halted.at > 2 * this.halted.open
  }

  /** Returns the offset of the closing quote, HALTED or MALFORMED. Sets `newlines` and `flags`. */
  private findClosingQuote(
    buf: Uint8Array,
    row: number,
    open: number,
    to: number,
    final: boolean,
    line: number,
  ): number {
    const { quote, escape: escaper, kind } = this
    const before = this.halted?.open === open - row ? this.halted : undefined
    this.halted = before ? undefined : this.halted
    let newlines = before?.newlines ?? 0
    let flags = before?.flags ?? 0
    let stray = before && before.stray >= 0 ? row + before.stray : -1
    let j = before ? row + before.at : open + 1
    const halt = (): number => {
      this.halted = {
        open: open - row,
        at: j - row,
        newlines,
        flags,
        stray: stray < 0 ? -1 : stray - row,
      }
      return HALTED
    }
    for (;;) {
      const c = buf[j]
      if (c === quote) {
        const after = this.blanks(buf, j + 1)
        if ((after >= to || (buf[after] === CR && after + 1 >= to)) && !final) return halt()
        if (buf[j + 1] === quote) {
          flags = ESCAPED
          j += 2
        } else if (
          kind[buf[after]] !== 0 &&
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
          // A quote inside the cell: taken literally if the cell still closes on this line.
          if (stray < 0) stray = j
          flags = ESCAPED
          j++
        }
      } else if (c === LF || (c === CR && this.dialect.crOnly)) {
        if (j >= to) {
          if (!final) return halt()
          this.complaint = () =>
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
    this.complaint = () =>
      badData(
        this.source,
        { line },
        `text after the closing quote of a cell: ${excerpt(buf.subarray(open, Math.min(to, stray + 20)))}`,
        'Double every quote inside a quoted cell.',
      )
    return MALFORMED
  }
}
