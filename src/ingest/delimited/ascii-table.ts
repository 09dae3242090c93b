// Converts ASCII tables (psql, MySQL, Markdown) and texts with long delimiters to CSV.
import type { Problem } from '../../contract/errors.ts'
import { defaultLimits } from '../../contract/limits.ts'
import { type Bytes, excerpt, yieldToEventLoop } from '../../json/index.ts'
import { isNumeric } from '../detect/table-start.ts'
import type { DelimitedOptions } from '../values/dialect.ts'
import { badData, COMMENT_LINES_WARNING, lineTooLongError, type Warnings } from '../values/warnings.ts'

/** Maximum number of lines in which an ASCII table is recognized. */
const MAX_HEAD_LINES = 100
/** Replaces lines outside the table, so that the other lines keep their numbers. */
const DROPPED_LINE = '\x1e'
/** Replaces a delimiter of several characters. */
const SINGLE_DELIMITER = '\x1f'

const CORNERS = '+├┌└╞╔╠╚╭╰┏┡┣┗|'
const LINE = /^[-=+:─━═┬┼┴┐┘┤╤╪╧╡╦╬╩╗╝╣╮╯┳╇┻┓┩┛┫|├┌└╞╔╠╚╭╰┏┡┣┗]+$/
const BAR = /[|│┃║]/
const PSQL_RULE = /^\s*-+(\+-+)*\s*$/
const RULES = /^\s*(-{2,}|={2,})([ \t]+(-+|=+))*\s*$/
const FOOTER =
  /^(\(?\d+ (row|record|tuple)s?( in set| selected| affected|, .*)?( \([\d.]+ sec\))?\)?\.?|Time: .*|Empty set.*)$/i

/** Maximum length of a footer. */
const MAX_FOOTER_CHARACTERS = 200

function isFooter(line: string): boolean {
  return line.length <= MAX_FOOTER_CHARACTERS && FOOTER.test(line.trim())
}

/** Returns whether a line is a border or rule of a table. */
function isBorder(line: string): boolean {
  const drawn = line.trim()
  return drawn !== '' && CORNERS.includes(drawn[0]) && LINE.test(drawn) && /[-=─━═]/.test(drawn)
}

/** Returns whether a line is the rule below the header of a Markdown table: `|---|:-:|`. */
function isMarkdownRule(line: string): boolean {
  if (!line.includes('|') || !line.includes('-')) return false
  const cells = line.trim().replace(/^\|/, '').replace(/\|$/, '').split('|')
  return cells.every((cell) => /^:?-+:?$/.test(cell.trim()))
}

/** A kind of ASCII table. */
interface AsciiTable {
  /** Description in messages. */
  what: string
  /** Line of the header, from 0. */
  header: number
  /** Splits a line into cells; undefined for lines that are not rows. */
  cells(line: string): string[] | undefined
  /** Returns whether a line without cells, below a row, is the rest of a value. */
  isStray?(line: string): boolean
  /** Returns whether a value of the row continues on the next line. */
  isContinued?(line: string): boolean
  /** Returns whether the table ends with this line. */
  isEnd?(line: string): boolean
}

/** Converts an ASCII table to CSV, and returns the options to read it; undefined for other texts. */
export function convertAsciiTable(
  text: Bytes,
  head: Buffer,
  options: DelimitedOptions,
  warnings: Warnings,
): { text: Bytes; options: DelimitedOptions } | undefined {
  const { source = 'input', limits = defaultLimits } = options
  if (options.delimiter !== undefined || options.quote !== undefined) return undefined
  const lines = head.toString('utf8', 0, Math.min(head.length, 64 * 1024)).split(/\r?\n/)
  if (lines.length > 1) lines.pop()
  lines.splice(MAX_HEAD_LINES)
  const changed = (change: (line: string) => string): Bytes =>
    mapLines(text, change, limits.record_bytes, source)
  const longDelimiter = LONG_DELIMITERS.find((delimiter) => isLongDelimiter(delimiter, lines))
  if (longDelimiter !== undefined) {
    warnings.note(`delimiter detected: ${longDelimiter === '\t\t' ? 'two tabs' : longDelimiter}`)
    const replaced = changed((line) => line.replaceAll(longDelimiter, SINGLE_DELIMITER))
    return { text: replaced, options: { ...options, delimiter: SINGLE_DELIMITER } }
  }
  if (areQuotedLines(lines)) {
    warnings.note('the quotes around each line were removed')
    return { text: changed(unquoteLine), options }
  }
  const printed =
    detectBoxed(lines) ??
    detectMarkdown(lines) ??
    detectPsql(lines) ??
    detectRuled(lines) ??
    detectAligned(lines)
  if (!printed) return undefined
  warnings.note(`read as ${printed.what}`)
  const csvOptions = {
    ...options,
    delimiter: ',',
    quote: '"',
    escape: '',
    comment: DROPPED_LINE,
    header: options.header ?? true,
  }
  warnings.mute(COMMENT_LINES_WARNING)
  return { text: changed(createCsvConverter(printed, source, warnings)), options: csvOptions }
}

/** Transforms a text line by line, without line ends. Throws `bad_data` for a line that is too long. */
async function* mapLines(
  text: Bytes,
  change: (line: string) => string,
  maxRecord: number,
  source: string,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  let size = 0
  let number = 1
  for await (const chunk of text) {
    await yieldToEventLoop()
    const lines = decoder.decode(chunk, { stream: true }).split('\n')
    begun.push(lines[0])
    size += lines[0].length
    if (size > maxRecord) throw lineTooLongError(source, number, maxRecord)
    if (lines.length === 1) continue
    lines[0] = begun.join('')
    number += lines.length - 1
    begun = [lines.pop()!]
    size = begun[0].length
    yield Buffer.from(lines.map((line) => `${change(line.replace(/\r$/, ''))}\n`).join(''))
  }
  if (size > 0) yield Buffer.from(change(begun.join('')))
}

/** Creates a function that converts the lines of an ASCII table to CSV, in order. */
function createCsvConverter(
  printed: AsciiTable,
  source: string,
  warnings: Warnings,
): (line: string) => string {
  let number = 0
  let wasRow = false
  let ended = false
  let header: string | undefined
  const drop = (line: string): string => {
    if (line.trim() !== '' && !isFooter(line) && !isBorder(line))
      warnings.countLine(number, 'lines outside the table were skipped', `: ${excerpt(line.trim(), 60)}`)
    return DROPPED_LINE
  }
  const fail = (line: string, what: string, hint: string): Problem =>
    badData(source, { line: number }, `${what}: ${excerpt(line.trim(), 60)}`, hint)
  const broken = (line: string): Problem =>
    fail(line, 'a value of the table contains a line end', 'Export the table as CSV.')
  return (line) => {
    number++
    if (number <= printed.header) return drop(line)
    if (ended) {
      if (line.trim() !== '' && printed.cells(line) && !isFooter(line))
        throw fail(line, 'a second table starts here', 'Put each table in its own file.')
      return drop(line)
    }
    if (isFooter(line) || printed.isEnd?.(line)) {
      ended = number > printed.header + 2
      return drop(line)
    }
    const cells = printed.cells(line)
    if (!cells) {
      if (wasRow && printed.isStray?.(line)) throw broken(line)
      wasRow = false
      return DROPPED_LINE
    }
    if (printed.isContinued?.(line)) throw broken(line)
    wasRow = true
    const csv = cells.map(quoteCsvCell).join(',')
    // Long tables repeat the header on each page.
    if (csv === header) return DROPPED_LINE
    header ??= csv
    return csv
  }
}

/** Quotes a CSV cell if necessary. */
function quoteCsvCell(cell: string): string {
  return /[",\x1e]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** Delimiters of several bytes. */
const LONG_DELIMITERS = ['~|~', '|~|', '^|^', '||', '::', '@@', '##', '§', '¦', '\t\t']

/**
 * Returns whether all lines have the same number of a long delimiter, and the header has its characters
 * nowhere else.
 */
function isLongDelimiter(delimiter: string, lines: readonly string[]): boolean {
  const filled = lines.filter((line) => line.trim() !== '')
  if (filled.length < 2 || !filled[0].includes(delimiter)) return false
  const count = filled[0].split(delimiter).length
  const rest = filled[0].replaceAll(delimiter, '')
  if (filled.some((line) => line.split(delimiter).length !== count)) return false
  if ([...delimiter].some((part) => rest.includes(part))) return false
  // Cells between ordinary delimiters can contain it.
  const isOrdinary = (ordinary: string): boolean => {
    const cells = filled[0].split(ordinary).length
    return (
      cells > 1 &&
      !delimiter.includes(ordinary) &&
      filled.every((line) => line.split(ordinary).length === cells)
    )
  }
  if ([',', ';', '\t', '|'].some(isOrdinary)) return false
  // Two tabs or colons can be an empty cell in every row.
  const isRepeated = delimiter === '\t\t' || delimiter === '::'
  return !isRepeated || filled.every((line) => !line.replaceAll(delimiter, '').includes(delimiter[0]))
}

/** A quoted line in which quotes are doubled. */
const QUOTED_LINE = /^"(?:[^"]|"")*"$/

function unquoteLine(line: string): string {
  return QUOTED_LINE.test(line) ? line.slice(1, -1).replaceAll('""', '"') : line
}

/**
 * Returns whether each line is one quoted cell that contains a row: unquoted, all have the same number of
 * delimiters.
 */
function areQuotedLines(lines: readonly string[]): boolean {
  const filled = lines.filter((line) => line.trim() !== '')
  if (
    filled.length < 2 ||
    !filled.every((line) => line.length < MAX_QUOTED_LINE_CHARACTERS && QUOTED_LINE.test(line))
  )
    return false
  return [',', ';', '\t', '|'].some((delimiter) => {
    const counts = filled.map(
      (line) =>
        unquoteLine(line)
          .replace(/"(?:[^"]|"")*"/g, '')
          .split(delimiter).length,
    )
    // Commas followed by spaces are punctuation.
    const isText =
      delimiter === ',' &&
      (filled.every((line) => !/,(?! )/.test(line)) ||
        filled.slice(1).every((line) => /^"\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*"$/.test(line)))
    return counts[0] > 2 && !isText && counts.every((count) => count === counts[0])
  })
}

const MAX_QUOTED_LINE_CHARACTERS = 8192

/** Splits a line at its bars. */
function splitAtBars(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^[|│┃║]/, '')
    .replace(/[|│┃║]$/, '')
  return inner.split(BAR).map((cell) => cell.trim())
}

/**
 * Returns whether a value continues on the next line, which `psql` marks by a plus in the last column of a
 * cell.
 */
function hasContinuation(cells: readonly string[], widths: readonly number[]): boolean {
  return (
    cells.length === widths.length && cells.some((cell, k) => cell.length === widths[k] && cell.endsWith('+'))
  )
}

/** Names of column types, which DuckDB prints below the header. */
const COLUMN_TYPE =
  /^(u?(tiny|small|big|huge)?int(eger)?\d*|varchar.*|char.*|text|double|float\d*|real|date|timestamp.*|time|bool(ean)?|decimal.*|numeric.*|blob|uuid|json|i\d+|f\d+|str)$/i

/** Lines that DuckDB prints in place of rows. */
const DUCKDB_FOOTER = /\brows\b|\bshown\b|·/

/** Detects tables with a border: MySQL, `psql` with border 2, DuckDB and others. */
function detectBoxed(lines: readonly string[]): AsciiTable | undefined {
  const top = lines.findIndex((line) => isBorder(line) && /[+┌╔╭┏]/.test(line.trim()[0] ?? ''))
  if (top < 0 || !BAR.test(lines[top + 1]?.trim()[0] ?? '')) return undefined
  const width = splitAtBars(lines[top + 1]).length
  const widths = lines[top]
    .trim()
    .slice(1, -1)
    .split(/[+┬╤╦┳]/)
    .map((segment) => segment.length)
  // DuckDB prints the types of the columns below their names.
  const second = isBorder(lines[top + 3] ?? '') && !isBorder(lines[top + 2]) ? lines[top + 2] : ''
  const types =
    second !== '' && splitAtBars(second).every((cell) => COLUMN_TYPE.test(cell)) ? second : undefined
  return {
    what: 'a table with a border',
    header: top,
    cells: (line) => {
      if (line === types || isBorder(line) || !BAR.test(line.trim()[0] ?? '')) return undefined
      const cells = splitAtBars(line)
      // Other lines of another width contain a bar in a value, which is refused.
      return cells.length === width || !DUCKDB_FOOTER.test(line) ? cells : undefined
    },
    isStray: (line) => line.trim() !== '' && line !== types && !isBorder(line) && !DUCKDB_FOOTER.test(line),
    isContinued: (line) => hasContinuation(line.trim().slice(1, -1).split(BAR), widths),
    isEnd: (line) => /^\s*[└╚╰┗]/.test(line),
  }
}

/** Returns how to read a Markdown table; undefined if there is none. */
function detectMarkdown(lines: readonly string[]): AsciiTable | undefined {
  const rule = lines.findIndex((line, k) => k > 0 && isMarkdownRule(line))
  if (rule < 1 || lines.findIndex((line) => line.includes('|')) !== rule - 1) return undefined
  const cellsOf = (line: string): string[] =>
    line
      .trim()
      .replace(/^\|/, '')
      .replace(/(?<!\\)\|$/, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'))
  if (cellsOf(lines[rule]).length !== cellsOf(lines[rule - 1]).length) return undefined
  return {
    what: 'a Markdown table',
    header: rule - 1,
    cells: (line) => (!line.includes('|') || isMarkdownRule(line) ? undefined : cellsOf(line)),
    isEnd: (line) => !line.includes('|') && line.trim() !== '',
  }
}

/** Detects tables printed by `psql` without a border. */
function detectPsql(lines: readonly string[]): AsciiTable | undefined {
  const rule = lines.findIndex((line, k) => k > 0 && line.includes('+') && PSQL_RULE.test(line))
  if (rule < 1) return undefined
  const widths = lines[rule].split('+').map((segment) => segment.length)
  const width = widths.length
  if (lines[rule - 1].split('|').length !== width) return undefined
  return {
    what: 'a table printed by psql',
    header: rule - 1,
    cells: (line) =>
      line.trim() === '' || PSQL_RULE.test(line) ? undefined : line.split('|').map((cell) => cell.trim()),
    isContinued: (line) => hasContinuation(line.split('|'), widths),
  }
}

/** Detects columns whose positions are marked by rules of dashes: sqlplus, sqlcmd and others. */
function detectRuled(lines: readonly string[]): AsciiTable | undefined {
  const rule = lines.findIndex((line, k) => k > 0 && RULES.test(line) && /[-=]\s+[-=]/.test(line))
  if (rule < 1 || lines[rule - 1].trim() === '' || /[,;\t|]/.test(lines[rule - 1])) return undefined
  const starts = [...lines[rule].matchAll(/[-=]+/g)].map(({ index }) => index)
  return {
    what: 'columns of fixed width',
    header: rule - 1,
    cells: (line) => {
      if (line.trim() === '' || RULES.test(line)) return undefined
      return starts.map((start, k) => line.slice(k === 0 ? 0 : start, starts[k + 1]).trim())
    },
  }
}

/** Minimum number of rows for columns aligned with spaces. */
const MIN_ALIGNED_ROWS = 3

/**
 * Detects columns aligned with spaces: separated by positions that are blank in all lines, mostly at least
 * two.
 */
function detectAligned(lines: readonly string[]): AsciiTable | undefined {
  const start = lines.findIndex((line) => line.trim() !== '')
  const filled = lines.slice(Math.max(0, start)).filter((line) => line.trim() !== '')
  const rows = filled.filter((line) => !isFooter(line))
  if (rows.length < MIN_ALIGNED_ROWS || rows.some((line) => /[\t|"]/.test(line))) return undefined
  for (const delimiter of [',', ';']) {
    const count = rows[0].split(delimiter).length
    if (count > 1 && rows.filter((line) => line.split(delimiter).length === count).length > rows.length / 2)
      return undefined
  }
  // If each cell is one word, a space is an ordinary delimiter.
  const words = rows.map((line) => line.trim().split(/ +/).length)
  if (words.every((count) => count === words[0])) return undefined
  const length = Math.max(...rows.map((line) => line.length))
  const blank = Array.from({ length }, (_, k) => rows.every((line) => (line[k] ?? ' ') === ' '))
  const places = Array.from({ length }, (_, k) => k).filter((k) => !blank[k] && (k === 0 || blank[k - 1]))
  const [names, ...values] = rows
  const isNumbers = (from: number, to: number | undefined): boolean =>
    /\p{L}/u.test(names.slice(from, to)) && values.every((line) => isNumeric(line.slice(from, to)))
  // A single blank column can be chance, as words may end there in all lines; but not next to named numbers.
  const starts = places.filter(
    (k, at) =>
      at === 0 ||
      blank[k - 2] ||
      (/\S/.test(names.slice(places[at - 1], k)) &&
        /\S/.test(names.slice(k, places[at + 1])) &&
        (isNumbers(places[at - 1], k) || isNumbers(k, places[at + 1]))),
  )
  if (starts.length < 2) return undefined
  const split = (line: string): string[] =>
    starts.map((from, k) => line.slice(k === 0 ? 0 : from, starts[k + 1]).trim())
  const table = rows.map(split)
  const full = table.filter((cells) => cells.filter((cell) => cell !== '').length > starts.length / 2).length
  if (full < rows.length * 0.9 || table[0].some((cell) => cell === '')) return undefined
  return {
    what: 'columns aligned with spaces',
    header: start,
    cells: (line) => (line.trim() === '' ? undefined : split(line)),
  }
}
