// Detects quotes, escapes and spacing for a given delimiter.
import type { Style } from './sample-rows.ts'

/** Number of characters searched for the quoting style. */
export const QUOTE_SEARCH_CHARACTERS = 64 * 1024

/** Minimum number of rows from which others can be judged. */
export const MIN_ROWS = 3

/** Detects quotes, escapes and spacing for a delimiter. */
export function detectStyle(text: string, delimiter: string, crOnly: boolean): Style {
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
