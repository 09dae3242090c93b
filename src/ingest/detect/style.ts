// Chooses the delimiter, quotes and line ends that fit a text best.
import { yieldToEventLoop } from '../../json/index.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { Warnings } from '../values/warnings.ts'
import type { Candidate } from './candidate.ts'
import { countHeaderRows, isDataValue } from './header.ts'
import { readSampleRows, type Style } from './sample-rows.ts'
import { isTextList, MAX_LABEL_LINES } from './table-start.ts'

/** Number of characters searched for the quoting style. */
const QUOTE_SEARCH_CHARACTERS = 64 * 1024

/** Delimiter for files with one column; does not occur in text. */
const NO_DELIMITER = '\x1f'

/** Number of characters read to choose the style. */
const MAX_STYLE_CHARACTERS = 512 * 1024

/**
 * Chooses the style from the first `MAX_STYLE_CHARACTERS` characters. If the first line is longer, reads all
 * of it.
 */
export async function chooseStyle(
  text: string,
  options: DelimitedOptions,
  warnings: Warnings,
): Promise<Candidate> {
  if (text.length <= MAX_STYLE_CHARACTERS) return chooseLineEnds(text, options, warnings)
  const best = await chooseLineEnds(text.slice(0, MAX_STYLE_CHARACTERS), options, warnings)
  // The last row is cut off: drop it.
  return best.rows.length > 1
    ? readCandidate(
        text.slice(0, MAX_STYLE_CHARACTERS),
        best.style.delimiter,
        best.style.crOnly,
        options,
        true,
      )
    : readCandidate(text, best.style.delimiter, best.style.crOnly, options)
}

/**
 * Chooses the delimiter, and whether lone CRs end rows: if there is no LF, or if the rows are then more uniform.
 */
async function chooseLineEnds(
  text: string,
  options: DelimitedOptions,
  warnings: Warnings,
): Promise<Candidate> {
  if (!text.includes('\r')) return chooseDelimiter(text, options, false, warnings)
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

/** Chooses the candidate with the best score; falls back to rare delimiters, then to one column. */
async function chooseDelimiter(
  text: string,
  options: DelimitedOptions,
  crOnly: boolean,
  warnings: Warnings,
): Promise<Candidate> {
  const requested = options.delimiter
  const candidates: Candidate[] = []
  // Semicolons of `&quot;` and `&#39;` are not delimiters.
  const bare = text.includes('&') ? text.replace(/&(?:[a-z]\w{1,8}|#\d{1,6}|#x[\da-f]{1,5});/gi, '') : text
  for (const delimiter of requested ? [requested] : [',', '\t', ';', '|', ' ']) {
    if (requested || bare.includes(delimiter))
      candidates.push(await readCandidate(text, delimiter, crOnly, options))
  }
  if (requested) return candidates[0]
  if (areGroupedNumbers(text)) {
    warnings.note('read as one column: each line is a number with commas between thousands')
    return readCandidate(text, NO_DELIMITER, crOnly, options)
  }
  const fit = candidates.filter(
    (c) =>
      c.width > 1 &&
      c.agreeing > 0.5 &&
      (c.style.delimiter !== ' ' || isSpaceSeparatedTable(c)) &&
      !isTextList(c),
  )
  // A candidate that skips lines above loses to one that reads all lines.
  const isAnyComplete = fit.some((c) => c.first === 0 && c.agreeing === 1 && c.rows.length > 2)
  const rank = (c: Candidate): number => scoreOf(c) - (isAnyComplete && c.first > 0 ? GAP_PENALTY : 0)
  fit.sort((a, b) => rank(b) - rank(a))
  if (fit.length > 0) return fit[0]
  const ragged = candidates.find(isRagged)
  if (ragged) return ragged
  for (const delimiter of RARE_DELIMITERS) {
    if (!text.includes(delimiter)) continue
    const rare = await readCandidate(text, delimiter, crOnly, options)
    const least = delimiter === ':' ? 3 : 2
    if (
      rare.width >= least &&
      rare.agreeing > 0.9 &&
      rare.rows.length > 2 &&
      rare.first === 0 &&
      !hasColonValues(rare)
    )
      return rare
  }
  const inText = candidates.some((c) => c.style.delimiter !== ' ') || hasAlignedBlanks(text)
  if (inText) warnings.note('no delimiter detected; read as one column')
  return readCandidate(text, NO_DELIMITER, crOnly, options)
}

/** Number of lines whose blanks are examined. */
const MAX_ALIGNMENT_LINES = 100

/** Returns whether blanks end at the same position in most lines, as between aligned columns. */
function hasAlignedBlanks(text: string): boolean {
  const lines = text
    .slice(0, QUOTE_SEARCH_CHARACTERS)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, MAX_ALIGNMENT_LINES)
  const places = new Map<number, number>()
  for (const line of lines)
    for (const { index, 0: run } of line.matchAll(/(?<=\S) {2,}(?=\S)/g))
      places.set(index + run.length, (places.get(index + run.length) ?? 0) + 1)
  return lines.length > 2 && [...places.values()].some((count) => count * 2 > lines.length)
}

const GROUPED = /^\s*[-+]?\d{1,3}(,\d{3})+(\.\d+)?\s*$/

/**
 * Returns whether all lines, perhaps below a name, are numbers like `100,000.00`. If all have one comma and
 * the parts before it count up, they are two columns.
 */
function areGroupedNumbers(text: string): boolean {
  const lines = text.split(/\r\n?|\n/).filter((line) => line.trim() !== '')
  const numbers = /\d|,/.test(lines[0] ?? '') ? lines : lines.slice(1)
  if (numbers.length < 2 || !numbers.every((line) => GROUPED.test(line))) return false
  const parts = numbers.map((line) => line.split(','))
  if (parts.some((part) => part.length !== parts[0].length)) return true
  const firsts = parts.map(([first]) => Number(first))
  const countsUp = firsts.every((first, k) => k === 0 || first === firsts[k - 1] + 1)
  return parts[0].length === 2 && !countsUp && numbers.every((line) => /\.\d\d\s*$/.test(line))
}

/** Returns whether most rows have several cells, none has more than the header, and some have as many. */
function isRagged({ style, rows, foreignShare }: Candidate): boolean {
  const filled = rows.filter((row) => row.length > 1 || row[0] !== '')
  const [header, ...data] = filled
  return (
    style.delimiter !== ' ' &&
    header?.length > 2 &&
    foreignShare === 0 &&
    countHeaderRows([header, ...data]) > 0 &&
    data.some((row) => row.length === header.length) &&
    data.every((row) => row.length <= header.length) &&
    data.filter((row) => row.length > 1).length * 2 > data.length &&
    // Otherwise narrower rows at the end are a second table.
    data[data.length - 1].length === header.length
  )
}

/** Delimiters of few programs, used only if no other fits. */
const RARE_DELIMITERS = ['^', '~', ':', '\x01', '\x1f']

/** Returns whether colons belong to times or URLs, and are not delimiters. */
function hasColonValues({ style, rows }: Candidate): boolean {
  return style.delimiter === ':' && rows.every((row) => row.length < 2 || /^\d{1,2}$|^\/\//.test(row[1]))
}

/**
 * Returns the score of a candidate: mainly the share of rows of one width, then cells without other
 * delimiters, then columns.
 */
function scoreOf(c: Candidate): number {
  const above = c.first > 0 ? 0.05 + 0.3 * (c.first / c.rows.length) : 0
  const commas = hasDecimalCommas(c) ? 0.1 : 0
  return (
    c.agreeing -
    above +
    Math.min(c.width, 20) * 0.002 +
    commas -
    FOREIGN_PENALTY * c.foreignShare -
    (hasAlternateEmptyColumns(c) ? GAP_PENALTY : 0) -
    (hasEmptySecondColumn(c) ? GAP_PENALTY : 0)
  )
}

/** Penalties: a cell that contains another candidate delimiter, and empty columns. */
const FOREIGN_PENALTY = 0.4
const GAP_PENALTY = 0.3

/** Returns whether every other column is empty, as with a delimiter of two characters. */
function hasAlternateEmptyColumns({ rows, first, width }: Candidate): boolean {
  const table = rows.slice(first).filter((row) => row.length === width)
  return (
    width > 2 && width % 2 === 1 && table.every((row) => row.every((cell, k) => k % 2 === 0 || cell === ''))
  )
}

/** Returns whether the second of two columns is empty: the delimiter only ends the lines. */
function hasEmptySecondColumn({ rows, width }: Candidate): boolean {
  return width === 2 && rows.every((row) => row.length < 2 || row[1].trim() === '')
}

/** Returns whether all commas in semicolon-separated cells are decimal commas: 1,5;2,25. */
function hasDecimalCommas({ style, rows, first }: Candidate): boolean {
  if (style.delimiter !== ';') return false
  const cells = rows
    .slice(first + 1)
    .flat()
    .filter((cell) => cell.includes(','))
  return cells.length > 0 && cells.every((cell) => /^\s*-?\d+(\.\d{3})*,\d+\s*$/.test(cell))
}

/**
 * Returns whether space-separated words are a table: rows of one width that are quoted, or half of whose
 * columns are numbers or times. Two words in each line can be one value: a date and time, a number and unit.
 */
function isSpaceSeparatedTable(c: Candidate): boolean {
  const data = c.rows.slice(c.first + 1).filter((row) => row.length > 1 || row[0] !== '')
  if (data.length === 0 || data.some((row) => row.length !== c.width)) return false
  if (c.quoted.slice(c.first + 1).every(({ count }) => count > 0)) return true
  const isColumn = (k: number): boolean => data.every((row) => row[k] === '' || isDataValue(row[k]))
  if (c.width === 2) {
    const isMoment = data.every((row) => /^\d{4}-\d{2}-\d{2}$/.test(row[0]) && /^\d{1,2}:\d{2}/.test(row[1]))
    // One name over two columns: only if the first column numbers the rows.
    const isNumbered = data.every((row, k) => row[0] === String(k + 1))
    const isHalfDay = data.every((row) => /^[ap]\.?m\.?$/i.test(row[1]))
    if (isMoment || isHalfDay || !(isColumn(0) || isColumn(1))) return false
    return c.first === 0 ? c.rows[0].length === 2 : isNumbered
  }
  let numeric = 0
  for (let k = 0; k < c.width; k++) if (isColumn(k)) numeric++
  return numeric * 2 >= c.width || (numeric > 0 && data.length >= MIN_UNIFORM_LINES)
}

/** Minimum lines of equal word count, with one numeric column, that count as a table and not prose. */
const MIN_UNIFORM_LINES = 20

/** Reads the first rows with one delimiter. `cut`: the last row is incomplete. */
async function readCandidate(
  text: string,
  delimiter: string,
  crOnly: boolean,
  options: DelimitedOptions,
  cut = false,
): Promise<Candidate> {
  await yieldToEventLoop()
  const style = detectStyle(text, delimiter, crOnly)
  style.quote = options.quote ?? style.quote
  style.escape = options.escape ?? (options.quote === undefined ? style.escape : '')
  await yieldToEventLoop()
  let sample = readSampleRows(text, style, options)
  await yieldToEventLoop()
  if (options.quote === undefined && canBeSingleQuoted(text, sample.rows, style)) {
    const quoted = { ...style, quote: "'" }
    const requoted = readSampleRows(text, quoted, options)
    if (isUniformMultiline(requoted.rows)) {
      style.quote = "'"
      sample = requoted
    }
    await yieldToEventLoop()
  }
  if (style.quote !== '' && !style.collapse) {
    const expected = commonWidthOf(sample.rows)
    const odd = sample.rows.some((row) => row.length !== expected && row.some((cell) => cell.length > 0))
    if (odd && expected > 1 && text.includes(style.quote)) {
      // Rows with stray quotes get the width of the header, if all of them can.
      const [header] = sample.rows.filter((row) => row.length > 1)
      const asHeader =
        header.length < expected ? readSampleRows(text, style, options, header.length) : undefined
      sample = asHeader?.rows.every(
        (row) => row.length === header.length || (row.length === 1 && row[0] === ''),
      )
        ? asHeader
        : readSampleRows(text, style, options, expected)
    }
  }
  if (cut) {
    sample.rows.pop()
    sample.lineIndexes.pop()
  }
  const { rows, trailing } = removeTrailingCells(removeSurplusName(sample.rows))
  const width = rows.some((row) => row.length === options.width) ? options.width! : commonWidthOf(rows)
  // The table starts at the first row that is at least `width` cells wide, even if it is wider.
  let first = rows.findIndex((row) => row.length >= width && (width > 1 || row[0] !== ''))
  if (first < 0) first = 0
  // Lines below the last row of that width are notes, not rows.
  const last = rows.findLastIndex((row) => row.length === width)
  const rest = rows.slice(first, last + 1).filter((row) => row.length > 1 || row[0] !== '')
  const agreeing = rest.filter((row) => row.length === width).length / Math.max(1, rest.length)
  return { ...sample, style, rows, width, first, agreeing, trailing }
}

/**
 * Returns the most common number of cells of a row; of a wider table at the end, its width. Ties go to the
 * larger.
 */
function commonWidthOf(rows: readonly string[][]): number {
  const last = lastTableWidthOf(rows)
  if (last > 0) return last
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

/**
 * Returns the width of a table below narrower lines with labels and values; 0 if there is none. The table
 * begins with a header, and all its rows have that width.
 */
function lastTableWidthOf(rows: readonly string[][]): number {
  const filled = rows.filter((row) => row.length > 1 || row[0] !== '')
  const width = filled.at(-1)?.length ?? 0
  const start = filled.findIndex((row) => row.length >= width)
  const [header, ...data] = filled.slice(start)
  const labels = filled.slice(0, start)
  return width > 2 &&
    data.length > 1 &&
    labels.length > 1 &&
    labels.length <= MAX_LABEL_LINES &&
    labels.every((row) => row.filter((cell) => cell.trim() !== '').length <= 2) &&
    header.every((cell) => /\p{L}/u.test(cell) && !isDataValue(cell)) &&
    data.every((row) => row.length === width) &&
    header.some((_, k) => data.every((row) => isDataValue(row[k])))
    ? width
    : 0
}

/** Minimum number of rows from which others can be judged. */
const MIN_ROWS = 3

/** Returns whether a space follows every unquoted comma or semicolon, in at least three lines: `a, b, c`. */
function hasSpacedDelimiters(text: string, delimiter: string): boolean {
  if (delimiter !== ',' && delimiter !== ';') return false
  const bare = text.replace(/"(?:[^"]|"")*"/g, '""')
  let lines = 0
  for (const line of bare.split('\n')) {
    const cells = line.split(delimiter)
    if (cells.slice(1).some((cell) => !cell.startsWith(' ') && cell.trim() !== '')) return false
    if (cells.length > 1 && cells.slice(1).some((cell) => cell.startsWith(' '))) lines++
  }
  return lines > 2
}

/** Removes the only empty cell of a first row that has one cell more than all others. */
function removeSurplusName(rows: string[][]): string[][] {
  const [first, ...data] = rows
  const filled = data.filter((row) => row.length > 1 || row[0] !== '')
  const width = (first?.length ?? 0) - 1
  if (width < 1 || filled.length < MIN_ROWS) return rows
  const agreeing = filled.filter((row) => row.length === width).length
  const empty = first.flatMap((cell, k) => (cell.trim() === '' ? [k] : []))
  if (empty.length !== 1 || agreeing < filled.length * 0.9 || filled.some((row) => row.length > width))
    return rows
  return [first.filter((_, k) => k !== empty[0]), ...data]
}

/** Removes trailing empty cells of all rows beyond the width of the header. */
function removeTrailingCells(rows: string[][]): { rows: string[][]; trailing: number } {
  const filled = rows.filter((row) => row.length > 1 || row[0] !== '')
  const [first, ...data] = filled
  const width = first?.length ?? 0
  const length = data[0]?.length ?? 0
  const isUniform = data.length > 0 && data.every((row) => row.length === length)
  // A delimiter at the end of every row, also of the header, does not make a column.
  if (
    isUniform &&
    width > 2 &&
    length === width &&
    filled.every((row) => row[width - 1] === '') &&
    first[width - 2] !== ''
  )
    return { rows: rows.map((row) => row.slice(0, width - 1)), trailing: 1 }
  if (width < 2 || length <= width || !isUniform) return { rows, trailing: 0 }
  if (!data.every((row) => row.slice(width).every((cell) => cell === ''))) return { rows, trailing: 0 }
  return { rows: rows.map((row) => row.slice(0, width)), trailing: length - width }
}

/** Returns whether rows differ in width perhaps because single-quoted cells hold line ends: `1,'a⏎b',2`. */
function canBeSingleQuoted(
  text: string,
  rows: readonly string[][],
  { delimiter, quote, collapse }: Style,
): boolean {
  if (quote !== '"' || collapse || text.includes('"') || !text.includes(`${delimiter}'`)) return false
  return rows.some((row) => row.length !== rows[0].length)
}

/** Returns whether rows are a uniform table in which cells contain line ends. The last row may be cut off. */
function isUniformMultiline(rows: readonly string[][]): boolean {
  const filled = rows.filter((row) => row.length > 1 || row[0] !== '')
  const [first] = filled
  return (
    filled.length > MIN_ROWS &&
    first.length > 1 &&
    filled.slice(0, -1).every((row) => row.length === first.length) &&
    filled.some((row) => row.some((cell) => cell.includes('\n')))
  )
}

/** Maximum length of a line that is searched for single quotes. */
const MAX_LINE_CHARACTERS = 4000

/**
 * Counts lines with a single-quoted cell. Returns 0 unless every opening quote is closed on its line, and
 * some quoted cell contains the delimiter.
 */
function countSingleQuotedLines(text: string, delimiter: string): number {
  const d = delimiter.replace(/[|^$.*+?()[\]{}\\]/g, '\\$&')
  const opening = new RegExp(`(^|${d})'`, 'g')
  const cell = new RegExp(`(^|${d})'.*?'(?=${d}|$)`, 'g')
  let lines = 0
  let hides = false
  for (const line of text.split(/\r?\n/).slice(0, -1)) {
    if (line.length > MAX_LINE_CHARACTERS) return 0
    const cells = line.match(cell) ?? []
    if (cells.length === 0) {
      if (opening.test(line)) return 0
      continue
    }
    if ((line.replace(cell, '').match(opening) ?? []).length > 0) return 0
    lines++
    hides ||= cells.some((match) => match.slice(1).includes(delimiter))
  }
  return hides ? lines : 0
}

/** Detects quotes, escapes and spacing for a delimiter. */
function detectStyle(text: string, delimiter: string, crOnly: boolean): Style {
  const d = `\\u${delimiter.charCodeAt(0).toString(16).padStart(4, '0')}`
  const start = text.slice(0, QUOTE_SEARCH_CHARACTERS)
  const count = (pattern: string): number => (start.match(new RegExp(pattern, 'gm')) ?? []).length
  const blanks = delimiter === ' ' ? '' : ' *'
  const doubled = count(`(?:^|${d})${blanks}"`)
  const single = doubled === 0 ? count(`(?:^|${d})'(?:[^'\\r\\n]|'')*'(?=${d}|\\r?$)`) : 0
  const singleOpened = single > 0 ? count(`(?:^|${d})'`) : 0
  // Single-quoted cells may hold apostrophes, if every opening quote is closed on its line.
  const loose = doubled === 0 && single !== singleOpened ? countSingleQuotedLines(start, delimiter) : 0
  const quote = (single > 1 && single === singleOpened) || loose > 2 ? "'" : '"'
  const backslash =
    (text.match(new RegExp(`\\\\${quote}(?!${d}|\\r?$|${quote})`, 'gm')) ?? []).length > 0 &&
    count(`[^${d}\\r\\n]${quote}${quote}[^${d}\\r\\n]`) === 0
  const spaced = delimiter === ' ' ? 0 : count(`${d} +${quote}`)
  return {
    delimiter,
    quote,
    escape: backslash ? '\\' : '',
    crOnly,
    skipSpace: (spaced > 0 && spaced >= count(`${d}${quote}`)) || hasSpacedDelimiters(start, delimiter),
    collapse: delimiter === ' ',
    closed: crOnly ? 0 : countClosedCells(start, delimiter),
  }
}

/**
 * Returns the number of cells per row if a delimiter ends the first line and most others; 0 if delimiters
 * only separate cells.
 */
function countClosedCells(text: string, delimiter: string): number {
  if (delimiter === ' ' || text.includes('"')) return 0
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length <= MIN_ROWS || !lines[0].endsWith(delimiter)) return 0
  const cells = lines[0].split(delimiter).length - 1
  const closed = lines.filter(
    (line) => line.endsWith(delimiter) && line.split(delimiter).length - 1 === cells,
  )
  return cells > 1 && closed.length * 2 > lines.length ? cells : 0
}
