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
  const { delimiter, quote, escape: escaper, crOnly, skipSpace, collapse } = style
  const rows: string[][] = []
  const at: number[] = []
  const quoted: SampleRows['quoted'] = []
  const isForeign = createForeignTest(style)
  let cells = 0
  let foreign = 0
  let line = 0
  let i = 0
  while (i < text.length && rows.length < MAX_SAMPLE_ROWS) {
    if (comment && text[i] === comment) {
      while (i < text.length && !isRowEnd(text, i, crOnly)) i++
      i += text[i] === '\r' && text[i + 1] === '\n' ? 2 : 1
      line++
      continue
    }
    const row: string[] = []
    const rowStart = { i, line }
    const inQuotes = { count: 0, first: false }
    at.push(line)
    quoted.push(inQuotes)
    if (collapse) while (text[i] === delimiter) i++
    for (;;) {
      if (skipSpace) while (text[i] === ' ') i++
      let cell = ''
      let closed = false
      if (quote !== '' && text[i] === quote) {
        const parts: string[] = []
        let from = ++i
        const opened = i
        for (;;) {
          i = indexOfQuote(text, quote, escaper, i)
          const isEscape = escaper !== '' && text[i] === escaper
          const escaped = text[i + 1] === quote || (isEscape && text[i + 1] === escaper)
          if (escaped) {
            parts.push(text.slice(from, i))
            from = i + 1
            i += 2
          } else if (isEscape && i < text.length) i++
          else break
        }
        if (i >= text.length) i = opened - 1
        else {
          line += countOccurrences(text, crOnly ? '\r' : '\n', opened, i)
          cell = parts.join('') + text.slice(from, i)
          i++
          // Stray quotes inside the cell, if it is closed on its line.
          const end = findStrayEnd(text, i, style)
          if (end !== undefined) {
            cell += text.slice(i - 1, end).replaceAll(quote + quote, quote)
            i = end + 1
          }
          closed = true
          inQuotes.count++
          if (row.length === 0) inQuotes.first = true
        }
      }
      const start = i
      const lacking = (style.closed ?? 0) - row.length
      while (i < text.length && text[i] !== delimiter) {
        const isEnd = isRowEnd(text, i, crOnly)
        if (isEnd && (row.length === 0 || !isContinued(text, i, delimiter, lacking))) break
        if (isEnd && text[i] === '\n') line++
        i++
      }
      cell += text.slice(start, i)
      row.push(cell)
      cells++
      if (!closed && isForeign(cell)) foreign++
      // Over the limit: stop reading.
      if (row.length > MAX_ROW_CELLS)
        return { rows: [...rows, row], lineIndexes: at, quoted, foreignShare: 0 }
      if (text[i] !== delimiter) break
      i++
      if (collapse) {
        while (text[i] === delimiter) i++
        if (i >= text.length || isRowEnd(text, i, crOnly)) break
      }
    }
    if (text[i] === '\r' && text[i + 1] === '\n') i++
    i++
    line++
    const repaired =
      expected !== undefined && row.length !== expected && row.length > 1
        ? repairRow(text.slice(rowStart.i, rowStart.i + MAX_REPAIR_BYTES), expected, style)
        : undefined
    if (repaired) {
      i = rowStart.i + repaired.length
      line = rowStart.line + repaired.lines
    }
    rows.push(repaired?.row ?? row)
  }
  return { rows, lineIndexes: at, quoted, foreignShare: foreign / Math.max(1, cells) }
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
