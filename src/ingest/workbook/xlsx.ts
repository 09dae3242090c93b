// Reads XLSX workbooks.
import type { Problem } from '../../contract/errors.ts'
import { formatBytes } from '../../contract/limits.ts'
import { excerpt } from '../../json/index.ts'
import { type ArchiveEntry, type ArchiveLimits, listZipMembers } from '../archive/archive.ts'
import type { SpooledFile } from '../archive/spool.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { badData, badFile, type Warnings } from '../values/warnings.ts'
import { type NumberFormat, readCellFormats } from './number-formats.ts'
import { type Cell, PlainRows, SharedTexts, type SheetPosition } from './plain-rows.ts'
import { PlainStrings } from './plain-strings.ts'
import {
  convertSheets,
  createUnpackCounter,
  formatClockMs,
  limitSheets,
  noteUncomputedFormula,
  type Sheet,
  type SheetReading,
} from './sheet-csv.ts'
import { columnIndexOf, findSheet, MAX_SHEET_ROWS, parseRange, WHOLE_SHEET } from './sheet-range.ts'
import { SheetWriter } from './sheet-writer.ts'
import { localNameOf, parsePart, readPart, type XmlVisitor } from './xml-parts.ts'

/** Maximum size of a workbook's shared strings, which are held in memory. */
const MAX_SHARED_STRINGS_BYTES = 64 * 1024 * 1024
/** Maximum length of a cell. */
const MAX_CELL_CHARACTERS = 8 * 1024 * 1024
const DAY_MS = 86_400_000

interface Workbook {
  texts: SharedTexts
  /** Number format by cell style. */
  dates: NumberFormat[]
  from1904: boolean
}

/**
 * Yields the non-empty sheets of an XLSX workbook, in order. Each is parsed when the previous one has been
 * consumed.
 */
export async function* readXlsxSheets(
  spooled: SpooledFile,
  limits: ArchiveLimits,
  source: string,
  warnings: Warnings,
  { sheet: requested, range }: Pick<DelimitedOptions, 'sheet' | 'range'> = {},
): AsyncGenerator<Sheet> {
  const reading = { source, limits, warnings }
  const area = range === undefined ? WHOLE_SHEET : parseRange(range)
  const members = new Map(
    (await listZipMembers(spooled, limits, source)).map((member) => [normalizePartName(member.path), member]),
  )
  const part = (path: string): ArchiveEntry | undefined =>
    members.get(normalizePartName(path)) ?? members.get(normalizePartName(decodePath(path)))
  const mainPath =
    (await readRelations(part('_rels/.rels'), '', source)).find(({ kind }) => kind === 'officeDocument')
      ?.path ?? 'xl/workbook.xml'
  const main = part(mainPath)
  if (!main) throw badFile(source, 'not a workbook: it has no main part')
  const { entries, from1904 } = await readMainPart(main, source)
  limitSheets(entries.length, reading)
  const folder = mainPath.slice(0, mainPath.lastIndexOf('/') + 1)
  const relations = await readRelations(
    part(`${folder}_rels/${mainPath.slice(folder.length)}.rels`),
    folder,
    source,
  )
  const pathOf = (kind: string): string | undefined => relations.find((one) => one.kind === kind)?.path
  const stylesPath = pathOf('styles')
  const styles = part(stylesPath ?? `${folder}styles.xml`)
  if (stylesPath !== undefined && !styles) throw missingPart(stylesPath, source)
  const book: Workbook = {
    texts: new SharedTexts(
      await readSharedStrings(part(pathOf('sharedStrings') ?? `${folder}sharedStrings.xml`), source),
      source,
    ),
    dates: await readCellFormats(styles, source),
    from1904,
  }
  const chosen = requested === undefined ? undefined : findSheet(entries, requested, source)
  const count = createUnpackCounter(spooled.size, reading)
  const sheets = entries.flatMap(({ name, id }, k) => {
    const relation = relations.find((candidate) => candidate.id === id)
    const path = relation?.path ?? `${folder}worksheets/sheet${k + 1}.xml`
    const member = part(path)
    // Skips chart sheets and dialogs.
    const isSheet = relation?.kind ? relation.kind === 'worksheet' : path.includes('worksheets/')
    if (!isSheet || (chosen !== undefined && k !== chosen)) return []
    if (!member && relation) throw missingPart(relation.path, source)
    if (!member) return []
    const writer = new SheetWriter(name, source, area, count)
    return [{ writer, rows: convertSheet(member, writer, book, reading) }]
  })
  const isWhole = chosen === undefined && area === WHOLE_SHEET
  const oneOfSeveral = entries.length > 1 && chosen === undefined
  yield* convertSheets(sheets, { kind: 'workbook', oneOfSeveral, isWhole }, reading)
}

/** Creates the error for a part that the workbook names, but does not have. */
function missingPart(path: string, source: string): Problem {
  return badFile(source, `the workbook is damaged: its part ${excerpt(path)} is missing`)
}

/** Reads the names and relation ids of the sheets, and whether days count from 1904. */
async function readMainPart(
  main: ArchiveEntry,
  source: string,
): Promise<{ entries: { name: string; id: string }[]; from1904: boolean }> {
  const entries: { name: string; id: string }[] = []
  let from1904 = false
  await readPart(main, source, {
    open({ name, attributes }) {
      if (localNameOf(name) === 'sheet')
        entries.push({ name: attributes.name ?? '', id: attributes['r:id'] ?? attributes.id ?? '' })
      if (name === 'workbookPr' || (localNameOf(name) === 'workbookPr' && attributes.date1904 !== undefined))
        from1904 = /^(1|true)$/.test(attributes.date1904 ?? '')
    },
  })
  return { entries, from1904 }
}

/** Decodes the path of a relation, which is a URI; others stay as they are. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Normalizes a part name: `/` as separator, no leading `/`, lower case. */
function normalizePartName(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase()
}

/** Reads the relations of a part: id, path, and the last word of the relation's type. */
async function readRelations(
  member: ArchiveEntry | undefined,
  folder: string,
  source: string,
): Promise<{ id: string; path: string; kind: string }[]> {
  const relations: { id: string; path: string; kind: string }[] = []
  if (!member) return relations
  await readPart(member, source, {
    open({ name, attributes }) {
      if (localNameOf(name) !== 'Relationship' || attributes.TargetMode === 'External') return
      const target = (attributes.Target ?? '').replaceAll('\\', '/')
      const names: string[] = []
      for (const step of `${target.startsWith('/') ? '' : folder}${target}`.split('/'))
        if (step === '..') names.pop()
        else if (step !== '' && step !== '.') names.push(step)
      const kind = (attributes.Type ?? '').split('/').at(-1)!
      relations.push({ id: attributes.Id ?? '', path: names.join('/'), kind })
    },
  })
  return relations
}

/** Reads the shared strings, which cells refer to by index. Skips phonetic hints. */
async function readSharedStrings(member: ArchiveEntry | undefined, source: string): Promise<string[]> {
  const texts: string[] = []
  if (!member) return texts
  let current = ''
  let inText = false
  let hint = 0
  let size = 0
  const addSize = (text: string): void => {
    size += text.length
    if (size > MAX_SHARED_STRINGS_BYTES)
      throw badFile(
        source,
        `more than ${formatBytes(MAX_SHARED_STRINGS_BYTES)} of text`,
        'Export its sheets as CSV.',
      )
  }
  const visitor: XmlVisitor = {
    open({ name }) {
      const tag = localNameOf(name)
      if (tag === 'si') current = ''
      else if (tag === 't') inText = hint === 0
      else if (tag === 'rPh') hint++
    },
    text(text) {
      if (!inText) return
      current += text
      addSize(text)
    },
    close(name) {
      const tag = localNameOf(name)
      if (tag === 'si') texts.push(unescapeText(current))
      else if (tag === 't') inText = false
      else if (tag === 'rPh') hint--
    },
  }
  const plain = new PlainStrings((text) => {
    addSize(text)
    texts.push(unescapeText(text))
  })
  await readPart(member, source, visitor, plain)
  return texts
}

/** Decodes characters that XML cannot contain, and escaped underscores: `_x000D_`, `_x005F_`. */
function unescapeText(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text
}

/**
 * Creates a visitor that calls `take` for each non-empty row, with cells by column, number of filled cells,
 * and row number.
 */
function createCellVisitor(
  take: (row: (Cell | undefined)[], filled: number, number: number) => void,
  noValue: (number: number, column: number) => void,
  tooLong: (number: number) => Problem,
  position: SheetPosition,
): XmlVisitor {
  let row: (Cell | undefined)[] = []
  let filled = 0
  let column = -1
  let cell: Cell | undefined
  let inValue = false
  /** Nesting of phonetic hints, whose texts do not belong to the cell. */
  let hint = 0
  let hasFormula = false
  return {
    open({ name, attributes }) {
      const tag = localNameOf(name)
      if (tag === 'row') {
        row = []
        filled = 0
        column = -1
        // Empty rows are absent in the file, so the row number is used if it is plausible.
        const rowNumber = Number(attributes.r)
        const { number } = position
        position.number = rowNumber > number && rowNumber <= MAX_SHEET_ROWS ? rowNumber : number + 1
      } else if (tag === 'c') {
        column = attributes.r ? columnIndexOf(attributes.r) : column + 1
        cell = { type: attributes.t ?? 'n', style: Number(attributes.s ?? -1), text: '' }
        hasFormula = false
      } else if (tag === 'f') hasFormula = true
      else if (tag === 'rPh') hint++
      if ((tag === 't' && hint === 0) || (tag === 'v' && cell?.type !== 'inlineStr')) {
        inValue = true
      }
    },
    text(text) {
      if (!inValue || !cell) return
      cell.text += text
      // Many short runs can exceed the limit.
      if (cell.text.length > MAX_CELL_CHARACTERS) throw tooLong(position.number)
    },
    close(name) {
      const tag = localNameOf(name)
      if (tag === 'v' || tag === 't') inValue = false
      else if (tag === 'rPh') hint--
      else if (tag === 'c') {
        if (cell && cell.text !== '' && column >= 0 && column < 16_384) {
          row[column] = cell
          filled++
        } else if (hasFormula && cell?.type !== 'str') noValue(position.number, column)
        cell = undefined
      } else if (tag === 'row' && row.length > 0) take(row, filled, position.number)
    },
  }
}

/** Converts a sheet to CSV. */
async function* convertSheet(
  member: ArchiveEntry,
  writer: SheetWriter,
  book: Workbook,
  { source, warnings }: SheetReading,
): AsyncGenerator<Uint8Array> {
  const position = { number: 0 }
  const textOf = (cell: Cell | undefined, line: number): string => formatCell(cell, book, line, warnings)
  const noValue = (line: number, column: number): void => noteUncomputedFormula(line, column, warnings)
  const tooLong = (line: number): Problem =>
    badData(
      source,
      { line },
      `a cell has more than ${formatBytes(MAX_CELL_CHARACTERS)} of text`,
      'Export the sheet as CSV.',
    )
  const visitor = createCellVisitor(
    (row, filled, number) => writer.addRow(row, filled, number, textOf),
    noValue,
    tooLong,
    position,
  )
  const plain = new PlainRows(position, writer, {
    isPlainStyle: (style) => book.dates[style] === undefined,
    shared: book.texts,
    textOf,
  })
  for await (const _ of parsePart(member, source, visitor, plain)) yield* writer.takeBytes(false)
  yield* writer.takeBytes(true)
}

/** Converts a cell to text: numbers in their shortest exact form, dates in ISO 8601. */
function formatCell(cell: Cell | undefined, book: Workbook, line: number, warnings: Warnings): string {
  if (!cell) return ''
  const { type, style, text } = cell
  switch (type) {
    case 's':
      return text === '' ? '' : book.texts.get(Number(text))
    case 'b':
      return text === '1' ? 'true' : 'false'
    case 'e':
      warnings.count(
        'error',
        line,
        (where) => `formula errors (for example ${excerpt(text)}) were read as null: ${where}`,
      )
      return ''
    case 'n': {
      const number = Number(text)
      if (!Number.isFinite(number)) return text
      const kind = book.dates[style]
      if (typeof kind === 'number') return padWithZeros(number, kind, line, warnings)
      if (kind) return formatSerialDate(number, kind, book.from1904, () => noteDayZero(line, warnings))
      // Integers with more digits than a double can represent are kept.
      return /^-?\d{16,}$/.test(text) ? text : String(number)
    }
    default:
      return unescapeText(text)
  }
}

/** Formats an integer with the leading zeros that the workbook displays. */
function padWithZeros(number: number, width: number, line: number, warnings: Warnings): string {
  if (!Number.isInteger(number) || number < 0) return String(number)
  warnings.countLine(line, 'numbers with a format of zeros were read as text with leading zeros')
  return String(number).padStart(width, '0')
}

function noteDayZero(line: number, warnings: Warnings): void {
  warnings.countLine(line, 'dates of day 0, which does not exist, were read as null or as their time')
}

/**
 * Formats a serial date as date, time or both: days since 1900, with Excel's non-existent leap day, or since
 * 1904. Calls `dayless` for day 0, which is before the first day of 1900.
 */
function formatSerialDate(
  serial: number,
  kind: 'date' | 'timestamp' | 'time' | 'duration',
  from1904: boolean,
  dayless: () => void,
): string {
  const ms = Math.round(serial * DAY_MS)
  if (kind === 'duration' || (kind === 'time' && serial < 1)) return formatClockMs(ms)
  if (serial >= 0 && serial < 1 && !from1904) {
    dayless()
    return ms === 0 ? '' : formatClockMs(ms)
  }
  const first = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30)
  const at = new Date(first + ms)
  const iso = Number.isNaN(at.getTime()) ? '' : at.toISOString()
  // A date has a year of four digits.
  if (!/^\d{4}-/.test(iso)) return String(serial)
  if (kind !== 'timestamp' && ms % DAY_MS === 0) return iso.slice(0, 10)
  return `${iso.slice(0, 10)}${kind === 'timestamp' ? 'T' : ' '}${iso.slice(11, ms % 1000 === 0 ? 19 : 23)}`
}
