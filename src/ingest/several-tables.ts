import { once } from '../json/index.ts'
import { utf8 } from './bytes.ts'
import type { DelimitedOptions } from './dialect.ts'
import { SAMPLE_BYTES, sniff } from './sniff.ts'
import { Warnings } from './warnings.ts'

/** Bytes of a text in which several tables are looked for: it is read as a whole. */
export const SEVERAL_BYTES = 1024 * 1024

/** A table of a text: its bytes in UTF-8, and the line where it begins, from 1. */
export interface TablePart {
  bytes: Buffer
  line: number
}

interface Row {
  /** Offset of the row in the text. */
  at: number
  line: number
  cells: string[]
}

/** Names that a header needs, and rows below it that must be as wide. */
const FEWEST_NAMES = 3
const ROWS_BELOW = 5
const FIRST_LINES = 4
/** Lines of one cell in quotes, before the quote is taken for a stray one. */
const MOST_LINES = 20

/**
 * The tables of a text in which one follows another. A table begins with a row of another width than the rows above:
 * distinct names, above at least two rows of its own width, one of which holds a value that is no name. One part if
 * there is one table.
 */
export async function tablesIn(given: Buffer, options: DelimitedOptions): Promise<TablePart[]> {
  const pieces: Uint8Array[] = []
  for await (const piece of utf8(once(given), options.encoding, options.source ?? 'input', new Warnings()))
    pieces.push(Buffer.from(piece))
  const all = Buffer.concat(pieces)
  const one = [{ bytes: all, line: 1 }]
  const head = all.subarray(0, SAMPLE_BYTES)
  const sniffed = (start: Buffer, whole: boolean) =>
    sniff(start, whole, options, new Warnings()).catch(() => undefined)
  // Where the tables are short, all of them together have no dialect: that of the first lines.
  const dialect = (await sniffed(head, head.length === all.length)) ?? (await sniffed(firstLines(head), true))
  if (!dialect || dialect.names.length < FEWEST_NAMES || dialect.collapse || dialect.headerRows === 0)
    return one
  const rows = rowsOf(all.toString('latin1'), dialect.delimiter)
  const starts = [rows[0]]
  let width = dialect.names.length
  for (let k = FEWEST_NAMES; k + 2 < rows.length; k++) {
    const { cells } = rows[k]
    if (cells.length === width || !isHeader(rows, k)) continue
    starts.push(rows[k])
    width = cells.length
  }
  if (starts.length === 1) return one
  return starts.map(({ at, line }, k) => ({
    bytes: all.subarray(at, starts[k + 1]?.at ?? all.length),
    line,
  }))
}

/** The first lines of a text: a header and a few rows. */
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
  if (cells.length < FEWEST_NAMES) return false
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

/** The rows of a text. Quotes hide delimiters and line ends. */
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
    } while (isOpen(row) && end < text.length && lines < MOST_LINES)
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
    rows.push({ at, line, cells: bare.split(delimiter) })
    at = end
    line += lines
  }
  return rows
}

function isOpen(row: string): boolean {
  let quotes = 0
  for (let at = row.indexOf('"'); at >= 0; at = row.indexOf('"', at + 1)) quotes++
  return quotes % 2 === 1
}
