// Reads OpenDocument spreadsheets.
import type { Problem } from '../../contract/errors.ts'
import { type ArchiveEntry, type ArchiveLimits, listZipMembers } from '../archive/archive.ts'
import type { SpooledFile } from '../archive/spool.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { badFile, type Warnings } from '../values/warnings.ts'
import {
  convertSheets,
  createUnpackCounter,
  formatClockMs,
  limitSheets,
  noteUncomputedFormula,
  type Sheet,
  type SheetReading,
} from './sheet-csv.ts'
import { findSheet, MAX_SHEET_ROWS, parseRange, WHOLE_SHEET } from './sheet-range.ts'
import { SheetWriter } from './sheet-writer.ts'
import { parsePart, readPart, type XmlTag, type XmlVisitor } from './xml-parts.ts'

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
  const reading = { source, limits, warnings }
  const area = range === undefined ? WHOLE_SHEET : parseRange(range)
  const members = await listZipMembers(spooled, limits, source)
  const content = members.find(({ path }) => path === 'content.xml')
  if (!content) throw badFile(source, 'not a spreadsheet: it has no content.xml')
  // A first pass reads the sheet names, to find the requested one.
  const sheetNames = await readSheetNames(content, source)
  limitSheets(sheetNames.length, reading)
  const count = createUnpackCounter(spooled.size, reading)
  const chosen = requested === undefined ? undefined : findSheet(sheetNames, requested, source)
  const writers = sheetNames.map(({ name }) => new SheetWriter(name, source, area, count))
  const visitor = new RowVisitor(writers, chosen, reading)
  // All sheets are in one part, which is read once. A step can complete several small ones.
  const steps = parsePart(content, source, visitor)
  const readRows = async function* (writer: SheetWriter, k: number): AsyncGenerator<Uint8Array> {
    while (visitor.closed <= k && !(await steps.next()).done) yield* writer.takeBytes(false)
    yield* writer.takeBytes(true)
  }
  const sheets = writers
    .map((writer, k) => ({ writer, rows: readRows(writer, k) }))
    .filter((_, k) => chosen === undefined || k === chosen)
  const isWhole = chosen === undefined && area === WHOLE_SHEET
  const oneOfSeveral = writers.length > 1 && chosen === undefined
  try {
    yield* convertSheets(sheets, { kind: 'spreadsheet', oneOfSeveral, isWhole }, reading)
  } finally {
    await steps.return(undefined)
  }
}

/** Reads the names of all sheets. Throws `bad_data` if the document is not a spreadsheet. */
async function readSheetNames(content: ArchiveEntry, source: string): Promise<{ name: string }[]> {
  const names: { name: string }[] = []
  let isSpreadsheet = false
  let depth = 0
  await readPart(content, source, {
    open({ name, attributes }) {
      if (name === 'office:spreadsheet') isSpreadsheet = true
      if (isSpreadsheet && name === 'table:table' && depth++ === 0)
        names.push({ name: attributes['table:name'] ?? '' })
    },
    close(name) {
      if (isSpreadsheet && name === 'table:table') depth--
    },
  })
  if (isSpreadsheet) return names
  const what = 'this is an OpenDocument file, but not a spreadsheet'
  throw badFile(source, what, 'Export its table as CSV.')
}

/** Passes the non-empty rows of the chosen sheets to their writers. */
class RowVisitor implements XmlVisitor {
  /** Number of completed sheets. */
  closed = 0
  /** Nesting of tables: a cell can contain a table, which is skipped. */
  private depth = 0
  private number = 0
  private repeatedRows = 1
  private row: (string | undefined)[] = []
  private filled = 0
  private size = 0
  private column = 0
  private repeated = 1
  /** Value of the current cell, or the text of its paragraphs. */
  private value: string | undefined
  private paragraphs: string | undefined
  private inParagraph = false
  /** Whether the cell has a formula with an error. */
  private isError = false
  /** Whether the cell has a formula without a value. */
  private isUncomputed = false
  /** Currency of the current cell, and of the first amount of each column. */
  private currency: string | undefined
  private currencies: (string | undefined)[] = []
  /** Nesting of notes and phonetic hints, whose paragraphs do not belong to the cell. */
  private notes = 0

  constructor(
    private readonly writers: readonly SheetWriter[],
    private readonly chosen: number | undefined,
    private readonly reading: SheetReading,
  ) {}

  private isHere(): boolean {
    return this.depth === 1 && (this.chosen === undefined || this.chosen === this.closed)
  }

  open({ name, attributes }: XmlTag): void {
    if (name === 'table:table' && ++this.depth === 1) {
      this.number = 0
      this.currencies = []
    }
    if (!this.isHere()) return
    switch (name) {
      case 'table:table-row':
        this.repeatedRows = parseRepeat(attributes['table:number-rows-repeated'])
        this.row = []
        this.filled = 0
        this.size = 0
        this.column = 0
        break
      case 'table:table-cell':
      case 'table:covered-table-cell':
        this.repeated = parseRepeat(attributes['table:number-columns-repeated'])
        this.value = cellValueOf(attributes)
        this.currency = attributes['office:currency']
        this.isError = attributes['calcext:value-type'] === 'error'
        this.isUncomputed =
          attributes['table:formula'] !== undefined && attributes['office:value-type'] === undefined
        this.paragraphs = undefined
        break
      case 'office:annotation':
      case 'text:ruby-text':
        this.notes++
        break
      case 'text:p':
        if (this.notes > 0) break
        this.addText(this.paragraphs === undefined ? '' : '\n')
        this.inParagraph = true
        break
      case 'text:s':
        this.addInside(' '.repeat(Math.min(1000, parseRepeat(attributes['text:c']))))
        break
      case 'text:tab':
        this.addInside('\t')
        break
      case 'text:line-break':
        this.addInside('\n')
        break
    }
  }

  text(part: string): void {
    if (this.isHere() && this.inParagraph) this.addInside(part)
  }

  close(name: string): void {
    if (name === 'table:table' && --this.depth === 0) this.closed++
    if (!this.isHere()) return
    if (name === 'office:annotation' || name === 'text:ruby-text') this.notes--
    else if (name === 'text:p') this.inParagraph = false
    else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.addCell()
    else if (name === 'table:table-row') this.addRow()
  }

  /** Appends to the text of the cell, if it has a paragraph. */
  private addInside(part: string): void {
    if (this.notes === 0 && this.paragraphs !== undefined) this.addText(part)
  }

  /** Appends to the text of the cell. Many short parts can exceed the limit. */
  private addText(part: string): void {
    this.paragraphs = `${this.paragraphs ?? ''}${part}`
    if (this.paragraphs.length > MAX_CELL_CHARACTERS) throw this.tooLargeError()
  }

  /** Adds the current cell, as often as it is repeated. */
  private addCell(): void {
    const { row, column, repeated } = this
    let cell = this.value ?? this.paragraphs
    if (this.isError || (this.value !== undefined && ERROR_TEXT.test(this.paragraphs ?? ''))) {
      this.reading.warnings.countLine(this.number + 1, 'formula errors were read as null')
      cell = ''
    }
    if (cell === undefined && this.isUncomputed)
      noteUncomputedFormula(this.number + 1, column, this.reading.warnings)
    if (cell !== undefined && cell !== '') {
      this.size += cell.length * Math.max(0, Math.min(repeated, MAX_SHEET_COLUMNS - column))
      if (this.size > MAX_ROW_CHARACTERS) throw this.tooLargeError()
      if (column + repeated > MAX_SHEET_COLUMNS) throw this.beyondSheetError(`${MAX_SHEET_COLUMNS} columns`)
      for (let k = 0; k < repeated; k++) {
        row[column + k] = cell
        this.filled++
        if (this.currency !== undefined) this.checkCurrency(column + k, this.currency)
      }
    }
    this.column += repeated
    this.value = undefined
    this.paragraphs = undefined
  }

  private checkCurrency(column: number, currency: string): void {
    this.currencies[column] ??= currency
    if (currency !== this.currencies[column])
      this.reading.warnings.countLine(
        this.number + 1,
        'amounts in another currency than those above them were read as numbers',
      )
  }

  /** Adds the current row, as often as it is repeated. */
  private addRow(): void {
    const { row, filled, number, repeatedRows } = this
    this.number += repeatedRows
    if (filled === 0) return
    if ((this.size + row.length) * Math.min(repeatedRows, MAX_SHEET_ROWS) > MAX_REPEATED_CHARACTERS)
      throw this.tooLargeError()
    if (number + repeatedRows > MAX_SHEET_ROWS) throw this.beyondSheetError(`${MAX_SHEET_ROWS} rows`)
    for (let k = 0; k < repeatedRows; k++)
      this.writers[this.closed].addRow(row, filled, number + k + 1, (cell) => cell ?? '')
  }

  /** Creates the error for values beyond the size of a sheet, which would be lost. */
  private beyondSheetError(size: string): Problem {
    const { name } = this.writers[this.closed].size
    return badFile(this.reading.source, `sheet ${name} has values beyond ${size}`, 'Export it as CSV.')
  }

  private tooLargeError(): Problem {
    const { name } = this.writers[this.closed].size
    const what = `a row of sheet ${name} is too large, or is repeated too often`
    return badFile(this.reading.source, what, 'Export it as CSV.')
  }
}

/** Texts of formulas with errors. Older programs store the number 0 as their value. */
const ERROR_TEXT = /^(?:#(?:DIV\/0!|N\/A|NAME\?|NULL!|NUM!|REF!|VALUE!)|Err:\d{3})$/

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
function cellValueOf(attributes: Record<string, string>): string | undefined {
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
      return undefined
  }
}
