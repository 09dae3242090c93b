// Reads OpenDocument spreadsheets.
import type { Problem } from '../../contract/errors.ts'
import { type ArchiveLimits, listZipMembers } from '../archive/archive.ts'
import type { SpooledFile } from '../archive/spool.ts'
import { bombError, isBomb } from '../archive/unpack.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { badData, type Warnings } from '../values/warnings.ts'
import {
  formatClockMs,
  noteEmptySheets,
  noteUncomputedFormula,
  type Sheet,
  SheetWriter,
  spoolSheet,
} from './sheet-csv.ts'
import { findSheet, MAX_SHEET_ROWS, parseRange, WHOLE_SHEET } from './sheet-range.ts'
import { parsePart, readPart, type XmlVisitor } from './xml-parts.ts'

/** Maximum number of columns of a sheet. */
const MAX_SHEET_COLUMNS = 16_384
/** Maximum length of a cell. */
const MAX_CELL_CHARACTERS = 8 * 1024 * 1024
/** Maximum length of a row, and of a row with its repetitions, which are written at once. */
const MAX_ROW_CHARACTERS = 16 * 1024 * 1024
const MAX_REPEATED_CHARACTERS = 4 * 1024 * 1024

/** Yields the non-empty sheets of an OpenDocument spreadsheet, in order. */
export async function* readOdsSheets(
  spooled: SpooledFile,
  limits: ArchiveLimits,
  source: string,
  warnings: Warnings,
  { sheet: requested, range }: Pick<DelimitedOptions, 'sheet' | 'range'> = {},
): AsyncGenerator<Sheet> {
  const area = range === undefined ? WHOLE_SHEET : parseRange(range)
  const members = await listZipMembers(spooled, limits, source)
  const content = members.find(({ path }) => path === 'content.xml')
  if (!content) throw badData(source, {}, 'not a spreadsheet: it has no content.xml')
  // A first pass reads the sheet names, to find the requested one.
  const sheetNames: { name: string }[] = []
  let isSpreadsheet = false
  let depth = 0
  await readPart(content, source, {
    open({ name, attributes }) {
      if (name === 'office:spreadsheet') isSpreadsheet = true
      if (isSpreadsheet && name === 'table:table' && depth++ === 0)
        sheetNames.push({ name: attributes['table:name'] ?? '' })
    },
    close(name) {
      if (isSpreadsheet && name === 'table:table') depth--
    },
  })
  if (!isSpreadsheet)
    throw badData(
      source,
      {},
      'this is an OpenDocument file, but not a spreadsheet',
      'Export its table as CSV.',
    )
  if (sheetNames.length > limits.archive_entries)
    throw badData(
      source,
      {},
      `${sheetNames.length} sheets; the limit is ${limits.archive_entries} (archive_entries)`,
    )
  let produced = 0
  const count = (bytes: number): void => {
    produced += bytes
    if (isBomb(produced, spooled.size, limits)) throw bombError(source, limits)
  }
  const chosen = requested === undefined ? undefined : findSheet(sheetNames, requested, source)
  const isRequested = (k: number): boolean => chosen === undefined || k === chosen
  const writers = sheetNames.map(({ name }) => new SheetWriter(name, source, area, count))
  const textOf = (cell: string | undefined): string => cell ?? ''
  const tooLarge = (k: number): Problem =>
    badData(
      source,
      {},
      `a row of sheet ${sheetNames[k].name} is too large, or is repeated too often`,
      'Export it as CSV.',
    )
  const visitor = createRowVisitor(isRequested, warnings, tooLarge, (k, row, filled, number) =>
    writers[k].addRow(row, filled, number, textOf),
  )
  // All sheets are in one part, which is read once. A step can complete several small ones.
  const steps = parsePart(content, source, visitor)
  const rows = async function* (k: number): AsyncGenerator<Uint8Array> {
    while (visitor.closed <= k && !(await steps.next()).done) yield* writers[k].takeBytes(false)
    yield* writers[k].takeBytes(true)
  }
  let sheets = 0
  const empty: string[] = []
  try {
    for (const k of sheetNames.keys()) {
      if (!isRequested(k)) continue
      const oneOfSeveral = sheetNames.length > 1 && chosen === undefined
      const before = sheets
      for await (const sheet of spoolSheet(rows(k), writers[k], oneOfSeveral, limits, source, warnings)) {
        sheets++
        yield sheet
      }
      if (sheets === before && chosen === undefined) empty.push(sheetNames[k].name)
    }
  } finally {
    await steps.return(undefined)
  }
  const isWhole = chosen === undefined && area === WHOLE_SHEET
  noteEmptySheets('spreadsheet', { names: empty, sheets, isWhole }, source, warnings)
}

/**
 * Creates a visitor that calls `take` for each non-empty row of the requested sheets, with sheet, cells,
 * number of filled cells, and row number. Counts completed sheets in `closed`.
 */
function createRowVisitor(
  isRequested: (sheet: number) => boolean,
  warnings: Warnings,
  tooLarge: (sheet: number) => Problem,
  take: (sheet: number, row: (string | undefined)[], filled: number, number: number) => void,
): XmlVisitor & { closed: number } {
  /** Nesting of tables: a cell can contain a table, which is skipped. */
  let depth = 0
  let number = 0
  let repeatedRows = 1
  let row: (string | undefined)[] = []
  let filled = 0
  let size = 0
  let column = 0
  let repeated = 1
  /** Value of the current cell, or the text of its paragraphs. */
  let value: string | undefined
  let text: string | undefined
  let inParagraph = false
  /** Whether the cell has a formula without a value. */
  let isUncomputed = false
  /** Nesting of notes and phonetic hints, whose paragraphs do not belong to the cell. */
  let notes = 0
  const isHere = (): boolean => depth === 1 && isRequested(visitor.closed)
  /** Appends to the text of the cell. Many short parts can exceed the limit. */
  const add = (part: string): void => {
    text = `${text ?? ''}${part}`
    if (text.length > MAX_CELL_CHARACTERS) throw tooLarge(visitor.closed)
  }
  const addCell = (): void => {
    const cell = value ?? text
    if (cell === undefined && isUncomputed) noteUncomputedFormula(number + 1, column, warnings)
    if (cell !== undefined && cell !== '') {
      size += cell.length * Math.max(0, Math.min(repeated, MAX_SHEET_COLUMNS - column))
      if (size > MAX_ROW_CHARACTERS) throw tooLarge(visitor.closed)
      for (let k = 0; k < repeated && column + k < MAX_SHEET_COLUMNS; k++) {
        row[column + k] = cell
        filled++
      }
    }
    column += repeated
  }
  const visitor = {
    closed: 0,
    open({ name, attributes }: Parameters<NonNullable<XmlVisitor['open']>>[0]) {
      if (name === 'table:table' && ++depth === 1) number = 0
      if (!isHere()) return
      switch (name) {
        case 'table:table-row':
          repeatedRows = parseRepeat(attributes['table:number-rows-repeated'])
          row = []
          filled = 0
          size = 0
          column = 0
          break
        case 'table:table-cell':
        case 'table:covered-table-cell':
          repeated = parseRepeat(attributes['table:number-columns-repeated'])
          value = cellValueOf(attributes, number + 1, warnings)
          isUncomputed =
            attributes['table:formula'] !== undefined && attributes['office:value-type'] === undefined
          text = undefined
          break
        case 'office:annotation':
        case 'text:ruby-text':
          notes++
          break
        case 'text:p':
          if (notes > 0) break
          if (text === undefined) text = ''
          else add('\n')
          inParagraph = true
          break
        case 'text:s':
          if (notes === 0 && text !== undefined)
            add(' '.repeat(Math.min(1000, parseRepeat(attributes['text:c']))))
          break
        case 'text:tab':
          if (notes === 0 && text !== undefined) add('\t')
          break
        case 'text:line-break':
          if (notes === 0 && text !== undefined) add('\n')
          break
      }
    },
    text(part: string) {
      if (isHere() && notes === 0 && inParagraph && text !== undefined) add(part)
    },
    close(name: string) {
      if (name === 'table:table' && --depth === 0) visitor.closed++
      if (!isHere()) return
      if (name === 'office:annotation' || name === 'text:ruby-text') notes--
      else if (name === 'text:p') inParagraph = false
      else if (name === 'table:table-cell' || name === 'table:covered-table-cell') {
        addCell()
        value = undefined
        text = undefined
      } else if (name === 'table:table-row') {
        if (
          filled > 0 &&
          (size + row.length) * Math.min(repeatedRows, MAX_SHEET_ROWS) > MAX_REPEATED_CHARACTERS
        )
          throw tooLarge(visitor.closed)
        for (let k = 0; filled > 0 && k < repeatedRows && number + k < MAX_SHEET_ROWS; k++)
          take(visitor.closed, row, filled, number + k + 1)
        number += repeatedRows
      }
    },
  }
  return visitor
}

/** Parses a repeat count: at least 1. */
function parseRepeat(attribute: string | undefined): number {
  const count = Number(attribute ?? 1)
  return Number.isInteger(count) && count > 0 ? count : 1
}

/**
 * Converts an ISO 8601 duration to a clock: `PT6H9M3.5S` is 06:09:03.5, `P1DT2H` is 26:00:00. Durations with
 * months or years, which have no fixed length, are returned unchanged.
 */
function formatDuration(duration = ''): string {
  const match = /^(-?)P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d*)?)S)?)?$/.exec(
    duration,
  )
  if (!match) return duration
  const [days, hours, minutes, seconds] = match.slice(2).map((part = '0') => Number(part.replace(',', '.')))
  const ms = Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
  return formatClockMs(match[1] === '' ? ms : -ms)
}

/**
 * Returns the value of a cell that is not text: numbers unchanged, dates in ISO 8601, times as 10:30:00.
 * undefined for text.
 */
function cellValueOf(
  attributes: Record<string, string>,
  line: number,
  warnings: Warnings,
): string | undefined {
  switch (attributes['office:value-type']) {
    case 'float':
    case 'currency':
    case 'percentage':
      return attributes['office:value']
    case 'boolean':
      return attributes['office:boolean-value']
    case 'date':
      return attributes['office:date-value']?.replace('T', ' ')
    case 'time':
      return formatDuration(attributes['office:time-value'])
    default:
      if (attributes['calcext:value-type'] !== 'error') return undefined
      warnings.count('error', line, (where) => `formula errors were read as null: ${where}`)
      return ''
  }
}
