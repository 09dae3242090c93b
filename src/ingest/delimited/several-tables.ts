// Splits a text with several tables, one below the other.
import { toByteStream } from '../../json/index.ts'
import { SAMPLE_BYTES, sniff } from '../detect/sniff.ts'
import { decodeToUtf8 } from '../text/decode.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { Warnings } from '../values/warnings.ts'

/** Maximum size of a text that is split, since it is held in memory. */
export const MAX_SPLIT_BYTES = 1024 * 1024

/** One table of a text. `line`: line of its first row, from 1. */
export interface TablePart {
  bytes: Buffer
  line: number
  /** The line above the table, if it is a title. */
  title: string | undefined
}

/** Returns whether a text has a blank row above a line, as between tables. Rows of delimiters are blank. */
export function hasBlankRows(text: Buffer): boolean {
  return /\n[,;|\t "]*\r?\n[^\r\n]*[^\r\n,;|\t "]/.test(text.toString('latin1'))
}

interface Row {
  /** Offset of the row in the text. */
  at: number
  line: number
  cells: string[]
  /** Non-empty cells without quotes. */
  filled: readonly string[]
}

/** Minimum names of a header, and number of rows below that are examined. */
const MIN_NAMES = 3
const MAX_ROWS_BELOW = 5
const MAX_FIRST_LINES = 4
const MAX_TITLE_CHARACTERS = 80
/** Maximum number of lines of a quoted cell. After that, the quote is a stray one. */
const MAX_CELL_LINES = 20

/**
 * Splits a text into its tables; one part if there is one table. A new table begins at a header of another
 * width, above at least two rows of that width, one of which has a value that is not a name; or below a blank
 * row and a title (a row with one cell), with distinct names above a row of that width, or two rows for two
 * columns of words; or below a blank row, at a header like that of the previous table.
 */
export async function splitTables(input: Buffer, options: DelimitedOptions): Promise<TablePart[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of decodeToUtf8(
    toByteStream(input),
    options.encoding,
    options.source ?? 'input',
    new Warnings(),
  ))
    chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks)
  const single = [{ bytes: text, line: 1, title: undefined }]
  const head = text.subarray(0, SAMPLE_BYTES)
  const sniffed = (start: Buffer, whole: boolean) =>
    sniff(start, whole, options, new Warnings()).catch(() => undefined)
  // Several short tables may have no common dialect; then the first lines decide.
  const dialect =
    (await sniffed(head, head.length === text.length)) ?? (await sniffed(takeFirstLines(head), true))
  if (!dialect || dialect.collapse) return single
  const rows = parseRows(text.toString('latin1'), dialect.delimiter)
  const rowIndex = new RowIndex(rows)
  // Start, header and title of each table.
  const starts: { at: number; row: Row; title: string | undefined }[] = []
  const add = (k: number, titled: Row | undefined): void => {
    const title = titled && Buffer.from(titled.filled[0], 'latin1').toString('utf8').trim()
    starts.push({ at: (titled ?? rows[k]).at, row: rows[k], title })
  }
  let width = dialect.names.length
  const top = rows.findIndex(({ line }) => line > dialect.preamble)
  let header: Row | undefined = rows[top]
  const areWide = width >= MIN_NAMES && dialect.headerRows > 0
  for (let k = 1; k + 1 < rows.length; k++) {
    const isAlike = header && k > top && isSimilarHeader(rowIndex, k, header, dialect.headerRows > 0)
    const titled = findTitle(rowIndex, k, isAlike || (k === top && dialect.headerRows > 0))
    const isNext = areWide && k >= MIN_NAMES && rows[k].cells.length !== width && isHeaderRow(rows, k)
    if (!titled && !isNext && !(isAlike && rows[k - 1].filled.length === 0)) continue
    if (starts.length === 0 && (!titled || titled !== rows.find((row) => row.filled.length > 0)))
      starts.push({ at: rows[0].at, row: rows[0], title: undefined })
    add(k, titled)
    width = rows[k].cells.length
    header = rows[k]
  }
  if (starts.length < 2) return single
  return starts.map(({ at, row, title }, k) => ({
    // The title becomes the name of the table.
    bytes: text.subarray(title === undefined ? at : row.at, starts[k + 1]?.at ?? text.length),
    line: row.line,
    title,
  }))
}

/** Rows of a text, with indexes that are computed on first use. */
class RowIndex {
  private firstIndexes?: Map<string, number>
  private mostTimes?: { row: Row; count: number }[]

  constructor(readonly all: readonly Row[]) {}

  /** Returns whether `names` are the non-empty cells of a row before row `k`, as of an earlier table's header. */
  hasEarlierRow(k: number, names: readonly string[]): boolean {
    this.firstIndexes ??= new Map(
      this.all.map(({ filled }, at) => [filled.join('\0'), at] as const).reverse(),
    )
    return (this.firstIndexes.get(names.join('\0')) ?? k) < k
  }

  /**
   * Returns whether a row other than the header has at least `count` years and days. Ignores rows below a
   * blank row or title, which can be headers.
   */
  hasRowWithTimes(count: number, header: Row): boolean {
    this.mostTimes ??= this.findMostTimes()
    return this.mostTimes.some((candidate) => candidate.row !== header && candidate.count >= count)
  }

  /** Returns the two rows with the most years and days, since one of them can be the header. */
  private findMostTimes(): { row: Row; count: number }[] {
    const most: { row: Row; count: number }[] = []
    for (const [at, row] of this.all.entries()) {
      if (at === 0 || this.all[at - 1].filled.length <= 1) continue
      most.push({ row, count: row.filled.slice(1).filter(isYearOrDay).length })
      most.sort((a, b) => b.count - a.count).splice(2)
    }
    return most
  }
}

/**
 * Returns the title above row `k` if that row is a header: a row with one cell, which is the first row or
 * below a blank row. Blank rows may separate title and header. `isKnown`: row `k` is known to be a header.
 */
function findTitle(rows: RowIndex, k: number, isKnown: boolean): Row | undefined {
  const { all } = rows
  const names = all[k].filled
  const below = all[k + 1].filled
  const isNamed =
    names.length >= 2 && (isKnown || names.every(isNameLike)) && new Set(names).size === names.length
  if (!isNamed || below.length < 2 || all[k].cells.length !== all[k + 1].cells.length) return undefined
  // Two lines of two texts below a word are a note, as in "prepared by, Ann".
  const isLong =
    names.length > 2 || !below.every(isNameLike) || (k + 2 < all.length && all[k + 2].filled.length >= 2)
  if (!isLong) return undefined
  let above = k - 1
  while (above > 0 && all[above].filled.length === 0) above--
  // Below a table of this width, the title may name a section. Then the header must look like one.
  const isSection = above > 0 && widthAboveOf(all, above) === all[k].cells.length
  const hasHeader = (): boolean =>
    isKnown || rows.hasEarlierRow(above, names) || isHeaderRow(all, k) || isHeaderOverValues(all, k)
  if (isSection && !hasHeader()) return undefined
  const title = all[above].filled
  const isFree = above === 0 || all[above - 1].filled.length === 0
  return title.length === 1 && isFree && isNameLike(title[0]) && title[0].length <= MAX_TITLE_CHARACTERS
    ? all[above]
    : undefined
}

/** Returns the width of the last row above row `k` with more than one cell; 0 if there is none. */
function widthAboveOf(rows: readonly Row[], k: number): number {
  for (let at = k - 1; at >= 0; at--) if (rows[at].filled.length > 1) return rows[at].cells.length
  return 0
}

const YEAR = /^(1[5-9]|20)\d\d$/
const DAY = /^\d{1,4}([-./])\d{1,2}\1\d{1,4}$/

/** Returns whether numbers are consecutive years, ascending or descending. */
function areConsecutiveYears(cells: readonly string[]): boolean {
  const step = Number(cells[1]) - Number(cells[0])
  return (
    cells.length > 1 &&
    Math.abs(step) === 1 &&
    cells.every((cell, k) => k === 0 || Number(cell) - Number(cells[k - 1]) === step)
  )
}

/**
 * Returns whether row `k` is a header like the previous one: another first name, then the same names, or
 * years and days, more than any other row has. `isSure`: the previous row is known to be a header.
 */
function isSimilarHeader(rows: RowIndex, k: number, header: Row, isSure: boolean): boolean {
  const { all } = rows
  const [name = '', ...rest] = all[k].filled
  const [first, ...previous] = header.filled
  const isNamed = isNameLike(name) && name !== first && all[k].cells[0].trim() !== ''
  if (!isNamed || rest.length === 0 || all[k + 1].cells.length !== all[k].cells.length) return false
  const isSame = rest.length === previous.length && rest.every((cell, at) => cell === previous[at])
  if (isSame && isSure) return true
  const times = rest.filter(isYearOrDay)
  const areNames = isSame ? times.length > 0 : areConsecutiveYears(rest.filter((cell) => YEAR.test(cell)))
  return (
    areNames &&
    rest.every((cell) => isYearOrDay(cell) || isNameLike(cell)) &&
    !rows.hasRowWithTimes(times.length, header)
  )
}

function isYearOrDay(cell: string): boolean {
  return YEAR.test(cell) || DAY.test(cell)
}

/** Returns whether a cell of row `k` is a name above cells that all have values and are not names. */
function isHeaderOverValues(rows: readonly Row[], k: number): boolean {
  const { cells } = rows[k]
  const below = rows.slice(k + 1, k + 1 + MAX_ROWS_BELOW).filter((row) => row.cells.length === cells.length)
  return cells.some(
    (cell, at) =>
      isNameLike(cell) &&
      below.length > 0 &&
      below.every((row) => row.cells[at].trim() !== '' && !isNameLike(row.cells[at])),
  )
}

/** Returns the first lines of a text: a header and a few rows. */
function takeFirstLines(text: Buffer): Buffer {
  let end = 0
  for (let lines = 0; lines < MAX_FIRST_LINES && end < text.length; lines++) {
    const next = text.indexOf(0x0a, end)
    end = next < 0 ? text.length : next + 1
  }
  return text.subarray(0, end)
}

/**
 * Returns whether row `k` is a header: distinct names above at least two rows of its width, with a value that
 * is not a name.
 */
function isHeaderRow(rows: readonly Row[], k: number): boolean {
  const { cells } = rows[k]
  if (cells.length < MIN_NAMES) return false
  // A delimiter at the end of the line adds an empty name.
  const names = cells.at(-1)!.trim() === '' ? cells.slice(0, -1) : cells
  if (!names.every(isNameLike) || new Set(names).size !== names.length) return false
  const below = rows.slice(k + 1, k + 1 + MAX_ROWS_BELOW)
  if (below.length < 2 || below.some((row) => row.cells.length !== cells.length)) return false
  return below.some((row) => row.cells.some((cell) => !isNameLike(cell) && cell.trim() !== ''))
}

/** Returns whether a cell can be a column name. */
function isNameLike(cell: string): boolean {
  return cell.length < 100 && /[A-Za-z_\u0080-\u00ff]/.test(cell) && !/^\s*[-+]?[\d.,]+\s*$/.test(cell)
}

/** Parses the rows of a text. Quotes hide delimiters and line ends. */
function parseRows(text: string, delimiter: string): Row[] {
  const rows: Row[] = []
  let line = 1
  for (let at = 0; at < text.length; ) {
    let end = at
    let row = ''
    let lines = 0
    do {
      const next = text.indexOf('\n', end)
      end = next < 0 ? text.length : next + 1
      row = text.slice(at, end)
      lines++
    } while (hasOpenQuote(row) && end < text.length && lines < MAX_CELL_LINES)
    // A stray quote: the row is this line only.
    if (hasOpenQuote(row)) {
      const next = text.indexOf('\n', at)
      end = next < 0 ? text.length : next + 1
      row = text.slice(at, end)
      lines = 1
    }
    const bare = row
      .replace(/\r?\n$/, '')
      .replace(/"(?:[^"]|"")*"/g, (cell) => cell.replaceAll(delimiter, ' '))
    const cells = bare.split(delimiter)
    rows.push({ at, line, cells, filled: cells.map(unquoteCell).filter((cell) => cell !== '') })
    at = end
    line += lines
  }
  return rows
}

function unquoteCell(cell: string): string {
  return cell.trim().replace(/^"(.*)"$/s, '$1')
}

/** Returns whether a row has an odd number of quotes. */
function hasOpenQuote(row: string): boolean {
  let quotes = 0
  for (let at = row.indexOf('"'); at >= 0; at = row.indexOf('"', at + 1)) quotes++
  return quotes % 2 === 1
}
