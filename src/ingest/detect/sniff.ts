import { defaultLimits } from '../../contract/limits.ts'
import { excerpt } from '../../json/index.ts'
import type { ColumnProfile, DelimitedOptions, Dialect } from '../values/dialect.ts'
import { isGrouped, isJsonNumber, styledNumber, writtenIn } from '../values/number.ts'
import { isTotal } from '../values/total.ts'
import { badData, Warnings } from '../values/warnings.ts'
import type { Candidate } from './candidate.ts'
import { givenDelimiter } from './given.ts'
import { countHeaderRows, type HeaderRows, headerRowsOf } from './header.ts'
import { lookOf } from './looks.ts'
import { MAX_CELLS } from './sample-rows.ts'
import { chooseStyle } from './style.ts'
import { findTableStart, isBlankDelimiter, isNumeric, refuseNoRows, refuseTwoTables } from './table-start.ts'

/** The sample used for detection, in bytes. */
export const SAMPLE_BYTES = 256 * 1024
/** Detects the dialect of a text from its beginning. `whole`: `head` is the whole text. */
export async function sniff(
  head: Buffer,
  whole: boolean,
  options: DelimitedOptions,
  warnings: Warnings,
): Promise<Dialect> {
  const source = options.source ?? 'input'
  let text = head.toString('utf8')
  if (!whole) text = text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1)
  if (text.trim() === '' && head.length === 0)
    throw badData(source, {}, 'the file is empty', 'Use a file with a header and rows.')
  if (text.trim() === '')
    throw badData(source, {}, 'the file contains only whitespace', 'Use a file with a header and rows.')

  const skip = linesToSkip(text, options)
  text = text.slice(skip.length)
  const told = /^"?sep=([\t\x20-\x7e])"?\r?\n/i.exec(text)
  // One that is nowhere else is wrong.
  const isUsed = told && text.slice(told[0].length).includes(told[1])
  const delimiter = givenDelimiter(options.delimiter) ?? (isUsed ? told[1] : undefined)
  if (told) text = text.slice(told[0].length)
  const comment = options.comment ?? (whole ? await commentIn(text, { ...options, delimiter }) : '')
  if (comment !== '' && options.comment === undefined)
    warnings.note(`lines that begin with ${comment} were read as comments; to read them: --comment none`)
  const best = await chooseStyle(text, { ...options, delimiter, comment }, warnings)
  for (const [k, line] of best.at.entries()) best.at[k] = line + skip.lines
  if (!delimiter && best.width > 1 && best.style.delimiter !== ',')
    warnings.note(`delimiter detected: ${named(best.style.delimiter)}`)
  if (best.style.quote !== '"' && options.quote === undefined)
    warnings.note(`quote character detected: ${best.style.quote}`)
  if (best.style.escape === '\\' && options.escape === undefined)
    warnings.note('escape for quotes inside cells detected: \\"')
  if (best.style.skipSpace) warnings.note('spaces after delimiters were removed')

  if (whole && best.rows.every((row) => row.every((cell) => cell.trim() === '')))
    throw badData(source, {}, 'the file contains only empty cells', 'Use a file with a header and rows.')

  // If the first line is data, nothing is above the table.
  const start = options.header === false ? 0 : findTableStart(best)
  const table = best.rows.slice(start)
  const first = table[0]?.[0] ?? ''
  // The last of several comments has the names.
  if (start > 0 && best.rows[start - 1][0].startsWith('#') && /^#[\s"]/.test(first)) {
    table[0] = [first.replace(/^#\s*/, '').replace(/^"(.*)"$/, '$1'), ...table[0].slice(1)]
    warnings.note(`the # before the first name was left out: ${excerpt(first)}`)
  }
  refuseTwoTables(best, start, told ? 1 : 0, source)
  const preamble = (best.at[start] ?? skip.lines) + (told ? 1 : 0)
  const skipped = preamble - skip.lines - (told ? 1 : 0)
  if (skipped > 0 && best.rows.slice(0, start).some((row) => row.some((cell) => cell !== ''))) {
    warnings.note(
      `${skipped === 1 ? `line ${skip.lines + 1} was` : `lines ${skip.lines + 1} to ${skip.lines + skipped} were`} skipped (text above the table): ${excerpt(best.rows[0].join(best.style.delimiter))}`,
    )
  }
  const header = options.header === undefined ? headerRowsOf(table) : { count: Number(options.header) }
  const headerRows = header.count
  refuseNoRows(best, { start, headerRows, before: told ? 1 : 0 }, source)
  if (headerRows === 0 && options.header === undefined) {
    warnings.note(`no header detected in line ${preamble + 1}; columns are named column_1, column_2, …`)
  }
  if (header.besides !== undefined) {
    const lines =
      headerRows === 2 ? `line ${preamble + 2} was` : `lines ${preamble + 2} to ${preamble + headerRows} were`
    warnings.note(`${lines} skipped: ${header.besides}`)
  } else if (headerRows === 2)
    warnings.note(`lines ${preamble + 1} and ${preamble + 2} were read as two header rows and joined`)
  else if (headerRows === 3)
    warnings.note(`lines ${preamble + 1} to ${preamble + 3} were read as three header rows and joined`)
  const count = Math.max(table[0]?.length ?? 0, best.agreeing > 0.5 ? best.width : 0)
  const most = (options.limits ?? defaultLimits).columns
  if (count > most) {
    throw badData(
      source,
      { line: preamble + 1 },
      `${count > MAX_CELLS ? `more than ${MAX_CELLS}` : count} columns; the limit is ${most} (columns)`,
      'Split the file, or turn columns into rows.',
    )
  }
  const found = { ...best, quoted: best.quoted.slice(start) }
  refuseSplitNumbers(table, headerRows, found, { line: preamble + 1, source })
  const names = columnNames(table, header, found, warnings)
  // A header that is repeated is no row.
  const data = table.slice(headerRows).filter((row) => row.some((cell, k) => cell !== table[0][k]))
  const lineOf = (row: string[]): number => best.at[best.rows.indexOf(row)] + 1 + (told ? 1 : 0)
  const profile = profileOf(data, names.length, options, lineOf)
  // In one column, a value can be the same as the name.
  const repeated =
    headerRows === 1 && names.length > 1 && table[0].length === names.length ? table[0] : undefined
  return { ...best.style, preamble, headerRows, names, repeated, trailing: best.trailing, comment, profile }
}

/**
 * `#`, if lines between the rows begin with it, and all others have one width; otherwise nothing. Only of a text that is
 * known as a whole, so that no row further down is taken for a comment.
 */
async function commentIn(text: string, options: DelimitedOptions): Promise<string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const top = lines.findIndex((line) => !line.startsWith('#'))
  const between = lines.slice(top).filter((line) => line.startsWith('#'))
  if (top < 0 || between.length === 0) return ''
  const plain = await chooseStyle(text, { ...options, comment: '' }, new Warnings())
  const without = await chooseStyle(text, { ...options, comment: '#' }, new Warnings())
  const fits = (line: string): boolean => line.split(without.style.delimiter).length === without.width
  // Where the text begins with comments, the last one can be the header, and rows can begin like them: `#1,Ann`.
  const above = lines[top - 1]
  const isHeader =
    top > 0 && fits(above) && (/^#\S/.test(above) || countHeaderRows(without.rows.filter(isFilled)) === 0)
  if (isHeader || (top > 0 && between.some((line) => /^#\S/.test(line) && fits(line)))) return ''
  const same = (all: string[][]) => all.length > 1 && all.every((row) => row.length === all[0].length)
  const table = plain.rows.slice(top > 0 ? findTableStart(plain) : 0)
  return without.width > 1 &&
    same(without.rows.filter(isFilled)) &&
    (without.width > plain.width || !same(table.filter(isFilled)))
    ? '#'
    : ''
}

function isFilled(row: readonly string[]): boolean {
  return row.length > 1 || row[0] !== ''
}

/** Returns whether a row is empty, or a text in its first cell alone. */
function isNote(row: readonly string[]): boolean {
  return row.slice(1).every((cell) => cell.trim() === '')
}

/** Rows from which a profile is made; fewer say nothing about the others. */
const PROFILE_ROWS = 3

/** What the columns of these rows hold. Rows of another width and notes are ignored. */
function profileOf(
  rows: string[][],
  width: number,
  { numbers: style, nullTexts = [] }: DelimitedOptions,
  lineOf: (row: string[]) => number,
): ColumnProfile {
  const isMissing = (cell: string): boolean => cell === '' || cell === '\\N' || nullTexts.includes(cell)
  const whole = rows.filter((row) => row.length === width && (width === 1 || !isNote(row)))
  const enough = whole.length >= PROFILE_ROWS
  const columns = Array.from({ length: width }, (_, k) => whole.map((row) => row[k].trim()))
  const knownOf = (some: string[][]): string[][] =>
    Array.from({ length: width }, (_, k) =>
      some.map((row) => row[k].trim()).filter((cell) => !isMissing(cell)),
    )
  const known = knownOf(whole)
  const endsInTotal = whole.length > 2 && isTotal(whole.at(-1)!.find((cell) => cell.trim() !== '') ?? '')
  return {
    filled: columns.map((cells) => enough && cells.every((cell) => cell !== '')),
    numeric: columns.map(
      (cells) =>
        enough && cells.some((cell) => cell !== '') && cells.every((cell) => cell === '' || isNumeric(cell)),
    ),
    styled: known.map(
      (cells) => style !== undefined && cells.every((cell) => styledNumber(cell, style) !== undefined),
    ),
    written: known.map((cells) => (cells.length === 0 ? undefined : writtenIn(cells))),
    grouped: known.map((cells) => {
      const pointed = cells.filter((cell) => cell.includes('.'))
      return pointed.every(isGrouped) ? pointed[0] : undefined
    }),
    looks: (endsInTotal ? knownOf(whole.slice(0, -1)) : known).map(lookOf),
    endsInTotal,
    odd: columns.map((cells, k) => {
      const odd = cells.flatMap((cell, row) => (isMissing(cell) || isJsonNumber(cell) ? [] : [row]))
      // Numbers that are none are identifiers: 007.
      const isOdd = odd.length > 0 && !odd.some((row) => /^\d+$/.test(cells[row]))
      const numbers = known[k].length - odd.length
      return isOdd && numbers >= PROFILE_ROWS && numbers >= odd.length * 2
        ? odd.map((row) => ({ line: lineOf(whole[row]), text: cells[row] }))
        : undefined
    }),
  }
}

/** Returns the text and number of the first lines that the options say to skip. */
function linesToSkip(
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

function named(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : delimiter === ' ' ? 'space' : delimiter
}

function columnNames(
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
    hasQuotedNames({ style, quoted }, table.length) &&
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
  const used = new Set<string>()
  const suffixes = new Map<string, number>()
  return cells.map((cell, k) => {
    const wanted = cell.trim()
    const base = wanted || `column_${k + 1}`
    let name = base
    for (let n = suffixes.get(base) ?? 2; used.has(name); n++) {
      name = `${base} (${n})`
      suffixes.set(base, n + 1)
    }
    used.add(name)
    if (headerRows > 0 && wanted === '') warnings.note(`column ${k + 1} has no name; named ${name}`)
    else if (name !== wanted && headerRows > 0)
      warnings.note(`column ${k + 1} has the duplicate name ${excerpt(wanted)}; renamed to ${excerpt(name)}`)
    return name
  })
}

/**
 * Returns whether a table is written as R does: with white space between cells, or with the names of rows and
 * columns in quotes.
 */
function hasQuotedNames({ style, quoted }: Pick<Candidate, 'style' | 'quoted'>, rows: number): boolean {
  return isBlankDelimiter(style.delimiter) || quoted.slice(0, rows).every(({ first }) => first)
}

/**
 * Throws if rows have more cells than the header since numbers seem to hold the delimiter: 1,234 or 2,50 are two cells.
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
  if (hasQuotedNames({ style, quoted }, table.length)) return
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

/** Returns whether the first column names its rows: different in each, and nothing is missing at the end. */
function areRowNames(rows: readonly string[][], width: number): boolean {
  const whole = rows.filter((row) => row.length === width)
  const names = whole.map((row) => row[0].trim())
  return new Set(names).size === names.length && !whole.every((row) => row[width - 1] === '')
}

/** Fills empty cells with the name to their left: a name over several columns is only in the first cell. */
function fillRight(cells: string[]): string[] {
  let last = ''
  return cells.map((cell, k) => (cell.trim() === '' && k > 0 ? last : (last = cell)))
}
