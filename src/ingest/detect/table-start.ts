// Finds the first row of a table, below titles, labels and comments.
import { badData } from '../values/warnings.ts'
import { type Candidate, MAX_LABEL_LINES } from './candidate.ts'
import { countHeaderRows, isDataValue } from './header.ts'
import { MAX_SAMPLE_ROWS } from './sample-rows.ts'

/** Throws `bad_data` if the lines above the table look like another table, which would be lost. */
export function refuseTwoTables(
  { rows, lineIndexes }: Candidate,
  start: number,
  before: number,
  source: string,
): void {
  for (let from = 0; from < start; ) {
    const width = rows[from].length
    let to = from + 1
    while (to < start && rows[to].length === width && !isBlankOrComment(rows[to])) to++
    if (!isBlankOrComment(rows[from]) && looksLikeTable(withoutEmptyColumns(rows.slice(from, to)))) {
      const line = (row: number): number => (lineIndexes[row] ?? row) + 1 + before
      throw badData(
        source,
        { line: line(from) },
        `${to - from} lines look like a table of ${formatColumnCount(width)}, and a second table of ${formatColumnCount(rows[start].length)} starts at line ${line(start)}`,
        'Put each table in its own file.',
      )
    }
    from = to
  }
}

/** Throws `bad_data` if there are no rows below the header but some above it, which would be lost. */
export function refuseNoRows(
  { rows, lineIndexes }: Candidate,
  { start, headerRows, before }: { start: number; headerRows: number; before: number },
  source: string,
): void {
  const isRow = (row: readonly string[]): boolean => row.filter((cell) => cell.trim() !== '').length > 1
  const above = rows.findIndex((row, k) => k < start && !isBlankOrComment(row) && isRow(row))
  if (
    above < 0 ||
    rows.length >= MAX_SAMPLE_ROWS ||
    rows.slice(start + headerRows).some((row) => !isBlankOrComment(row))
  )
    return
  const line = (row: number): number => (lineIndexes[row] ?? row) + 1 + before
  throw badData(
    source,
    { line: line(above) },
    `${formatColumnCount(rows[above].length)}, and no rows below line ${line(start)}, which has ${formatColumnCount(rows[start].length)}: this is not a table`,
    'Give all rows the same number of cells, or say where the table begins: --skip LINES.',
  )
}

/** Removes the last columns that are empty in all rows. */
function withoutEmptyColumns(rows: string[][]): string[][] {
  let width = rows[0].length
  while (width > 1 && rows.every((row) => row[width - 1].trim() === '')) width--
  return rows.map((row) => row.slice(0, width))
}

function formatColumnCount(count: number): string {
  return count === 1 ? '1 column' : `${count} columns`
}

/** Returns whether a row is empty or a comment. */
function isBlankOrComment(row: readonly string[]): boolean {
  return row.every((cell) => cell.trim() === '') || row[0].startsWith('#')
}

/** Returns whether lines of one width look like a table. */
function looksLikeTable(rows: string[][]): boolean {
  const width = rows[0].length
  const [first, ...data] = rows
  // A header and one row of numbers.
  if (rows.length === 2 && width > 1)
    return countHeaderRows(rows) === 1 && (data[0].every(isNumeric) || (width > 2 && data[0].some(isNumeric)))
  if (rows.length < 3) return false
  const numeric = first.map((_, k) => data.every((row) => isNumeric(row[k])))
  if (width === 1) return numeric[0]
  // Titles from spreadsheets: a text and empty cells.
  if (rows.every((row) => row.slice(1).every((cell) => cell.trim() === ''))) return false
  // Labels with values, also padded with empty cells.
  if (width === 2 && rows.every(isLabel)) return false
  const used = first.map((_, k) => rows.some((row) => row[k].trim() !== ''))
  if (rows.every((row) => row.some((cell, k) => used[k] && cell.trim() === ''))) return false
  if (width > 2) return true
  return rows.length > MAX_LABEL_LINES || numeric.some(Boolean)
}

/** Returns the index of the first row of the table, after titles, comments and blank lines. */
export function findTableStart(candidate: Candidate): number {
  const { rows, width, first, quoted } = candidate
  // The first line of Campbell loggers names the station and program.
  if (rows.length > 1 && /^TOA(5|CI1)$/.test(rows[0][0])) return 1
  let start = skipLabels(candidate, skipTitle(candidate, first))
  // A header can have fewer cells than the data: R's write.table writes no name for the row names.
  if (width > 1 && start === first)
    start = findHeaderAbove(candidate, start) ?? (isShortHeader(candidate, start) ? start - 1 : start)
  // Quoted text is not a comment.
  const comment = (k: number): boolean => rows[k]?.[0].startsWith('#') === true && !quoted[k]?.first
  let after = start
  while (comment(after)) after++
  if (after === start || after >= rows.length) return start
  // The last comment line is the header if it has as many cells as the rows, and those have no header.
  const last = rows[after - 1]
  const below = rows.slice(after)
  const isHeader =
    last.length === rows[after].length &&
    width > 1 &&
    (countHeaderRows(below) === 0 || (/^#\S/.test(last[0]) && !hasHeaderOverNumbers(below)))
  return isHeader ? after - 1 : after
}

function hasContent(row: readonly string[]): boolean {
  return row.length > 1 || row[0].trim() !== ''
}

/**
 * Returns the index of the first line, if it is a header of narrower rows and of the widest ones below them: its names
 * are distinct, the widest rows have no header of their own, and no line is blank, a comment or a label.
 */
function findHeaderAbove({ rows, width }: Candidate, start: number): number | undefined {
  const at = rows.findIndex((row) => !isBlankOrComment(row))
  const between = rows.slice(at + 1, start)
  if (at < 0 || between.length === 0 || !isNameRow(rows[at]) || isSentence(rows, at)) return undefined
  const isShort = rows[at].length < Math.min(3, width - 1)
  const isRow = (row: readonly string[]): boolean => row.length > 1 && !isBlankOrComment(row) && !isLabel(row)
  if (isShort || !between.every(isRow) || countHeaderRows(rows.slice(start)) > 0) return undefined
  return at
}

/** Returns whether a row begins with a label: `Station:`. */
function isLabel(row: readonly string[]): boolean {
  return /:\s*$/.test(row[0])
}

/** Returns whether a row can be a header: several distinct names. */
function isNameRow(row: readonly string[]): boolean {
  return row.length > 1 && new Set(row).size === row.length && row.every(isColumnName)
}

/**
 * Throws `bad_data` if lines above a table without a header look like its rows, with fewer cells: they would be lost.
 */
export function refuseRowsAbove(
  { rows, lineIndexes, width, first }: Candidate,
  { start, before }: { start: number; before: number },
  source: string,
): void {
  // Lines above a blank one, and sentences with commas, are titles, unless they begin with a number or a date.
  const blank = rows.findLastIndex((row, k) => k < start && isBlankOrComment(row))
  const isTitle = (row: readonly string[], k: number): boolean =>
    !isDataValue(row[0]) && (k < blank || row.slice(1).some((cell) => cell.startsWith(' ')))
  const isRow = (row: readonly string[]): boolean => row.filter((cell) => cell.trim() !== '').length > 2
  const above = rows.findIndex(
    (row, k) => k < start && !isBlankOrComment(row) && !isLabel(row) && isRow(row) && !isTitle(row, k),
  )
  if (above < 0) return
  const line = (row: number): number => (lineIndexes[row] ?? row) + 1 + before
  throw badData(
    source,
    { line: line(above) },
    `${formatColumnCount(rows[above].length)}, and ${width} from line ${line(Math.max(first, start))} on, without names of columns`,
    'Give all rows the same number of cells, or say where the table begins: --skip LINES.',
  )
}

/** Returns whether the line above the widest rows is their header, not a title. */
function isShortHeader({ rows, width, style }: Candidate, start: number): boolean {
  const above = rows[start - 1]
  if (!above || above[0] === '' || above[0].startsWith('#') || isSentence(rows, start - 1)) return false
  if (hasHeaderOverNumbers(rows.slice(start))) return false
  if (above.length === width - 1) return width > 2 || isBlankDelimiter(style.delimiter)
  return (
    above.length > 1 &&
    rows.findIndex((row) => !isBlankOrComment(row)) === start - 1 &&
    new Set(above).size === above.length &&
    above.every((cell) => cell.trim() !== '' && !isNumeric(cell)) &&
    countHeaderRows(rows.slice(start)) === 0
  )
}

/** Returns whether a delimiter is white space. */
export function isBlankDelimiter(delimiter: string): boolean {
  return delimiter === ' ' || delimiter === '\t'
}

/**
 * Returns whether lines below a single cell are a column of texts that contain the delimiter, not a table
 * below its title: they have no header, or only texts below a single word, or all commas are punctuation.
 */
export function isTextList({ rows: sampleRows, width, first: at, style }: Candidate): boolean {
  const rows = sampleRows.slice(Math.max(0, sampleRows.findIndex(hasContent)))
  const first = at - (sampleRows.length - rows.length)
  if (first !== 1 || rows[0].length !== 1 || isBlankDelimiter(style.delimiter)) return false
  const below = rows.slice(1).filter((row) => row.length > 1)
  if (below.length === 0 || rows[1].length === 1) return false
  if (style.delimiter === ',' && below.every((row) => row.slice(1).every((cell) => cell.startsWith(' '))))
    return true
  // Commas between numbers with decimal points are delimiters.
  if (
    style.delimiter === ',' &&
    /^\s*-?[\d.]+\s*$/.test(rows[0][0]) &&
    below.every((row) => row.every((cell) => /^\s*-?\d+\.\d+\s*$/.test(cell)))
  )
    return false
  // Lists vary in length, and lists of numbers are not separated by semicolons only.
  const isTable = below.length > 2 && rows.slice(1).every((row) => row.length === width || !hasContent(row))
  if (isTable && width > 2) return false
  if (isTable && /[;|]/.test(style.delimiter) && below.every((row) => row.every((cell) => isDataValue(cell))))
    return false
  if (width === 2 && countHeaderRows(below) === 0) return true
  const isText = below.every((row) => !row.some((cell) => isDataValue(cell)))
  return isText && !/\s/.test(rows[0][0].trim())
}

/**
 * Skips titles from spreadsheets: one cell followed by empty ones, or a sentence with commas above a table
 * with a header over numbers. Returns the index of the next row.
 */
function skipTitle({ rows, width }: Candidate, first: number): number {
  // Columns with any value: spreadsheets export empty columns at the end.
  const used = Array.from({ length: width }, (_, k) =>
    rows.some((row) => (row[k] ?? '').trim() !== ''),
  ).filter(Boolean).length
  const empty = (row: string[]): boolean => row.every((cell) => cell.trim() === '')
  const full = (row: string[]): boolean => row.length >= width && row.every((cell) => cell.trim() !== '')
  const title = (row: string[]): boolean => {
    const filled = row.filter((cell) => cell.trim() !== '').length
    // A label with its value.
    return filled === 1 || (filled === 2 && used > 3 && (isLabel(row) || isLabel(rows[first])))
  }
  const mostly = (row: string[]): boolean =>
    row.length >= width && row.filter((cell) => cell.trim() !== '').length > used / 2
  if (width < 2) return first
  let at = first
  while (at < rows.length && (empty(rows[at]) || title(rows[at]))) at++
  if (at > first && at + 1 < rows.length && mostly(rows[at]) && countHeaderRows(rows.slice(at)) > 0) return at
  // Two words can be column names, unless a blank line follows.
  const isTitle =
    isSentence(rows, first) &&
    (empty(rows[first + 1] ?? []) || rows[first].join(' ').trim().split(/\s+/).length > 2)
  if (isTitle) {
    const next = rows.findIndex((row, k) => k > first && !empty(row))
    if (next > 0 && hasHeaderOverNumbers(rows.slice(next))) return next
  }
  const gap = rows.findIndex((row, k) => k > first && empty(row))
  if (gap > 0 && gap <= first + MAX_LABEL_LINES && !rows.slice(first, gap).some(full)) {
    const [header, ...data] = rows.slice(gap).filter((row) => !empty(row))
    // Labels padded with empty cells, a blank line, and a header over numbers or dates.
    const isNamed =
      header?.length === width && new Set(header).size === width && header.every((cell) => isColumnName(cell))
    const isOver = (k: number): boolean => data.every((row) => isDataValue(row[k] ?? ''))
    if (isNamed && data.length > 0 && header.some((_, k) => isOver(k))) return rows.indexOf(header)
  }
  const blank = rows.findIndex((row, k) => k > first && k <= first + 3 && row.length === 1 && empty(row))
  const below = rows.slice(blank + 1)
  if (blank < 0 || below.length < 2 || !full(below[0]) || countHeaderRows(below) === 0) return first
  // Column names above a blank line, not a title with commas.
  if (
    !isTitle &&
    blank === first + 1 &&
    full(rows[first]) &&
    rows[first].every((cell) => !isDataValue(cell) && !/\s/.test(cell.trim()))
  )
    return first
  return hasHeaderOverNumbers(below) && (blank === first + 1 || countHeaderRows(rows.slice(first, blank)) > 0)
    ? blank + 1
    : first
}

/**
 * Skips lines with labels and values above a table of two columns: `From,2024-01-01`, `To,2024-01-31`,
 * `Date,Amount`. Requires a header below, over numbers or dates, and lines unlike its rows.
 */
function skipLabels({ rows, width }: Candidate, first: number): number {
  if (width !== 2) return first
  const isNamedValue = (row: string[]): boolean =>
    row.length === 2 && /^\D/.test(row[0]) && row[1].trim() !== ''
  for (let k = first + 1; k <= first + MAX_LABEL_LINES && k + 2 < rows.length; k++) {
    if (!isNamedValue(rows[k - 1])) return first
    const [header, ...data] = rows.slice(k)
    const named = header.length === 2 && header.every((cell) => cell.trim() !== '' && !isDataValue(cell))
    const below = data.filter((row) => row.length > 1)
    if (!named || below.length < 2 || k < first + 2) continue
    const isData = (row: string[]): boolean => row.every((cell) => isDataValue(cell))
    // A name over values is already a header.
    if (!rows.slice(first, k).every((row) => isDataValue(row[1]) || isLabel(row))) return first
    if (
      below.every(isData) &&
      rows.slice(first, k).some((row) => isDataValue(row[1])) &&
      !rows.slice(first, k).some(isData)
    )
      return k
  }
  return first
}

/** Returns whether a cell can be a column name. */
function isColumnName(cell: string): boolean {
  return /\p{L}/u.test(cell) && !isDataValue(cell)
}

/** Returns whether the first row is a header with a name over a column of numbers. */
function hasHeaderOverNumbers([header, ...data]: readonly string[][]): boolean {
  if (!header || data.length === 0 || countHeaderRows([header, ...data]) === 0) return false
  return header.some((name, k) => !isNumeric(name) && data.every((row) => /^-?[\d.]+$/.test(row[k] ?? '')))
}

/** Returns whether a row is a sentence with commas: only it has spaces after its delimiters. */
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

/** Returns whether a cell has only digits, with dots and commas and a sign. It need not be a valid number. */
export function isNumeric(cell: string): boolean {
  return /^\s*[+-]?[\d.,]+\s*$/.test(cell)
}
