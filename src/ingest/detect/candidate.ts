// Reads the first rows of a text with one delimiter, as a candidate of detection.
import { yieldToEventLoop } from '../../json/index.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { isDataValue } from './header.ts'
import { detectStyle, MIN_ROWS } from './quoting.ts'
import { isFilledRow, readSampleRows, type SampleRows, type Style } from './sample-rows.ts'

/** Maximum number of lines with labels and values (`Station,Seattle`) above a table. */
export const MAX_LABEL_LINES = 8

/** The first rows, as read with one delimiter. */
export interface Candidate extends SampleRows {
  style: Style
  /**
   * `width`: the most common number of cells per row. `first`: index of the first row at least that wide.
   * `agreeing`: fraction of rows with that width from there on.
   */
  width: number
  first: number
  agreeing: number
  /** Number of delimiters at the end of every row that the header lacks. */
  trailing: number
}

/** Reads the first rows with one delimiter. `cut`: the last row is incomplete. */
export async function readCandidate(
  text: string,
  delimiter: string,
  crOnly: boolean,
  options: DelimitedOptions,
  cut = false,
): Promise<Candidate> {
  await yieldToEventLoop()
  const style = detectStyle(text, delimiter, crOnly)
  style.quote = options.quote ?? style.quote
  style.escape = options.escape ?? (options.quote === undefined ? style.escape : '')
  await yieldToEventLoop()
  let sample = readSampleRows(text, style, options)
  await yieldToEventLoop()
  if (options.quote === undefined && canBeSingleQuoted(text, sample.rows, style)) {
    const quoted = { ...style, quote: "'" }
    const requoted = readSampleRows(text, quoted, options)
    if (isUniformMultiline(requoted.rows)) {
      style.quote = "'"
      sample = requoted
    }
    await yieldToEventLoop()
  }
  if (style.quote !== '' && !style.collapse) {
    const expected = commonWidthOf(sample.rows)
    const odd = sample.rows.some((row) => row.length !== expected && row.some((cell) => cell.length > 0))
    if (odd && expected > 1 && text.includes(style.quote)) {
      // Rows with stray quotes get the width of the header, if all of them can.
      const [header] = sample.rows.filter((row) => row.length > 1)
      const asHeader =
        header.length < expected ? readSampleRows(text, style, options, header.length) : undefined
      sample = asHeader?.rows.every(
        (row) => row.length === header.length || (row.length === 1 && row[0] === ''),
      )
        ? asHeader
        : readSampleRows(text, style, options, expected)
    }
  }
  if (cut) {
    sample.rows.pop()
    sample.lineIndexes.pop()
  }
  const { rows, trailing } = removeTrailingCells(removeSurplusName(sample.rows))
  const width = rows.some((row) => row.length === options.width) ? options.width! : commonWidthOf(rows)
  // The table starts at the first row that is at least `width` cells wide, even if it is wider.
  let first = rows.findIndex((row) => row.length >= width && (width > 1 || row[0] !== ''))
  if (first < 0) first = 0
  // Lines below the last row of that width are notes, not rows.
  const last = rows.findLastIndex((row) => row.length === width)
  const rest = rows.slice(first, last + 1).filter(isFilledRow)
  const agreeing = rest.filter((row) => row.length === width).length / Math.max(1, rest.length)
  return { ...sample, style, rows, width, first, agreeing, trailing }
}

/**
 * Returns the most common number of cells of a row; of a wider table at the end, its width. Ties go to the
 * larger.
 */
function commonWidthOf(rows: readonly string[][]): number {
  const last = lastTableWidthOf(rows)
  if (last > 0) return last
  const counts = new Map<number, number>()
  for (const row of rows) if (isFilledRow(row)) counts.set(row.length, (counts.get(row.length) ?? 0) + 1)
  let width = 1
  let most = 0
  for (const [length, count] of counts) {
    if (count > most || (count === most && length > width)) {
      width = length
      most = count
    }
  }
  return width
}

/**
 * Returns the width of a table below narrower lines with labels and values; 0 if there is none. The table
 * begins with a header, and all its rows have that width.
 */
function lastTableWidthOf(rows: readonly string[][]): number {
  const filled = rows.filter(isFilledRow)
  const width = filled.at(-1)?.length ?? 0
  const start = filled.findIndex((row) => row.length >= width)
  const [header, ...data] = filled.slice(start)
  const labels = filled.slice(0, start)
  return width > 2 &&
    data.length > 1 &&
    labels.length > 1 &&
    labels.length <= MAX_LABEL_LINES &&
    labels.every((row) => row.filter((cell) => cell.trim() !== '').length <= 2) &&
    header.every((cell) => /\p{L}/u.test(cell) && !isDataValue(cell)) &&
    data.every((row) => row.length === width) &&
    header.some((_, k) => data.every((row) => isDataValue(row[k])))
    ? width
    : 0
}

/** Removes the only empty cell of a first row that has one cell more than all others. */
function removeSurplusName(rows: string[][]): string[][] {
  const [first, ...data] = rows
  const filled = data.filter(isFilledRow)
  const width = (first?.length ?? 0) - 1
  if (width < 1 || filled.length < MIN_ROWS) return rows
  const agreeing = filled.filter((row) => row.length === width).length
  const empty = first.flatMap((cell, k) => (cell.trim() === '' ? [k] : []))
  if (empty.length !== 1 || agreeing < filled.length * 0.9 || filled.some((row) => row.length > width))
    return rows
  return [first.filter((_, k) => k !== empty[0]), ...data]
}

/** Removes trailing empty cells of all rows beyond the width of the header. */
function removeTrailingCells(rows: string[][]): { rows: string[][]; trailing: number } {
  const filled = rows.filter(isFilledRow)
  const [first, ...data] = filled
  const width = first?.length ?? 0
  const length = data[0]?.length ?? 0
  const isUniform = data.length > 0 && data.every((row) => row.length === length)
  // Most rows end in delimiters that the header lacks.
  const common = commonWidthOf(rows)
  const isCut = width > 1 && common > width && !isUniform
  if (isCut && filled.every((row) => row.length <= common && row.slice(width).every((cell) => cell === '')))
    return { rows: rows.map((row) => row.slice(0, width)), trailing: common - width }
  // A delimiter at the end of every row, also of the header, does not make a column.
  if (
    isUniform &&
    width > 2 &&
    length === width &&
    filled.every((row) => row[width - 1] === '') &&
    first[width - 2] !== ''
  )
    return { rows: rows.map((row) => row.slice(0, width - 1)), trailing: 1 }
  if (width < 2 || length <= width || !isUniform) return { rows, trailing: 0 }
  if (!data.every((row) => row.slice(width).every((cell) => cell === ''))) return { rows, trailing: 0 }
  return { rows: rows.map((row) => row.slice(0, width)), trailing: length - width }
}

/** Returns whether rows differ in width perhaps because single-quoted cells hold line ends: `1,'a⏎b',2`. */
function canBeSingleQuoted(
  text: string,
  rows: readonly string[][],
  { delimiter, quote, collapse }: Style,
): boolean {
  if (quote !== '"' || collapse || text.includes('"') || !text.includes(`${delimiter}'`)) return false
  return rows.some((row) => row.length !== rows[0].length)
}

/** Returns whether rows are a uniform table in which cells contain line ends. The last row may be cut off. */
function isUniformMultiline(rows: readonly string[][]): boolean {
  const filled = rows.filter(isFilledRow)
  const [first] = filled
  return (
    filled.length > MIN_ROWS &&
    first.length > 1 &&
    filled.slice(0, -1).every((row) => row.length === first.length) &&
    filled.some((row) => row.some((cell) => cell.includes('\n')))
  )
}
