import { excerpt } from '../json/index.ts'
import type { Dialect } from './dialect.ts'
import { badData, type Warnings } from './warnings.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09
const BACKSLASH = 0x5c

/** Bits beside a cell's end: it stood in quotes; it holds escapes to be undone. */
export const QUOTED = 1
export const ESCAPED = 2

/** Finds rows and cells in UTF-8 bytes: where they start and end, nothing more. */
export class Tokenizer {
  /** Cell k of row r starts at starts[r * width + k] and ends at ends[…] >> 2; the low bits are flags. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** The line each row starts on, from 1. */
  readonly lines: Int32Array
  rows = 0
  /** The line the next row starts on. */
  line = 1
  /** Lines of rows that follow a blank line: where another table may begin. Emptied by whoever looks at them. */
  behindGaps: number[] = []
  private gap = false
  /** Cells that short rows lack. */
  missing = 0
  /** Rows of names at the beginning: their length is nobody's fault. */
  headerRows = 0

  private readonly delimiter: number
  private readonly quote: number
  private readonly backslash: boolean
  private readonly kind = new Uint8Array(256)
  private readonly maxRows: number
  private blankRows = 0
  private newlines = 0
  /** Rows given out by earlier calls. */
  private given = 0
  private flags = 0

  /** How far a quoted cell has been read that did not close yet; offsets count from the start of its row. */
  private halted: { open: number; at: number; newlines: number; flags: number; stray: number } | undefined

  constructor(
    private readonly dialect: Pick<
      Dialect,
      'delimiter' | 'quote' | 'escape' | 'crOnly' | 'skipSpace' | 'collapse' | 'trailing'
    >,
    readonly width: number,
    private readonly warnings: Warnings,
    private readonly source: string,
  ) {
    this.delimiter = dialect.delimiter.charCodeAt(0)
    this.quote = dialect.quote.charCodeAt(0)
    this.backslash = dialect.escape === 'backslash'
    this.kind[this.delimiter] = 1
    this.kind[LF] = 2
    this.kind[CR] = 2
    this.maxRows = Math.max(1, Math.floor(65_536 / width))
    this.starts = new Int32Array(this.maxRows * width)
    this.ends = new Int32Array(this.maxRows * width)
    this.lines = new Int32Array(this.maxRows)
  }

  /**
   * Takes whole rows out of buf[from, to); buf[to] is scratch space. Returns where the first row that
   * is not whole yet begins; with `final` the last row needs no line end. Fills `rows`, `starts`,
   * `ends` and `lines`, and stops early when these are full.
   */
  next(buf: Uint8Array, from: number, to: number, final: boolean): number {
    const { starts, ends, lines, width, kind, quote, delimiter, maxRows } = this
    const { collapse, skipSpace, crOnly } = this.dialect
    const highest = Math.max(delimiter, CR)
    buf[to] = LF
    let rows = 0
    let row = from
    scan: while (row < to && rows < maxRows) {
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
          if (end < 0) break scan
          line += this.newlines
          flags = QUOTED | this.flags
          start = i + 1
          i = this.blanks(buf, end + 1)
        } else {
          let c = buf[i]
          for (;;) {
            while (c > highest || kind[c] === 0) c = buf[++i]
            // A CR that ends no line is part of the cell.
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
      // At a line end, or at the scratch byte behind the last one.
      if (i >= to && !final) break
      let next = i + 1
      if (buf[i] === CR) {
        if (next >= to && !final) break
        if (next < to && buf[next] === LF) next++
      }
      if (cell === 1 && ends[first] === starts[first] << 2) {
        // A blank line. In a table of one column it is an empty cell, unless nothing but blanks follows.
        if (width === 1) this.blankRows++
        else this.warnings.count('blank', this.line, (where) => `blank lines were passed over: ${where}`)
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
      if (cell !== width) this.padOrRejectRow(buf, row, i, rows, cell, surplus)
      if (this.gap) {
        this.gap = false
        this.behindGaps.push(this.line)
      }
      lines[rows++] = this.line
      row = next
      this.line = line + 1
    }
    this.rows = rows
    this.given += rows
    return Math.min(row, to)
  }

  /** Whether a row of so many cells is nothing but delimiters. */
  private isEmpty(first: number, cells: number): boolean {
    const { starts, ends, width } = this
    for (let k = first; k < first + Math.min(cells, width); k++) if (ends[k] !== starts[k] << 2) return false
    return true
  }

  /** Gives out the empty cells owed before the row at `row`, as many as there is room for. */
  private giveBlankRows(rows: number, row: number): number {
    while (this.blankRows > 0 && rows < this.maxRows) {
      this.starts[rows] = row
      this.ends[rows] = row << 2
      this.lines[rows++] = this.line - this.blankRows--
    }
    return rows
  }

  /** A row of the wrong length: short ones are filled up, empty surplus is dropped, the rest refused. */
  private padOrRejectRow(
    buf: Uint8Array,
    row: number,
    end: number,
    rows: number,
    cells: number,
    surplus: boolean,
  ): void {
    const { width } = this
    if (surplus) {
      throw badData(
        this.source,
        { line: this.line },
        `${cells} cells where there are ${width} columns: ${excerpt(buf.subarray(row, end))}`,
        'Mend the line, put quotes around a cell that holds the delimiter, or give --delimiter.',
      )
    }
    if (cells > width) {
      const first = rows * width
      // One delimiter too many, and which one is not to be seen: the cells behind an empty one may have shifted.
      if (cells > width + this.dialect.trailing && this.hasEmpty(first))
        throw badData(
          this.source,
          { line: this.line },
          `${cells} cells where there are ${width} columns, an empty one among them, so that the others may have shifted: ${excerpt(buf.subarray(row, end))}`,
          'Remove the delimiter that is too many.',
        )
      this.warnings.count(
        'long',
        this.line,
        (where) => `empty cells beyond column ${width} were dropped: ${where}`,
      )
      return
    }
    for (let k = rows * width + cells; k < (rows + 1) * width; k++) {
      this.starts[k] = row
      this.ends[k] = row << 2
    }
    if (this.headerRows > this.given + rows) return
    this.missing += width - cells
    this.warnings.count(
      'short',
      this.line,
      (where) => `rows with fewer than ${width} cells were filled up with nulls: ${where}`,
    )
  }

  /** Whether a full row has an empty cell. */
  private hasEmpty(first: number): boolean {
    for (let k = first; k < first + this.width; k++) if (this.ends[k] === this.starts[k] << 2) return true
    return false
  }

  /** Past the blanks that may follow a closing quote. */
  private blanks(buf: Uint8Array, i: number): number {
    let k = i
    while (this.kind[buf[k]] === 0 && (buf[k] === SPACE || buf[k] === TAB)) k++
    return k
  }

  /** Whether the last row broke off in a long quoted cell, which goes on from there. */
  get inLongCell(): boolean {
    return this.halted !== undefined && this.halted.at > 2 * this.halted.open
  }

  /** Where the quote opened at `open` closes; −1 when the bytes end first. Sets `newlines` and `flags`. */
  private findClosingQuote(
    buf: Uint8Array,
    row: number,
    open: number,
    to: number,
    final: boolean,
    line: number,
  ): number {
    const { quote, backslash, kind } = this
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
      return -1
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
              (where) => `quotes not written twice inside a quoted cell were taken as they are: ${where}`,
            )
          }
          this.newlines = newlines
          this.flags = flags
          return j
        } else {
          // A quote in the middle: taken as it is if the cell still closes on this line.
          if (stray < 0) stray = j
          flags = ESCAPED
          j++
        }
      } else if (c === LF || (c === CR && this.dialect.crOnly)) {
        if (j >= to) {
          if (!final) return halt()
          throw badData(
            this.source,
            { line },
            `a quote is opened and never closed: ${excerpt(buf.subarray(open, Math.min(to, open + 200)))}`,
            'Close the quote, or give --delimiter if the file is delimited by something else.',
          )
        }
        newlines++
        j++
        if (stray >= 0) break
      } else if (stray >= 0 && c === this.delimiter) {
        break
      } else if (backslash && c === BACKSLASH) {
        if (j + 1 >= to && !final) return halt()
        flags = ESCAPED
        j += buf[j + 1] === quote || buf[j + 1] === BACKSLASH ? 2 : 1
        if (j > to) {
          j = to
        }
      } else j++
    }
    throw badData(
      this.source,
      { line },
      `a quoted cell goes on behind its closing quote: ${excerpt(buf.subarray(open, Math.min(to, stray + 20)))}`,
      'Write a quote inside a quoted cell twice.',
    )
  }
}
