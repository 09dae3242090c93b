import { listed } from '../../contract/closest.ts'
import type { Bytes } from '../../json/index.ts'
import { type ArchiveLimits, tooMuchUnpacked } from '../archive/archive.ts'
import { chunksOf, spool } from '../archive/spool.ts'
import { isSparse, sparse } from '../delimited/gaps.ts'
import { badData, type Warnings } from '../values/warnings.ts'
import type { Area } from './sheet-range.ts'

/** One sheet, converted to CSV with rows of equal width. */
export interface Sheet {
  name: string
  /** Whether the workbook lists other sheets too. */
  oneOfSeveral: boolean
  csv: Bytes
  /** Columns of all its rows but titles. */
  width: number
}

/** What is known about a sheet once it has been converted. */
export interface SheetSize {
  name: string
  /** The largest number of columns of a row. */
  width: number
  /** Columns at the left that are empty in all rows but titles. */
  left: number
  rows: number
  /** The number of non-empty cells. */
  filled: number
  /** The widths to which rows were padded, each with the offset in bytes at which it begins. */
  widths: { from: number; width: number }[]
}

/** Bytes of CSV that are passed on at once. */
const CHUNK_BYTES = 64 * 1024

/** Writes the rows of a sheet as CSV, in one pass. Rows are padded to the largest width so far, see `padded`. */
export class SheetWriter {
  readonly size: SheetSize
  private out = ''
  private written = 0
  private line = 0
  private wide = false

  constructor(
    name: string,
    private readonly source: string,
    private readonly area: Area,
    /** Counts the bytes of converted text. Throws `bad_data` beyond the limits. */
    private readonly count: (bytes: number) => void,
  ) {
    this.size = { name, width: 0, left: Number.POSITIVE_INFINITY, rows: 0, filled: 0, widths: [] }
  }

  /** Adds a row, of which `count` cells are filled, with its number from 1. `textOf` is the text of a cell. */
  row<Cell>(
    all: readonly (Cell | undefined)[],
    count: number,
    number: number,
    textOf: (cell: Cell | undefined, line: number) => string,
  ): void {
    const {
      rows: [top, bottom],
      columns: [left, right],
    } = this.area
    const { size } = this
    if (number < top || number > bottom) return
    const part = left > 0 || right < all.length - 1
    const row = part ? all.slice(left, right + 1) : all
    const filled = part ? row.filter((cell) => cell !== undefined).length : count
    if (filled === 0) return
    size.rows++
    size.filled += filled
    size.width = Math.max(size.width, row.length)
    // Checked for each row: a few cells far to the right cost a lot to write.
    if (isSparse(size.rows, size.width, size.filled))
      throw sparse(
        `${this.source}, sheet ${size.name}`,
        size.rows,
        size.width,
        'Delete the cells far outside the table, or export the sheet as CSV.',
      )
    // Write blank lines for absent rows, so that line numbers are row numbers.
    this.out += '\n'.repeat(Math.max(0, number - this.line - 1))
    this.line = Math.max(number, this.line + 1)
    const texts = Array.from({ length: size.width }, (_, k) => textOf(row[k], this.line))
    // Write titles above the table as single cells.
    this.wide ||= filled > 1
    if (this.wide)
      size.left = Math.min(
        size.left,
        texts.findIndex((text) => text !== ''),
      )
    if (this.wide && size.widths.at(-1)?.width !== size.width)
      size.widths.push({ from: this.written + Buffer.byteLength(this.out), width: size.width })
    this.out += `${(this.wide || size.width === 1 ? texts : [texts.find((text) => text !== '') ?? '']).map(quoted).join(',')}\n`
  }

  /** What was written since the last call, if it is worth passing on; at the end, all of it. */
  *take(final: boolean): Generator<Uint8Array> {
    if (this.out === '' || (!final && this.out.length < CHUNK_BYTES)) return
    const bytes = Buffer.from(this.out)
    this.count(bytes.length)
    this.written += bytes.length
    this.out = ''
    yield bytes
  }
}

/** Returns a converted sheet, in a temporary file as long as it is read; none if the sheet is empty. */
export async function* spooledSheet(
  rows: Bytes,
  { size }: SheetWriter,
  oneOfSeveral: boolean,
  limits: ArchiveLimits,
  source: string,
  warnings: Warnings,
): AsyncGenerator<Sheet> {
  const csv = await spool(rows, limits.unpacked_bytes, () => tooMuchUnpacked(source, limits))
  try {
    if (size.width === 0) return
    const left = Number.isFinite(size.left) && size.left > 0 && size.left < size.width ? size.left : 0
    if (left > 0)
      warnings.note(
        `sheet ${size.name}: the table begins in column ${columnName(left)}; the empty columns to its left were left out`,
      )
    const whole = padded(chunksOf(csv), size)
    const trimmed = left > 0 ? withoutLeft(whole, left, size.widths[0].from) : whole
    yield { name: size.name, oneOfSeveral, width: size.width - left, csv: trimmed }
  } finally {
    await csv.close()
  }
}

/** Adds empty cells to the rows that were written before the width of the sheet was known. */
async function* padded(csv: Bytes, { width, widths }: SheetSize): AsyncGenerator<Uint8Array> {
  const last = widths.at(-1)
  const [first] = widths
  let at = 0
  let step = 0
  let quoted = false
  let length = 0
  for await (const chunk of csv) {
    if (!last || at >= last.from || at + chunk.length <= first.from) {
      at += chunk.length
      yield chunk
      continue
    }
    const pieces: Uint8Array[] = []
    let from = 0
    for (let k = 0; k < chunk.length; k++) {
      const offset = at + k
      if (offset < first.from) continue
      while (step + 1 < widths.length && widths[step + 1].from <= offset) step++
      if (widths[step].width === width) break
      if (chunk[k] === 0x22) quoted = !quoted
      if (chunk[k] !== 0x0a || quoted) {
        length++
        continue
      }
      if (length > 0) {
        pieces.push(chunk.subarray(from, k), Buffer.from(','.repeat(width - widths[step].width)))
        from = k
      }
      length = 0
    }
    at += chunk.length
    yield Buffer.concat([...pieces, chunk.subarray(from)])
  }
}

/** Returns the letters of a column, from 0: `A`, `Z`, `AA`. */
function columnName(column: number): string {
  const above = Math.floor(column / 26)
  return (above > 0 ? columnName(above - 1) : '') + String.fromCharCode(65 + (column % 26))
}

/** Removes the empty cells at the start of each row, from an offset on. Blank lines have none. */
async function* withoutLeft(csv: Bytes, left: number, from: number): AsyncGenerator<Uint8Array> {
  let at = 0
  let quoted = false
  /** Commas still to be removed from this row. */
  let dropped = left
  for await (const chunk of csv) {
    const out = Buffer.allocUnsafe(chunk.length)
    let size = 0
    for (const c of chunk) {
      const isTable = at++ >= from
      if (isTable && dropped > 0 && c === 0x2c && !quoted) {
        dropped--
        continue
      }
      if (c === 0x22) quoted = !quoted
      if (c === 0x0a && !quoted) dropped = left
      else dropped = 0
      out[size++] = c
    }
    yield out.subarray(0, size)
  }
}

/**
 * Notes sheets without cells, which become no grid. `kind`: what the file is. Throws `bad_data` if no table was found in
 * all of its sheets (`isWhole`), or in the sheet or range that was asked for.
 */
export function noteEmpty(
  kind: 'workbook' | 'spreadsheet',
  { names, found, isWhole }: { names: readonly string[]; found: number; isWhole: boolean },
  source: string,
  warnings: Warnings,
): void {
  if (found === 0)
    throw badData(
      source,
      {},
      isWhole ? `all sheets of the ${kind} are empty` : 'there are no values in this sheet or range',
    )
  if (names.length === 0) return
  const shown = listed(names, 10)
  warnings.note(
    names.length === 1
      ? `sheet ${shown} was skipped: it is empty`
      : `sheets were skipped, which are empty: ${shown}`,
  )
}

/** Notes a formula whose value is not in the file, as libraries write them. `column` counts from 0. */
export function noteUncomputed(line: number, column: number, warnings: Warnings): void {
  const cell = `${columnName(column)}${line}`
  warnings.count(
    'formula',
    line,
    (where) =>
      `formulas without a stored value were read as null: ${where}, the first one in cell ${cell}; open the file in a spreadsheet program and save it, to store them`,
  )
}

/** Hours, minutes and seconds of so many milliseconds, with as many digits as they need: `26:03:04.5`. */
export function clockOf(ms: number): string {
  const all = Math.abs(ms)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const fraction = (all % 1000) / 1000
  const seconds = Math.floor(all / 1000)
  return `${ms < 0 ? '-' : ''}${two(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}${String(fraction).slice(1)}`
}

function quoted(text: string): string {
  return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
