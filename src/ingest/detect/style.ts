// Chooses the delimiter, quotes and line ends that fit a text best.
import type { DelimitedOptions } from '../values/dialect.ts'
import { Warnings } from '../values/warnings.ts'
import { type Candidate, readCandidate } from './candidate.ts'
import { countHeaderRows, isDataValue } from './header.ts'
import { QUOTE_SEARCH_CHARACTERS } from './quoting.ts'
import { isFilledRow } from './sample-rows.ts'
import { isTextList } from './table-start.ts'

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
    else if (c === '\r' && i + 1 < text.length && text[i + 1] !== '\n') ends.cr++
  }
  // At the end of a sample, a CR can be half of a line end.
  if (ends.lf === 0 && text.endsWith('\r')) ends.cr++
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
  const filled = rows.filter(isFilledRow)
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
  const data = c.rows.slice(c.first + 1).filter(isFilledRow)
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
