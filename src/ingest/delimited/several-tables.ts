import { once } from '../../json/index.ts'
import { SAMPLE_BYTES, sniff } from '../detect/sniff.ts'
import { utf8 } from '../text/bytes.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { Warnings } from '../values/warnings.ts'

/** Bytes of a text in which several tables are looked for: it is read as a whole. */
export const SEVERAL_BYTES = 1024 * 1024

/** A table of a text: its bytes in UTF-8, and the line where it begins, from 1. */
export interface TablePart {
  bytes: Buffer
  line: number
  /** The line above the table, if it is its title. */
  title: string | undefined
}

/**
 * Returns whether a text has a blank row above a line, as between tables with titles. Delimiters alone are
 * blank.
 */
export function hasBlankRows(text: Buffer): boolean {
  return /\n[,;|\t "]*\r?\n[^\r\n]*[^\r\n,;|\t "]/.test(text.toString('latin1'))
}

interface Row {
  /** Offset of the row in the text. */
  at: number
  line: number
  cells: string[]
  /** The cells that are not empty, without quotes. */
  filled: readonly string[]
}

/** Names that a header needs, and rows below it that must be as wide. */
const MIN_NAMES = 3
const ROWS_BELOW = 5
const FIRST_LINES = 4
const MAX_TITLE_CHARACTERS = 80
/** Lines of one cell in quotes, before the quote is taken for a stray one. */
const MAX_LINES = 20

/**
 * Returns the tables of a text in which one follows another. A table begins with a row of another width than
 * the rows above: distinct names, above at least two rows of its own width, one of which holds a value that
 * is no name. It also begins below a blank row and a title, a row with one cell, with distinct names above a
 * row of its width; two columns of words need two rows. And it begins below a blank row with a header like
 * that of the table above. One part if there is one table.
 */
export async function tablesIn(given: Buffer, options: DelimitedOptions): Promise<TablePart[]> {
  const pieces: Uint8Array[] = []
  for await (const piece of utf8(once(given), options.encoding, options.source ?? 'input', new Warnings()))
    pieces.push(Buffer.from(piece))
  const all = Buffer.concat(pieces)
  const one = [{ bytes: all, line: 1, title: undefined }]
  const head = all.subarray(0, SAMPLE_BYTES)
  const sniffed = (start: Buffer, whole: boolean) =>
    sniff(start, whole, options, new Warnings()).catch(() => undefined)
  // Where the tables are short, all of them together have no dialect: that of the first lines.
  const dialect = (await sniffed(head, head.length === all.length)) ?? (await sniffed(firstLines(head), true))
  if (!dialect || dialect.collapse) return one
  const rows = rowsOf(all.toString('latin1'), dialect.delimiter)
  const known = new Rows(rows)
  // By the place of its header: where each table begins.
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
    const isAlike = header && k > top && isHeaderLike(known, k, header, dialect.headerRows > 0)
    const titled = titleOf(known, k, isAlike || (k === top && dialect.headerRows > 0))
    const isNext = areWide && k >= MIN_NAMES && rows[k].cells.length !== width && isHeader(rows, k)
    if (!titled && !isNext && !(isAlike && rows[k - 1].filled.length === 0)) continue
    if (starts.length === 0 && (!titled || titled !== rows.find((row) => row.filled.length > 0)))
      starts.push({ at: rows[0].at, row: rows[0], title: undefined })
    add(k, titled)
    width = rows[k].cells.length
    header = rows[k]
  }
  if (starts.length < 2) return one
  return starts.map(({ at, row, title }, k) => ({
    // The title is the name of the table.
    bytes: all.subarray(title === undefined ? at : row.at, starts[k + 1]?.at ?? all.length),
    line: row.line,
    title,
  }))
}

/** All rows of a text. Each row is compared with many others: what that needs is computed once, when it is first used. */
class Rows {
  private firstIndexes?: Map<string, number>
  private mostTimes?: { row: Row; count: number }[]

  constructor(readonly all: readonly Row[]) {}

  /** Returns whether a row before row `k` has exactly these cells: the header of a table above. */
  repeats(k: number, names: readonly string[]): boolean {
    this.firstIndexes ??= new Map(
      this.all.map(({ filled }, at) => [filled.join('\0'), at] as const).reverse(),
    )
    return (this.firstIndexes.get(names.join('\0')) ?? k) < k
  }

  /**
   * Returns whether a row other than the header has at least `count` years and days. Rows below a blank row or a title are
   * not counted: they can be headers.
   */
  hasTimes(count: number, header: Row): boolean {
    this.mostTimes ??= this.findMostTimes()
    return this.mostTimes.some((found) => found.row !== header && found.count >= count)
  }

  /** Finds the two rows with the most years and days: one of them can be the header. */
  private findMostTimes(): { row: Row; count: number }[] {
    const most: { row: Row; count: number }[] = []
    for (const [at, row] of this.all.entries()) {
      if (at === 0 || this.all[at - 1].filled.length <= 1) continue
      most.push({ row, count: row.filled.slice(1).filter(isTime).length })
      most.sort((a, b) => b.count - a.count).splice(2)
    }
    return most
  }
}

/**
 * Returns the title above row `k`, if that is the header of a table: a row with one cell, which is the first row or below a
 * blank row. Blank rows can separate title and header. `isKnown`: row `k` is known to be a header.
 */
function titleOf(rows: Rows, k: number, isKnown: boolean): Row | undefined {
  const { all } = rows
  const names = all[k].filled
  const below = all[k + 1].filled
  const isNamed =
    names.length >= 2 && (isKnown || names.every(isName)) && new Set(names).size === names.length
  if (!isNamed || below.length < 2 || all[k].cells.length !== all[k + 1].cells.length) return undefined
  // Two lines of two texts below a word are a note: "prepared by, Ann".
  const isLong =
    names.length > 2 || !below.every(isName) || (k + 2 < all.length && all[k + 2].filled.length >= 2)
  if (!isLong) return undefined
  let above = k - 1
  while (above > 0 && all[above].filled.length === 0) above--
  // Below a table of this width, a title can be that of a section: then a header must look like one.
  const isSection = above > 0 && widthAbove(all, above) === all[k].cells.length
  const hasHeader = (): boolean =>
    isKnown || rows.repeats(above, names) || isHeader(all, k) || isHeaderOfFew(all, k)
  if (isSection && !hasHeader()) return undefined
  const title = all[above].filled
  const isFree = above === 0 || all[above - 1].filled.length === 0
  return title.length === 1 && isFree && isName(title[0]) && title[0].length <= MAX_TITLE_CHARACTERS
    ? all[above]
    : undefined
}

/** Returns the width of the last row above row `k` with more than one cell. */
function widthAbove(rows: readonly Row[], k: number): number {
  for (let at = k - 1; at >= 0; at--) if (rows[at].filled.length > 1) return rows[at].cells.length
  return 0
}

const YEAR = /^(1[5-9]|20)\d\d$/
const DAY = /^\d{1,4}([-./])\d{1,2}\1\d{1,4}$/

/** Returns whether numbers are years in a row, forwards or backwards. */
function areYears(cells: readonly string[]): boolean {
  const step = Number(cells[1]) - Number(cells[0])
  return (
    cells.length > 1 &&
    Math.abs(step) === 1 &&
    cells.every((cell, k) => k === 0 || Number(cell) - Number(cells[k - 1]) === step)
  )
}

/**
 * Returns whether row `k` is the header of a table like the one above: a name of its own, and over the other
 * columns the names of that table, which is known to have a header, or years and days, of which no other row
 * has as many.
 */
function isHeaderLike(rows: Rows, k: number, header: Row, isSure: boolean): boolean {
  const { all } = rows
  const [name = '', ...others] = all[k].filled
  const [first, ...given] = header.filled
  const isNamed = isName(name) && name !== first && all[k].cells[0].trim() !== ''
  if (!isNamed || others.length === 0 || all[k + 1].cells.length !== all[k].cells.length) return false
  const isSame = others.length === given.length && others.every((cell, at) => cell === given[at])
  if (isSame && isSure) return true
  const times = others.filter(isTime)
  const areNames = isSame ? times.length > 0 : areYears(others.filter((cell) => YEAR.test(cell)))
  return (
    areNames &&
    others.every((cell) => isTime(cell) || isName(cell)) &&
    // Rows, and not other headers, which are below blank rows and titles.
    !rows.hasTimes(times.length, header)
  )
}

function isTime(cell: string): boolean {
  return YEAR.test(cell) || DAY.test(cell)
}

/** Returns whether a column of names has values below that are no names. */
function isHeaderOfFew(rows: readonly Row[], k: number): boolean {
  const { cells } = rows[k]
  const below = rows.slice(k + 1, k + 1 + ROWS_BELOW).filter((row) => row.cells.length === cells.length)
  return cells.some(
    (cell, at) =>
      isName(cell) &&
      below.length > 0 &&
      below.every((row) => row.cells[at].trim() !== '' && !isName(row.cells[at])),
  )
}

/** Returns the first lines of a text: a header and a few rows. */
function firstLines(text: Buffer): Buffer {
  let end = 0
  for (let lines = 0; lines < FIRST_LINES && end < text.length; lines++) {
    const next = text.indexOf(0x0a, end)
    end = next < 0 ? text.length : next + 1
  }
  return text.subarray(0, end)
}

function isHeader(rows: readonly Row[], k: number): boolean {
  const { cells } = rows[k]
  if (cells.length < MIN_NAMES) return false
  // A delimiter at the end makes an empty name.
  const names = cells.at(-1)!.trim() === '' ? cells.slice(0, -1) : cells
  if (!names.every(isName) || new Set(names).size !== names.length) return false
  const below = rows.slice(k + 1, k + 1 + ROWS_BELOW)
  if (below.length < 2 || below.some((row) => row.cells.length !== cells.length)) return false
  return below.some((row) => row.cells.some((cell) => !isName(cell) && cell.trim() !== ''))
}

function isName(cell: string): boolean {
  return cell.length < 100 && /[A-Za-z_\u0080-\u00ff]/.test(cell) && !/^\s*[-+]?[\d.,]+\s*$/.test(cell)
}

/** Returns the rows of a text. Quotes hide delimiters and line ends. */
function rowsOf(text: string, delimiter: string): Row[] {
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
    } while (isOpen(row) && end < text.length && lines < MAX_LINES)
    // A stray quote: the line alone.
    if (isOpen(row)) {
      const next = text.indexOf('\n', at)
      end = next < 0 ? text.length : next + 1
      row = text.slice(at, end)
      lines = 1
    }
    const bare = row
      .replace(/\r?\n$/, '')
      .replace(/"(?:[^"]|"")*"/g, (cell) => cell.replaceAll(delimiter, ' '))
    const cells = bare.split(delimiter)
    rows.push({ at, line, cells, filled: cells.map(unquoted).filter((cell) => cell !== '') })
    at = end
    line += lines
  }
  return rows
}

function unquoted(cell: string): string {
  return cell.trim().replace(/^"(.*)"$/s, '$1')
}

function isOpen(row: string): boolean {
  let quotes = 0
  for (let at = row.indexOf('"'); at >= 0; at = row.indexOf('"', at + 1)) quotes++
  return quotes % 2 === 1
}
