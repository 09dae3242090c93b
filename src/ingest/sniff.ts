import { defaultLimits } from '../contract/limits.ts'
import { breathe, excerpt } from '../json/index.ts'
import type { ColumnProfile, DelimitedOptions, Dialect, NumberStyle } from './dialect.ts'
import { givenDelimiter } from './given.ts'
import { countHeaderRows } from './header.ts'
import { asNumber } from './number.ts'
import { MOST_CELLS, readRows, type Style } from './sample-rows.ts'
import { badData, Warnings } from './warnings.ts'

/** The sample used for detection, in bytes. */
export const SAMPLE_BYTES = 256 * 1024
/** Number of characters searched to detect the quoting style. */
const STYLE_CHARACTERS = 64 * 1024

interface Candidate {
  style: Style
  rows: string[][]
  /** The line on which each row starts, from 0. */
  at: number[]
  /**
   * `width`: the most common number of cells per row. `first`: index of the first row at least that wide.
   * `agreeing`: fraction of rows with that width from there on.
   */
  width: number
  first: number
  agreeing: number
  /** Delimiters at the end of every row that the first one does not have. */
  trailing: number
}

/** A delimiter that does not occur in text, for files with one column. */
const NONE = '\x1f'

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
  const told = /^sep=(.)\r?\n/i.exec(text)
  const delimiter = givenDelimiter(options.delimiter) ?? told?.[1]
  if (told) text = text.slice(told[0].length)
  const best = await chooseStyle(text, { ...options, delimiter }, warnings)
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
  refuseTwoTables(best, start, told ? 1 : 0, source)
  const preamble = (best.at[start] ?? skip.lines) + (told ? 1 : 0)
  const skipped = preamble - skip.lines - (told ? 1 : 0)
  if (skipped > 0 && best.rows.slice(0, start).some((row) => row.some((cell) => cell !== ''))) {
    warnings.note(
      `${skipped === 1 ? `line ${skip.lines + 1} was` : `lines ${skip.lines + 1} to ${skip.lines + skipped} were`} skipped (text above the table): ${excerpt(best.rows[0].join(best.style.delimiter))}`,
    )
  }
  const headerRows = options.header === undefined ? countHeaderRows(table) : Number(options.header)
  if (headerRows === 0 && options.header === undefined) {
    warnings.note(`no header detected in line ${preamble + 1}; columns are named column_1, column_2, …`)
  }
  if (headerRows === 2) {
    warnings.note(`lines ${preamble + 1} and ${preamble + 2} were read as two header rows and joined`)
  }
  const count = Math.max(table[0]?.length ?? 0, best.agreeing > 0.5 ? best.width : 0)
  const most = (options.limits ?? defaultLimits).columns
  if (count > most) {
    throw badData(
      source,
      { line: preamble + 1 },
      `${count > MOST_CELLS ? `more than ${MOST_CELLS}` : count} columns; the limit is ${most} (columns)`,
      'Split the file, or turn columns into rows.',
    )
  }
  const names = columnNames(table, headerRows, best, warnings)
  const profile = profileOf(table.slice(headerRows), names.length, options.numbers)
  const comment = options.comment ?? ''
  return { ...best.style, preamble, headerRows, names, trailing: best.trailing, comment, profile }
}

/** Whether a row is empty, or a text in its first cell alone. */
function isNote(row: readonly string[]): boolean {
  return row.slice(1).every((cell) => cell.trim() === '')
}

/** Rows from which a profile is made; fewer say nothing about the others. */
const PROFILE_ROWS = 3

/** What the columns of these rows hold. Rows of another width and notes are ignored. */
function profileOf(rows: string[][], width: number, style: NumberStyle | undefined): ColumnProfile {
  const whole = rows.filter((row) => row.length === width && (width === 1 || !isNote(row)))
  const enough = whole.length >= PROFILE_ROWS
  const columns = Array.from({ length: width }, (_, k) => whole.map((row) => row[k].trim()))
  return {
    filled: columns.map((cells) => enough && cells.every((cell) => cell !== '')),
    numeric: columns.map(
      (cells) =>
        enough && cells.some((cell) => cell !== '') && cells.every((cell) => cell === '' || isNumeric(cell)),
    ),
    styled: columns.map(
      (cells) =>
        style !== undefined &&
        cells.some((cell) => cell !== '') &&
        cells.every(
          (cell) => cell === '' || (!/[^\d.,'’\s+-]/.test(cell) && asNumber(cell, style) !== undefined),
        ),
    ),
  }
}

/** The text and number of the first lines that the options say to skip. */
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

/** Throws if the lines above the table look like another table, which would be lost. */
function refuseTwoTables({ rows, at }: Candidate, start: number, before: number, source: string): void {
  for (let from = 0; from < start; ) {
    const width = rows[from].length
    let to = from + 1
    while (to < start && rows[to].length === width && !isBlank(rows[to])) to++
    if (!isBlank(rows[from]) && looksLikeTable(rows.slice(from, to))) {
      const line = (row: number): number => (at[row] ?? row) + 1 + before
      throw badData(
        source,
        { line: line(from) },
        `${to - from} lines look like a table of ${columns(width)}, and a second table of ${columns(rows[start].length)} starts at line ${line(start)}`,
        'Put each table in its own file.',
      )
    }
    from = to
  }
}

function columns(count: number): string {
  return count === 1 ? '1 column' : `${count} columns`
}

function isBlank(row: readonly string[]): boolean {
  return row.every((cell) => cell.trim() === '') || row[0].startsWith('#')
}

function isNumeric(cell: string): boolean {
  return /^\s*[+-]?[\d.,]+\s*$/.test(cell)
}

/** Maximum number of lines with labels and values (`Station,Seattle`) above a table. */
const MOST_LABELS = 8

/** Whether lines of one width look like a table. */
function looksLikeTable(rows: string[][]): boolean {
  const width = rows[0].length
  const [first, ...data] = rows
  // A header and one row of numbers.
  if (rows.length === 2 && width > 1) return countHeaderRows(rows) === 1 && data[0].every(isNumeric)
  if (rows.length < 3) return false
  const numeric = first.map((_, k) => data.every((row) => isNumeric(row[k])))
  if (width === 1) return numeric[0]
  // Titles exported from spreadsheets: a text and empty cells.
  if (rows.every((row) => row.slice(1).every((cell) => cell.trim() === ''))) return false
  if (width > 2) return true
  return rows.length > MOST_LABELS || numeric.some(Boolean)
}

function named(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : delimiter === ' ' ? 'space' : delimiter
}

/** Number of characters used to detect the style. */
const STYLE_TEXT = 512 * 1024

/** Detects the style from the first `STYLE_TEXT` characters. A longer first line is then read in full. */
async function chooseStyle(text: string, options: DelimitedOptions, warnings: Warnings): Promise<Candidate> {
  if (text.length <= STYLE_TEXT) return withLineEnds(text, options, warnings)
  const best = await withLineEnds(text.slice(0, STYLE_TEXT), options, warnings)
  // The last row is cut off: ignore it.
  return best.rows.length > 1
    ? candidate(text.slice(0, STYLE_TEXT), best.style.delimiter, best.style.crOnly, options, true)
    : candidate(text, best.style.delimiter, best.style.crOnly, options)
}

/** Decides whether lone CRs end rows: if there is no LF, or if the rows are more uniform that way. */
async function withLineEnds(text: string, options: DelimitedOptions, warnings: Warnings): Promise<Candidate> {
  const ends = { lf: 0, cr: 0 }
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === '"') quoted = !quoted
    else if (quoted) continue
    else if (c === '\n') ends.lf++
    else if (c === '\r' && text[i + 1] !== '\n') ends.cr++
  }
  if (ends.cr === 0) return chooseDelimiter(text, options, false, warnings)
  const apart = await chooseDelimiter(text, options, true, new Warnings())
  const together = await chooseDelimiter(text, options, false, new Warnings())
  const crEnds = ends.lf === 0 || (apart.agreeing === 1 && apart.agreeing >= together.agreeing)
  if (crEnds && ends.lf > 0) warnings.note('single CR characters were read as line ends, like LF')
  return chooseDelimiter(text, options, crEnds, warnings)
}

async function chooseDelimiter(
  text: string,
  options: DelimitedOptions,
  crOnly: boolean,
  warnings: Warnings,
): Promise<Candidate> {
  const given = options.delimiter
  const candidates: Candidate[] = []
  for (const delimiter of given ? [given] : [',', '\t', ';', '|', ' ']) {
    if (given || text.includes(delimiter)) candidates.push(await candidate(text, delimiter, crOnly, options))
  }
  if (given) return candidates[0]
  const fit = candidates.filter(
    (c) => c.width > 1 && c.agreeing > 0.5 && (c.style.delimiter !== ' ' || looksLinedUp(c)),
  )
  fit.sort((a, b) => score(b) - score(a))
  if (fit.length > 0) return fit[0]
  for (const delimiter of RARE) {
    if (!text.includes(delimiter)) continue
    const rare = await candidate(text, delimiter, crOnly, options)
    const least = delimiter === ':' ? 3 : 2
    if (rare.width >= least && rare.agreeing > 0.9 && rare.rows.length > 2 && !hasTimes(rare)) return rare
  }
  const inText = candidates.some((c) => c.style.delimiter !== ' ')
  if (inText) warnings.note('no delimiter detected; read as one column')
  return candidate(text, inText ? NONE : ',', crOnly, options)
}

/** Delimiters of some programs, which are only taken if nothing else is one. */
const RARE = ['^', '~', ':']

/** Whether the cells are parts of times or addresses, which hold colons of their own. */
function hasTimes({ style, rows }: Candidate): boolean {
  return style.delimiter === ':' && rows.every((row) => row.length < 2 || /^\d{1,2}$|^\/\//.test(row[1]))
}

/** Score of a candidate: mainly the fraction of rows of one width, then the number of columns. */
function score(c: Candidate): number {
  const above = c.first > 0 ? 0.05 + 0.3 * (c.first / c.rows.length) : 0
  return c.agreeing - above + Math.min(c.width, 20) * 0.002 + (hasDecimalCommas(c) ? 0.1 : 0)
}

/** Whether all commas in semicolon-separated cells are decimal commas: 1,5;2,25. */
function hasDecimalCommas({ style, rows, first }: Candidate): boolean {
  if (style.delimiter !== ';') return false
  const cells = rows
    .slice(first + 1)
    .flat()
    .filter((cell) => cell.includes(','))
  return cells.length > 0 && cells.every((cell) => /^\s*-?\d+(\.\d{3})*,\d+\s*$/.test(cell))
}

/** Whether space-separated words are a table: rows of one width, half of the columns numeric. */
function looksLinedUp(c: Candidate): boolean {
  const data = c.rows.slice(c.first + 1)
  if (c.agreeing < 1 || data.length === 0) return false
  let numeric = 0
  for (let k = 0; k < c.width; k++)
    if (data.every((row) => row[k] === '' || Number.isFinite(Number(row[k])))) numeric++
  return numeric * 2 >= c.width
}

async function candidate(
  text: string,
  delimiter: string,
  crOnly: boolean,
  options: DelimitedOptions,
  cut = false,
): Promise<Candidate> {
  await breathe()
  const style = styleOf(text, delimiter, crOnly)
  style.quote = options.quote ?? style.quote
  style.escape = options.escape ?? (options.quote === undefined ? style.escape : '')
  await breathe()
  let { rows: found, at } = readRows(text, style, options)
  await breathe()
  if (style.quote !== '' && !style.collapse) {
    const expected = commonWidth(found)
    const odd = found.some((row) => row.length !== expected && row.some((cell) => cell.length > 0))
    if (odd && expected > 1 && text.includes(style.quote))
      ({ rows: found, at } = readRows(text, style, options, expected))
  }
  if (cut) {
    found.pop()
    at.pop()
  }
  const { rows, trailing } = withoutTrailing(withoutSpareName(found))
  const width = commonWidth(rows)
  // The table starts at the first row that is at least `width` cells wide, even if it is wider.
  let first = rows.findIndex((row) => row.length >= width && (width > 1 || row[0] !== ''))
  if (first < 0) first = 0
  const rest = rows.slice(first).filter((row) => row.length > 1 || row[0] !== '')
  const agreeing = rest.filter((row) => row.length === width).length / Math.max(1, rest.length)
  return { style, rows, at, width, first, agreeing, trailing }
}

/** The most common number of cells of a row; of two, the larger one. */
function commonWidth(rows: readonly string[][]): number {
  const counts = new Map<number, number>()
  for (const row of rows)
    if (row.length > 1 || row[0] !== '') counts.set(row.length, (counts.get(row.length) ?? 0) + 1)
  let width = 1
  let most = 0
  for (const [length, count] of counts) {
    if (count > most || (count === most && length > width)) {
      width = length
      most = count
    }
  }
  return width
}

/** Removes the empty cell of a first row that has one cell more than all others, if it has just one. */
function withoutSpareName(rows: string[][]): string[][] {
  const [first, ...data] = rows
  const filled = data.filter((row) => row.length > 1 || row[0] !== '')
  const width = (first?.length ?? 0) - 1
  if (width < 1 || filled.length < PROFILE_ROWS) return rows
  const agreeing = filled.filter((row) => row.length === width).length
  const empty = first.flatMap((cell, k) => (cell.trim() === '' ? [k] : []))
  if (empty.length !== 1 || agreeing < filled.length * 0.9 || filled.some((row) => row.length > width))
    return rows
  return [first.filter((_, k) => k !== empty[0]), ...data]
}

/** Removes trailing empty cells that all rows have except the shorter first one (the header). */
function withoutTrailing(rows: string[][]): { rows: string[][]; trailing: number } {
  const filled = rows.filter((row) => row.length > 1 || row[0] !== '')
  const [first, ...data] = filled
  const width = first?.length ?? 0
  const length = data[0]?.length ?? 0
  const same = data.length > 0 && data.every((row) => row.length === length)
  // A delimiter at the end of every row, also of the header, makes no column.
  if (
    same &&
    width > 2 &&
    length === width &&
    filled.every((row) => row[width - 1] === '') &&
    first[width - 2] !== ''
  )
    return { rows: rows.map((row) => row.slice(0, width - 1)), trailing: 1 }
  if (width < 2 || length <= width || !same) return { rows, trailing: 0 }
  if (!data.every((row) => row.slice(width).every((cell) => cell === ''))) return { rows, trailing: 0 }
  return { rows: rows.map((row) => row.slice(0, width)), trailing: length - width }
}

function styleOf(text: string, delimiter: string, crOnly: boolean): Style {
  const d = `\\u${delimiter.charCodeAt(0).toString(16).padStart(4, '0')}`
  const start = text.slice(0, STYLE_CHARACTERS)
  const count = (pattern: string): number => (start.match(new RegExp(pattern, 'gm')) ?? []).length
  const blanks = delimiter === ' ' ? '' : ' *'
  const doubled = count(`(?:^|${d})${blanks}"`)
  const single = doubled === 0 ? count(`(?:^|${d})'[^'\\r\\n]*'(?=${d}|\\r?$)`) : 0
  const singleOpened = single > 0 ? count(`(?:^|${d})'`) : 0
  const quote = single > 1 && single === singleOpened ? "'" : '"'
  const backslash =
    count(`\\\\${quote}(?!${d}|\\r?$|${quote})`) > 0 &&
    count(`[^${d}\\r\\n]${quote}${quote}[^${d}\\r\\n]`) === 0
  const spaced = delimiter === ' ' ? 0 : count(`${d} +${quote}`)
  return {
    delimiter,
    quote,
    escape: backslash ? '\\' : '',
    crOnly,
    skipSpace: spaced > 0 && spaced >= count(`${d}${quote}`),
    collapse: delimiter === ' ',
  }
}

/** Index of the first row of the table, after titles, comments and blank lines. */
function findTableStart(candidate: Candidate): number {
  const { rows, width, first } = candidate
  let start = skipTitle(candidate, first)
  // R's write.table writes no header for the row names: the header has one cell fewer than the data.
  const above = rows[start - 1]
  if (
    width > 1 &&
    start === first &&
    above?.length === width - 1 &&
    above[0] !== '' &&
    !above[0].startsWith('#')
  )
    start--
  const comment = (row: string[] | undefined): boolean => row?.[0].startsWith('#') === true
  let after = start
  while (comment(rows[after])) after++
  if (after === start || after >= rows.length) return start
  // The last comment line is the header if it has as many cells as the rows, and those have no header.
  const last = rows[after - 1]
  const isHeader = last.length === rows[after].length && width > 1 && countHeaderRows(rows.slice(after)) === 0
  return isHeader ? after - 1 : after
}

/**
 * Skips titles exported from spreadsheets: one cell followed by empty ones, or a line that contains commas
 * and is separated by a blank line from a table with a header over numbers.
 */
function skipTitle({ rows, width }: Candidate, first: number): number {
  const empty = (row: string[]): boolean => row.every((cell) => cell.trim() === '')
  const full = (row: string[]): boolean => row.length >= width && row.every((cell) => cell.trim() !== '')
  const title = (row: string[]): boolean => row.filter((cell) => cell.trim() !== '').length === 1
  const mostly = (row: string[]): boolean =>
    row.length >= width && row.filter((cell) => cell.trim() !== '').length > width / 2
  if (width < 2) return first
  let at = first
  while (at < rows.length && (empty(rows[at]) || title(rows[at]))) at++
  if (at > first && at + 1 < rows.length && mostly(rows[at]) && countHeaderRows(rows.slice(at)) > 0) return at
  if (isSentence(rows, first)) {
    const next = rows.findIndex((row, k) => k > first && !empty(row))
    if (next > 0 && headsNumbers(rows.slice(next))) return next
  }
  const blank = rows.findIndex((row, k) => k > first && k <= first + 3 && row.length === 1 && empty(row))
  const below = rows.slice(blank + 1)
  if (blank < 0 || below.length < 2 || !full(below[0]) || countHeaderRows(below) === 0) return first
  return headsNumbers(below) && (blank === first + 1 || countHeaderRows(rows.slice(first, blank)) > 0)
    ? blank + 1
    : first
}

/** Whether the first row is a header with a name over a column of numbers. */
function headsNumbers([header, ...data]: readonly string[][]): boolean {
  if (!header || data.length === 0 || countHeaderRows([header, ...data]) === 0) return false
  return header.some((name, k) => !isNumeric(name) && data.every((row) => /^-?[\d.]+$/.test(row[k] ?? '')))
}

/** Whether a row is a text with commas: only it has spaces after its delimiters. */
function isSentence(rows: readonly string[][], first: number): boolean {
  const spaced = (row: readonly string[]): boolean =>
    row.length > 1 && row.slice(1).some((cell) => cell.startsWith(' '))
  const below = rows.slice(first + 1)
  return (
    below.length > 1 &&
    rows[first].slice(1).every((cell) => /^ \S/.test(cell)) &&
    rows[first].length > 1 &&
    !below.some(spaced)
  )
}

function columnNames(
  table: string[][],
  headerRows: number,
  { width }: Candidate,
  warnings: Warnings,
): string[] {
  const header = table.slice(0, headerRows)
  const rowsAgree =
    table.length > headerRows &&
    table.slice(headerRows).filter((row) => row.length === width).length * 2 > table.length - headerRows
  let cells = header[0] ?? []
  if (headerRows === 0)
    cells = Array.from({ length: rowsAgree ? width : Math.max(...table.map((row) => row.length)) }, () => '')
  else if (rowsAgree && cells.length === width - 1 && areRowNames(table.slice(headerRows), width)) {
    cells = ['', ...cells]
    warnings.note(
      'the header has one name fewer than the rows have cells; the first column was read as row names',
    )
  } else if (rowsAgree && cells.length < width) {
    warnings.note(`the header has ${cells.length} names for ${width} columns; the last columns have no name`)
    cells = [...cells, ...Array.from({ length: width - cells.length }, () => '')]
  }
  if (headerRows === 2) {
    const above = fillRight(cells)
    cells = above.map((name, k) => `${name.trim()} ${(header[1][k] ?? '').trim()}`)
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

/** Whether the first column names its rows: different in each, and nothing is missing at the end. */
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
