// Converts sheets of workbooks to CSV.
import { columnLettersOf } from '../../contract/column-letters.ts'
import { formatList } from '../../contract/message-texts.ts'
import type { Bytes } from '../../json/index.ts'
import { type ArchiveLimits, tooMuchUnpackedError } from '../archive/archive.ts'
import { readChunks, spoolToFile } from '../archive/spool.ts'
import { bombError, isBomb } from '../archive/unpack.ts'
import { badFile, type Warnings } from '../values/warnings.ts'
import type { SheetSize, SheetWriter } from './sheet-writer.ts'

/** A sheet converted to CSV, with rows of equal width. */
export interface Sheet {
  name: string
  /** Whether the workbook has other sheets, and all are read. */
  oneOfSeveral: boolean
  csv: Bytes
  /** Number of columns of all rows except titles. */
  width: number
}

/** Surroundings of the sheets that are read from a workbook. */
export interface SheetReading {
  /** Name of the workbook in messages. */
  source: string
  limits: ArchiveLimits
  warnings: Warnings
}

/** Kind and choice of the sheets of a workbook. */
interface SheetChoice {
  kind: 'workbook' | 'spreadsheet'
  oneOfSeveral: boolean
  /** Whether all sheets are read, completely. */
  isWhole: boolean
}

/**
 * Yields the converted sheets that are not empty, and warns about empty ones. Throws `bad_data` if no table
 * was found.
 */
export async function* convertSheets(
  sheets: Iterable<{ writer: SheetWriter; rows: Bytes }>,
  choice: SheetChoice,
  reading: SheetReading,
): AsyncGenerator<Sheet> {
  let found = 0
  const empty: string[] = []
  for (const { writer, rows } of sheets) {
    const before = found
    for await (const sheet of spoolSheet(rows, writer, choice.oneOfSeveral, reading)) {
      found++
      yield sheet
    }
    if (found === before) empty.push(writer.size.name)
  }
  const { source, warnings } = reading
  if (found === 0)
    throw badFile(
      source,
      choice.isWhole ? `all sheets of the ${choice.kind} are empty` : 'no values in this sheet or range',
    )
  const names = formatList(empty, 10)
  if (empty.length > 0)
    warnings.note(
      empty.length === 1
        ? `sheet ${names} was skipped: it is empty`
        : `sheets were skipped, which are empty: ${names}`,
    )
}

/** Yields a converted sheet, in a temporary file while it is read; nothing if the sheet is empty. */
async function* spoolSheet(
  rows: Bytes,
  { size }: SheetWriter,
  oneOfSeveral: boolean,
  { limits, source, warnings }: SheetReading,
): AsyncGenerator<Sheet> {
  const csv = await spoolToFile(rows, limits.unpacked_bytes, () => tooMuchUnpackedError(source, limits))
  try {
    if (size.width === 0) return
    const left = Number.isFinite(size.left) && size.left > 0 && size.left < size.width ? size.left : 0
    if (left > 0)
      warnings.note(
        `sheet ${size.name}: the table begins in column ${columnLettersOf(left)}; the empty columns to its left were skipped`,
      )
    const paddedCsv = padRows(readChunks(csv), size)
    const trimmed = left > 0 ? removeEmptyLeftColumns(paddedCsv, left, size.widths[0].from) : paddedCsv
    yield { name: size.name, oneOfSeveral, width: size.width - left, csv: trimmed }
  } finally {
    await csv.close()
  }
}

/** Appends empty cells to rows that were written before the width of the sheet was known. */
async function* padRows(csv: Bytes, { width, widths }: SheetSize): AsyncGenerator<Uint8Array> {
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
    const parts: Uint8Array[] = []
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
        parts.push(chunk.subarray(from, k), Buffer.from(','.repeat(width - widths[step].width)))
        from = k
      }
      length = 0
    }
    at += chunk.length
    yield Buffer.concat([...parts, chunk.subarray(from)])
  }
}

/**
 * Removes up to `left` empty cells at the start of each row. Bytes before the offset `from` and blank lines
 * pass unchanged.
 */
async function* removeEmptyLeftColumns(csv: Bytes, left: number, from: number): AsyncGenerator<Uint8Array> {
  let at = 0
  let quoted = false
  /** Number of commas still to remove from this row. */
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
 * Creates a function that counts the bytes of converted text. It throws `bad_data` if the workbook is a bomb.
 * `packed`: size of the workbook.
 */
export function createUnpackCounter(
  packed: number,
  { source, limits }: SheetReading,
): (bytes: number) => void {
  let unpacked = 0
  return (bytes) => {
    unpacked += bytes
    if (isBomb(unpacked, packed, limits)) throw bombError(source, limits)
  }
}

/** Throws `bad_data` if a workbook has too many sheets. */
export function limitSheets(count: number, { source, limits: { archive_entries } }: SheetReading): void {
  if (count > archive_entries)
    throw badFile(source, `${count} sheets; the limit is ${archive_entries} (archive_entries)`)
}

/**
 * Warns about a formula whose value is not stored in the file, as some libraries write them. `column`: from
 * 0.
 */
export function noteUncomputedFormula(line: number, column: number, warnings: Warnings): void {
  const cell = `${columnLettersOf(column)}${line}`
  warnings.count(
    'formula',
    line,
    (where) =>
      `formulas without a stored value were read as null: ${where}, the first in cell ${cell}; to store the values, open and save the file in a spreadsheet program`,
  )
}

/** Formats milliseconds as hours, minutes and seconds: `26:03:04.5`. */
export function formatClockMs(ms: number): string {
  const absolute = Math.abs(ms)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const fraction = (absolute % 1000) / 1000
  const seconds = Math.floor(absolute / 1000)
  return `${ms < 0 ? '-' : ''}${two(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}${String(fraction).slice(1)}`
}
