// Splits the first rows of a text into cells, to detect its dialect.

import { ESCAPED } from '../values/cells.ts'
import type { DelimitedOptions, Dialect } from '../values/dialect.ts'
import { isWellFormed, MAX_REPAIR_BYTES, repairRecord } from './repair.ts'

/** Properties of a dialect that are known before the table is found. */
export type Style = Pick<
  Dialect,
  'delimiter' | 'quote' | 'escape' | 'crOnly' | 'skipSpace' | 'collapse' | 'closed'
>

/** Maximum number of rows read for detection. */
export const MAX_SAMPLE_ROWS = 200

/** The first rows of a text, as read with one style. */
export interface SampleRows {
  rows: string[][]
  /** Line on which each row starts, from 0. */
  lineIndexes: number[]
  /** Per row: number of quoted cells, and whether the first cell is quoted. */
  quoted: { count: number; first: boolean }[]
  /** Share of cells that are not quoted but contain a quote or another delimiter. */
  foreignShare: number
}

/**
 * Splits the first rows into cells, for detection only (`Tokenizer` parses the file). With `expected`,
 * malformed rows are read as that many cells where possible.
 */
export function readSampleRows(
  text: string,
  style: Style,
  { comment }: DelimitedOptions,
  expected?: number,
): SampleRows {
  return new SampleReader(text, style).read(comment, expected)
}

/** Reader of the rows of one text. */
class SampleReader {
  private readonly lineIndexes: number[] = []
  private readonly quoted: SampleRows['quoted'] = []
  private readonly isForeign: (cell: string) => boolean
  private cells = 0
  private foreign = 0
  private line = 0
  /** Index of the next character. */
  private at = 0

  constructor(
    private readonly text: string,
    private readonly style: Style,
  ) {
    this.isForeign = createForeignTest(style)
  }

  read(comment: string | undefined, expected: number | undefined): SampleRows {
    const { text, style, lineIndexes, quoted } = this
    const rows: string[][] = []
    while (this.at < text.length && rows.length < MAX_SAMPLE_ROWS) {
      if (comment && text[this.at] === comment) {
        while (this.at < text.length && !isRowEnd(text, this.at, style.crOnly)) this.at++
        this.skipLineEnd()
        continue
      }
      const start = { at: this.at, line: this.line }
      const row = this.readRow()
      // Over the limit: stop reading.
      if (row.length > MAX_ROW_CELLS) return { rows: [...rows, row], lineIndexes, quoted, foreignShare: 0 }
      const repaired =
        expected !== undefined && row.length !== expected && row.length > 1
          ? repairRow(text.slice(start.at, start.at + MAX_REPAIR_BYTES), expected, style)
          : undefined
      if (repaired) {
        this.at = start.at + repaired.length
        this.line = start.line + repaired.lines
      }
      rows.push(repaired?.row ?? row)
    }
    return { rows, lineIndexes, quoted, foreignShare: this.foreign / Math.max(1, this.cells) }
  }

  private skip(character: string): void {
    while (this.text[this.at] === character) this.at++
  }

  private skipLineEnd(): void {
    this.at += this.text[this.at] === '\r' && this.text[this.at + 1] === '\n' ? 2 : 1
    this.line++
  }

  /** Reads a row and its line end. Stops inside a row of too many cells. */
  private readRow(): string[] {
    const { text } = this
    const { delimiter, crOnly, skipSpace, collapse } = this.style
    const row: string[] = []
    const inQuotes = { count: 0, first: false }
    this.lineIndexes.push(this.line)
    this.quoted.push(inQuotes)
    if (collapse) this.skip(delimiter)
    for (;;) {
      if (skipSpace) this.skip(' ')
      const quoted = this.readQuoted()
      if (quoted !== undefined) {
        inQuotes.count++
        if (row.length === 0) inQuotes.first = true
      }
      const cell = (quoted ?? '') + this.readUnquoted(row.length)
      row.push(cell)
      this.cells++
      if (quoted === undefined && this.isForeign(cell)) this.foreign++
      if (row.length > MAX_ROW_CELLS) return row
      if (text[this.at] !== delimiter) break
      this.at++
      if (!collapse) continue
      this.skip(delimiter)
      if (this.at >= text.length || isRowEnd(text, this.at, crOnly)) break
    }
    this.skipLineEnd()
    return row
  }

  /** Reads a quoted text; undefined if there is none, or its quote is not closed. */
  private readQuoted(): string | undefined {
    const { text, style } = this
    const { quote, escape: escaper, crOnly } = style
    if (quote === '' || text[this.at] !== quote) return undefined
    const parts: string[] = []
    const opened = this.at + 1
    let from = opened
    let i = opened
    for (;;) {
      i = indexOfQuote(text, quote, escaper, i)
      const isEscape = escaper !== '' && text[i] === escaper
      if (text[i + 1] === quote || (isEscape && text[i + 1] === escaper)) {
        parts.push(text.slice(from, i))
        from = i + 1
        i += 2
      } else if (isEscape && i < text.length) i++
      else break
    }
    if (i >= text.length) return undefined
    this.line += countOccurrences(text, crOnly ? '\r' : '\n', opened, i)
    const cell = parts.join('') + text.slice(from, i)
    this.at = i + 1
    // Stray quotes inside the cell, if it is closed on its line.
    const end = findStrayEnd(text, i + 1, style)
    if (end === undefined) return cell
    this.at = end + 1
    return cell + text.slice(i, end).replaceAll(quote + quote, quote)
  }

  /** Reads the text up to the next delimiter or line end. `cells`: number of cells before it in the row. */
  private readUnquoted(cells: number): string {
    const { text, at: start } = this
    const { delimiter, crOnly, closed = 0 } = this.style
    let i = start
    for (; i < text.length && text[i] !== delimiter; i++) {
      if (!isRowEnd(text, i, crOnly)) continue
      if (cells === 0 || !isContinued(text, i, delimiter, closed - cells)) break
      if (text[i] === '\n') this.line++
    }
    this.at = i
    return text.slice(start, i)
  }
}

/** Maximum number of characters searched for the rest of a row. */
const MAX_REST_CHARACTERS = 4000

/**
 * Returns whether the row continues after the line end at `i`, with `lacking` cells missing. See
 * `Tokenizer.findContinuation`.
 */
function isContinued(text: string, i: number, delimiter: string, lacking: number): boolean {
  if (lacking < 1) return false
  const lines = text.slice(i, i + MAX_REST_CHARACTERS).split(/\r?\n/)
  const next = lines.slice(1).find((line) => line.includes(delimiter)) ?? ''
  return next.endsWith(delimiter) && next.split(delimiter).length - 1 === lacking
}

/**
 * Returns the closing quote of a cell with stray quotes: the next one on its line before a delimiter or line
 * end. undefined if the quote at `i - 1` closes the cell.
 */
function findStrayEnd(text: string, i: number, { delimiter, quote, crOnly }: Style): number | undefined {
  const closes = (at: number): boolean => {
    let k = at
    while (text[k] === ' ') k++
    return k >= text.length || text[k] === delimiter || isRowEnd(text, k, crOnly)
  }
  if (closes(i)) return undefined
  for (let k = i; k < text.length && text[k] !== delimiter && !isRowEnd(text, k, crOnly); k++)
    if (text[k] === quote && closes(k + 1)) return k
  return undefined
}

/**
 * Creates a test for cells with a quote, or with another delimiter that is not punctuation or part of a
 * number.
 */
function createForeignTest({ delimiter, quote }: Style): (cell: string) => boolean {
  const foreign = [';', '\t', '|', quote].filter((mark) => mark !== '' && mark !== delimiter)
  return (cell) =>
    foreign.some((mark) => cell.includes(mark)) ||
    (delimiter !== ',' &&
      cell.length < 200 &&
      /,(?! )/.test(cell) &&
      !/^\s*[^\d\s]?\s?[+-]?\d+([.,' ]\d+)*\s*\S?\s*$/.test(cell))
}

/**
 * Returns the cells of a malformed row, and the length and line count of its text; undefined if it cannot be
 * repaired.
 */
function repairRow(
  text: string,
  width: number,
  { delimiter, quote, escape: escaper, skipSpace, crOnly }: Style,
): { row: string[]; length: number; lines: number } | undefined {
  if (!text.includes(quote)) return undefined
  const buf = Buffer.from(`${text}\n`)
  const codes = {
    delimiter: delimiter.charCodeAt(0),
    quote: quote.charCodeAt(0),
    escape: escaper === '' ? -1 : escaper.charCodeAt(0),
  }
  const recordStyle = { ...codes, skipSpace, crOnly }
  if (isWellFormed(buf, 0, buf.length - 1, recordStyle)) return undefined
  const reading = repairRecord(buf, 0, buf.length - 1, { cells: width, width, style: recordStyle })
  if (!reading) return undefined
  const row = reading.starts.map((start, k) => {
    const cell = buf.toString('utf8', start, reading.ends[k] >> 2)
    return reading.ends[k] & ESCAPED ? cell.replaceAll(quote + quote, quote) : cell
  })
  return { row, length: buf.toString('utf8', 0, reading.next).length, lines: reading.lines }
}

/** Maximum number of cells read per row. */
export const MAX_ROW_CELLS = 200_000

/** Returns the index of the next quote or escape character, or the length of the text. */
function indexOfQuote(text: string, quote: string, escaper: string, from: number): number {
  const at = text.indexOf(quote, from)
  const end = at < 0 ? text.length : at
  if (escaper === '') return end
  for (let i = from; i < end; i++) if (text[i] === escaper) return i
  return end
}

function countOccurrences(text: string, c: string, from: number, to: number): number {
  const part = text.slice(from, to)
  let count = 0
  for (let i = part.indexOf(c); i >= 0; i = part.indexOf(c, i + 1)) count++
  return count
}

function isRowEnd(text: string, i: number, crEnds: boolean): boolean {
  return text[i] === '\n' || (text[i] === '\r' && (crEnds || text[i + 1] === '\n'))
}

/** Returns whether a row is not a blank line. */
export function isFilledRow(row: readonly string[]): boolean {
  return row.length > 1 || row[0] !== ''
}
