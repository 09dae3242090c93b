// Detects the dialect, header and column names of delimited text.
import { defaultLimits } from '../../contract/limits.ts'
import { excerpt } from '../../json/index.ts'
import { nameDistinctly } from '../values/column-names.ts'
import type { ColumnProfile, DelimitedOptions, Dialect, FoundStyle, ValueShape } from '../values/dialect.ts'
import { findStyle, isAmbiguousNumber, isJsonNumber, parseStyledNumber } from '../values/number.ts'
import { isTotal } from '../values/total.ts'
import { badData, badFile, Warnings } from '../values/warnings.ts'
import type { Candidate } from './candidate.ts'
import { countHeaderRows, detectHeaderRows, type HeaderRows } from './header.ts'
import { isFilledRow, MAX_ROW_CELLS } from './sample-rows.ts'
import { chooseStyle } from './style.ts'
import { parseDelimiter } from './style-options.ts'
import {
  findTableStart,
  isBlankDelimiter,
  isNumeric,
  refuseNoRows,
  refuseRowsAbove,
  refuseTwoTables,
} from './table-start.ts'
import { isMissingMarker, valueShapeOf } from './value-shape.ts'

/** Maximum size of the sample used for detection. */
export const SAMPLE_BYTES = 256 * 1024

/** Detects the dialect of a text from its beginning. `whole`: `head` is the complete text. */
export async function sniff(
  head: Buffer,
  whole: boolean,
  options: DelimitedOptions,
  warnings: Warnings,
): Promise<Dialect> {
  const source = options.source ?? 'input'
  let text = head.toString('utf8')
  if (!whole) text = text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1)
  const rejectEmpty = (what: string): never => {
    throw badFile(source, what, 'Use a file with a header and rows.')
  }
  if (text.trim() === '')
    rejectEmpty(head.length === 0 ? 'the file is empty' : 'the file contains only whitespace')

  const skip = measureSkippedLines(text, options)
  text = text.slice(skip.length)
  const sepLine = /^"?sep=([\t\x20-\x7e])"?\r?\n/i.exec(text)
  // A declared delimiter that does not occur is wrong.
  const isUsed = sepLine && text.slice(sepLine[0].length).includes(sepLine[1])
  const delimiter = parseDelimiter(options.delimiter) ?? (isUsed ? sepLine[1] : undefined)
  if (sepLine) text = text.slice(sepLine[0].length)
  const sepLines = sepLine ? 1 : 0
  const comment = options.comment ?? (whole ? await detectComment(text, { ...options, delimiter }) : '')
  if (comment !== '' && options.comment === undefined)
    warnings.note(`lines that begin with ${comment} were read as comments; to read them: --comment none`)
  const best = await chooseStyle(text, { ...options, delimiter, comment }, warnings)
  for (const [k, line] of best.lineIndexes.entries()) best.lineIndexes[k] = line + skip.lines
  noteStyle(best, { ...options, delimiter }, warnings)
  if (whole && best.rows.every((row) => row.every((cell) => cell.trim() === '')))
    rejectEmpty('the file contains only empty cells')

  const start = options.header === false ? 0 : findTableStart(best)
  const table = best.rows.slice(start)
  if (start > 0) removeCommentMark(best.rows[start - 1], table, warnings)
  refuseTwoTables(best, start, sepLines, source)
  const preamble = (best.lineIndexes[start] ?? skip.lines) + sepLines
  noteTextAbove(best, start, { from: skip.lines, to: preamble - sepLines }, warnings)
  const header = options.header === undefined ? detectHeaderRows(table) : { count: Number(options.header) }
  const headerRows = header.count
  refuseNoRows(best, { start, headerRows, before: sepLines }, source)
  if (headerRows === 0) refuseRowsAbove(best, { start, before: sepLines }, source)
  if (options.header === undefined) noteHeader(header, table[0], preamble + 1, warnings)
  const line = preamble + 1
  refuseManyColumns(Math.max(table[0]?.length ?? 0, best.agreeing > 0.5 ? best.width : 0), line, options)
  const candidate = { ...best, quoted: best.quoted.slice(start) }
  refuseSplitNumbers(table, headerRows, candidate, { line, source })
  const names = nameColumns(table, header, candidate, warnings)
  // A repeated header is not a row.
  const isRow = (row: string[]): boolean => headerRows === 0 || row.some((cell, k) => cell !== table[0][k])
  const data = table.slice(headerRows).filter(isRow)
  const lineOf = (row: string[]): number => best.lineIndexes[best.rows.indexOf(row)] + 1 + sepLines
  const profile = profileColumns(data, names.length, options, lineOf)
  // In a single column, a value can equal the name.
  const repeated =
    headerRows === 1 && names.length > 1 && table[0].length === names.length ? table[0] : undefined
  return { ...best.style, preamble, headerRows, names, repeated, trailing: best.trailing, comment, profile }
}

/** Warns about the parts of the style that the options do not give. */
function noteStyle({ style, width }: Candidate, options: DelimitedOptions, warnings: Warnings): void {
  if (!options.delimiter && width > 1 && style.delimiter !== ',')
    warnings.note(`delimiter detected: ${delimiterLabel(style.delimiter)}`)
  if (style.quote !== '"' && options.quote === undefined)
    warnings.note(`quote character detected: ${style.quote}`)
  if (style.escape === '\\' && options.escape === undefined)
    warnings.note('escape for quotes inside cells detected: \\"')
  if (style.skipSpace) warnings.note('spaces after delimiters were removed')
}

/** Removes the # of a comment line that holds the names, if the line above it is a comment too. */
function removeCommentMark(above: readonly string[], table: string[][], warnings: Warnings): void {
  const first = table[0]?.[0] ?? ''
  if (!above[0].startsWith('#') || !/^#[\s"]/.test(first)) return
  table[0] = [first.replace(/^#\s*/, '').replace(/^"(.*)"$/, '$1'), ...table[0].slice(1)]
  warnings.note(`the # before the first name was removed: ${excerpt(first)}`)
}

/** Warns about text above the row `start`, on lines [from, to), from 0. */
function noteTextAbove(
  { rows, style }: Candidate,
  start: number,
  { from, to }: { from: number; to: number },
  warnings: Warnings,
): void {
  if (to <= from || rows.slice(0, start).every((row) => row.every((cell) => cell === ''))) return
  const lines = to === from + 1 ? `line ${to} was` : `lines ${from + 1} to ${to} were`
  warnings.note(`${lines} skipped (text above the table): ${excerpt(rows[0].join(style.delimiter))}`)
}

/** Warns about a header that is missing, of numbers only, or not one row. `first`: its first row; `line`: the line of that. */
function noteHeader(
  { count, besides }: HeaderRows,
  first: readonly string[],
  line: number,
  warnings: Warnings,
): void {
  if (count === 0)
    warnings.note(`no header detected in line ${line}; columns are named column_1, column_2, …`)
  // Years can be names, and values.
  if (count === 1 && first.every((name) => /^\d*$/.test(name.trim())))
    warnings.note(
      `line ${line} was read as column names: ${excerpt(first.join(', '))}; to read it as data: --no-header`,
    )
  if (besides !== undefined) {
    const lines = count === 2 ? `line ${line + 1} was` : `lines ${line + 1} to ${line + count - 1} were`
    warnings.note(`${lines} skipped: ${besides}`)
  } else if (count === 2)
    warnings.note(`lines ${line} and ${line + 1} were read as two header rows and joined`)
  else if (count === 3)
    warnings.note(`lines ${line} to ${line + 2} were read as three header rows and joined`)
}

/** Throws `bad_data` if a table has more columns than the limit. */
function refuseManyColumns(
  count: number,
  line: number,
  { source = 'input', limits = defaultLimits }: DelimitedOptions,
): void {
  if (count <= limits.columns) return
  throw badData(
    source,
    { line },
    `${count > MAX_ROW_CELLS ? `more than ${MAX_ROW_CELLS}` : count} columns; the limit is ${limits.columns} (columns)`,
    'Split the file, or turn columns into rows.',
  )
}

/**
 * Returns `#` if lines between the rows begin with it and all others have one width; otherwise an empty
 * string. Needs the complete text, so that no later row is taken for a comment.
 */
async function detectComment(text: string, options: DelimitedOptions): Promise<string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const top = lines.findIndex((line) => !line.startsWith('#'))
  const between = lines.slice(top).filter((line) => line.startsWith('#'))
  if (top < 0 || between.length === 0) return ''
  const plain = await chooseStyle(text, { ...options, comment: '' }, new Warnings())
  const without = await chooseStyle(text, { ...options, comment: '#' }, new Warnings())
  const fits = (line: string): boolean => line.split(without.style.delimiter).length === without.width
  // If the text begins with comments, the last can be the header, and rows can also begin with `#`: `#1,Ann`.
  const above = lines[top - 1]
  const isHeader =
    top > 0 && fits(above) && (/^#\S/.test(above) || countHeaderRows(without.rows.filter(isFilledRow)) === 0)
  if (isHeader || (top > 0 && between.some((line) => /^#\S/.test(line) && fits(line)))) return ''
  const isUniform = (rows: string[][]) =>
    rows.length > 1 && rows.every((row) => row.length === rows[0].length)
  const table = plain.rows.slice(top > 0 ? findTableStart(plain) : 0)
  return without.width > 1 &&
    isUniform(without.rows.filter(isFilledRow)) &&
    (without.width > plain.width || !isUniform(table.filter(isFilledRow)))
    ? '#'
    : ''
}

/** Returns whether a row is empty, or has text in its first cell only. */
function isNote(row: readonly string[]): boolean {
  return row.slice(1).every((cell) => cell.trim() === '')
}

/** Minimum number of rows for a profile. */
const MIN_PROFILE_ROWS = 3

/** Returns the style of the numbers of each column, and markers of missing values that only these columns have. */
function findStyles(columns: readonly (readonly string[])[]): (FoundStyle | undefined)[] {
  const markers = columns.map((cells) => [...new Set(cells.filter(isMissingMarker))])
  let decimalComma: boolean | undefined
  const hasDecimalComma = (): boolean =>
    (decimalComma ??= columns.some((cells) => cells.some((cell) => /^[-+]?\d[\d.\s]*,\d+$/.test(cell))))
  const counts = new Map<string, number>()
  for (const marker of markers.flat()) counts.set(marker, (counts.get(marker) ?? 0) + 1)
  return columns.map((cells, k) => {
    const missing = markers[k]
    const isShared = missing.some((marker) => counts.get(marker)! > 1)
    const known = isShared ? cells : cells.filter((cell) => !missing.includes(cell))
    const style = known.length === 0 ? undefined : findStyle(known)
    if (!style) return undefined
    // Spaces between digits alone do not make commas decimal.
    const isSpaced = style.decimal === ',' && style.thousands === ' ' && !hasDecimalComma()
    return { ...style, decimal: isSpaced ? '.' : style.decimal, missing: isShared ? [] : missing }
  })
}

/** Returns the shape of each column. Texts that would also be missing values in other columns have none. */
function findShapes(columns: readonly (readonly string[])[]): (ValueShape | undefined)[] {
  const shapes = columns.map(valueShapeOf)
  const isShared = (marker: string): boolean =>
    columns.some((cells, k) => cells.includes(marker) && !shapes[k]?.missing?.includes(marker))
  return shapes.map((shape) => (shape?.missing?.some(isShared) ? undefined : shape))
}

/** Returns the properties of the columns in these rows. Ignores notes and rows of another width. */
function profileColumns(
  rows: string[][],
  width: number,
  { numbers: style, nullTexts = [] }: DelimitedOptions,
  lineOf: (row: string[]) => number,
): ColumnProfile {
  const isMissing = (cell: string): boolean => cell === '' || cell === '\\N' || nullTexts.includes(cell)
  const complete = rows.filter((row) => row.length === width && (width === 1 || !isNote(row)))
  const hasEnough = complete.length >= MIN_PROFILE_ROWS
  const columns = Array.from({ length: width }, (_, k) => complete.map((row) => row[k].trim()))
  const knownOf = (part: string[][]): string[][] =>
    Array.from({ length: width }, (_, k) =>
      part.map((row) => row[k].trim()).filter((cell) => !isMissing(cell)),
    )
  const present = knownOf(complete)
  const endsInTotal =
    complete.length > 2 && isTotal(complete.at(-1)!.find((cell) => cell.trim() !== '') ?? '')
  return {
    filled: columns.map((cells) => hasEnough && cells.every((cell) => cell !== '')),
    numeric: columns.map(
      (cells) =>
        hasEnough &&
        cells.some((cell) => cell !== '') &&
        cells.every((cell) => cell === '' || isNumeric(cell)),
    ),
    styled: present.map(
      (cells) => style !== undefined && cells.every((cell) => parseStyledNumber(cell, style) !== undefined),
    ),
    styles: findStyles(present),
    grouped: present.map((cells) => findGrouped(cells, (cell) => cell)),
    pointed: present.map((cells) => cells.some((cell) => cell.includes('.'))),
    spaced: complete.some((row) => row.some((cell, k) => k > 0 && cell.startsWith(' '))),
    groupedAmounts: present.map((cells) => findGrouped(cells, (cell) => cell.replaceAll(/[^\d.,-]/g, ''))),
    shapes: findShapes(endsInTotal ? knownOf(complete.slice(0, -1)) : present),
    endsInTotal,
    nonNumbers: columns.map((cells, k) => {
      const isNumber = (cell: string): boolean =>
        style === undefined ? isJsonNumber(cell) : parseStyledNumber(cell, style) !== undefined
      const odd = cells.flatMap((cell, row) => (isMissing(cell) || isNumber(cell) ? [] : [row]))
      // Digits that are not JSON numbers are identifiers: 007.
      const isOdd = odd.length > 0 && !odd.some((row) => /^\d+$/.test(cells[row]))
      const numbers = present[k].length - odd.length
      // Who gives a style expects numbers.
      const minNumbers = style === undefined ? MIN_PROFILE_ROWS : 1
      return isOdd && numbers >= minNumbers && numbers >= odd.length * 2
        ? odd.map((row) => ({ line: lineOf(complete[row]), text: cells[row] }))
        : undefined
    }),
  }
}

/** Returns the first cell with a point, if in all of those, as `numberOf` returns them, the point can separate thousands. */
function findGrouped(cells: readonly string[], numberOf: (cell: string) => string): string | undefined {
  const pointed = cells.filter((cell) => cell.includes('.'))
  return pointed.every((cell) => isAmbiguousNumber(numberOf(cell))) ? pointed[0] : undefined
}

/** Returns the length and number of the first lines to skip, by the options. */
function measureSkippedLines(
  text: string,
  { skip = 0, comment }: DelimitedOptions,
): { length: number; lines: number } {
  let length = 0
  let lines = 0
  while (length < text.length && (lines < skip || (comment && text[length] === comment))) {
    const end = text.indexOf('\n', length)
    length = end < 0 ? text.length : end + 1
    lines++
  }
  return { length, lines }
}

/** Returns the name of a delimiter for messages. */
function delimiterLabel(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : delimiter === ' ' ? 'space' : delimiter
}

/** Returns unique column names from the header rows, and warns about missing and duplicate ones. */
function nameColumns(
  table: string[][],
  { count: headerRows, besides }: HeaderRows,
  { width, style, quoted }: Candidate,
  warnings: Warnings,
): string[] {
  const header = table.slice(0, headerRows)
  const rowsAgree =
    table.length > headerRows &&
    table.slice(headerRows).filter((row) => row.length === width).length * 2 > table.length - headerRows
  let cells = header[0] ?? []
  if (headerRows === 0)
    cells = Array.from({ length: rowsAgree ? width : Math.max(...table.map((row) => row.length)) }, () => '')
  else if (
    rowsAgree &&
    cells.length === width - 1 &&
    isWrittenByR({ style, quoted }, table.length) &&
    areRowNames(table.slice(headerRows), width)
  ) {
    cells = ['', ...cells]
    warnings.note(
      'the header has one name fewer than the rows have cells; the first column was read as row names',
    )
  } else if (rowsAgree && cells.length < width) {
    warnings.note(`the header has ${cells.length} names for ${width} columns; the last columns have no name`)
    cells = [...cells, ...Array.from({ length: width - cells.length }, () => '')]
  }
  if (headerRows > 1 && besides === undefined) {
    const rows = [fillRight(cells), ...header.slice(1)]
    cells = cells.map((_, k) => rows.flatMap((row) => row[k]?.trim() || []).join(' '))
  }
  const trimmed = cells.map((cell) => cell.trim())
  return nameDistinctly(trimmed, headerRows > 0 ? warnings : undefined)
}

/**
 * Returns whether the table looks like one written by R: separated by white space, or with quoted row names.
 */
function isWrittenByR({ style, quoted }: Pick<Candidate, 'style' | 'quoted'>, rows: number): boolean {
  return isBlankDelimiter(style.delimiter) || quoted.slice(0, rows).every(({ first }) => first)
}

/**
 * Throws `bad_data` if rows have more cells than the header because numbers seem to contain the delimiter, as
 * in 1,234 or 2,50.
 */
function refuseSplitNumbers(
  table: string[][],
  headerRows: number,
  { style, width, quoted }: Candidate,
  { line, source }: { line: number; source: string },
): void {
  const header = table[0]
  const rows = table.slice(headerRows).filter((row) => row.length === width)
  if (style.delimiter !== ',' || headerRows === 0 || header.length >= width || rows.length === 0) return
  if (isWrittenByR({ style, quoted }, table.length)) return
  const [first] = rows
  const pair = first.findIndex((_, k) => {
    const length = first[k + 1]?.length
    const isSplit = (row: string[]): boolean =>
      /^\s*-?\d+$/.test(row[k]) && /^\d{1,3}$/.test(row[k + 1]) && row[k + 1].length === length
    return k + 1 < width && rows.every(isSplit)
  })
  if (pair < 0) return
  throw badData(
    source,
    { line: line + headerRows },
    `${width} cells where the header has ${header.length} names; ${first[pair]},${first[pair + 1]} may be one number: ${excerpt(first.join(','))}`,
    'Put quotes around numbers that contain commas, separate the cells with another delimiter, or give every column a name.',
  )
}

/** Returns whether the first column holds row names: all distinct, and the last column is not empty. */
function areRowNames(rows: readonly string[][], width: number): boolean {
  const complete = rows.filter((row) => row.length === width)
  const names = complete.map((row) => row[0].trim())
  return new Set(names).size === names.length && !complete.every((row) => row[width - 1] === '')
}

/** Fills empty cells with the name to their left, since a name over several columns is in the first only. */
function fillRight(cells: string[]): string[] {
  let last = ''
  return cells.map((cell, k) => (cell.trim() === '' && k > 0 ? last : (last = cell)))
}
