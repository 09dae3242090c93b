// Formats tables for terminals.
import { Chalk } from 'chalk'
import Table from 'cli-table3'
import { escapeTerminal } from './escape-terminal.ts'
import { wrapText } from './messages.ts'
import { cutToWidth, widthOf } from './text-width.ts'
import type { TableView } from './view.ts'

/** Table characters: no borders. */
const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/**
 * Formats rows as a table, or one item as a list of fields. If wider than `width`, texts wrap between words,
 * and empty columns are omitted. If that is not enough, each row is a list of fields.
 */
export function formatTable(
  single: boolean,
  view: TableView,
  cells: string[][],
  color: boolean,
  width = Number.POSITIVE_INFINITY,
): string {
  const chalk = new Chalk({ level: color ? 1 : 0 })
  const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] }
  const clean = cells.map((row) => row.map(escapeTerminal))
  const formatFields = (row: readonly string[]): string => {
    const visibleFields = view.columns
      .map(({ title }, k) => [escapeTerminal(title).toLowerCase(), row[k]])
      .filter(([, text]) => text !== '')
    const longest = Math.max(...visibleFields.map(([title]) => widthOf(title)))
    const indent = longest + COLUMN_GAP
    return visibleFields
      .map(([title, text]) => {
        const wrapped = wrapText(text, width - indent).replaceAll('\n', `\n${' '.repeat(indent)}`)
        return `${chalk.dim(title + ' '.repeat(indent - widthOf(title)))}${wrapped}\n`
      })
      .join('')
  }
  if (single) return formatFields(clean[0])
  const titles = view.columns.map(({ title }) => escapeTerminal(title))
  const naturalWidths = columnWidths(titles, clean, widthOf)
  const isWide = sum(naturalWidths) + COLUMN_GAP * (naturalWidths.length - 1) > width
  const words = columnWidths(titles, clean, longestWord)
  const columnIndexes = titles.map((_, k) => k).filter((k) => !isWide || clean.some((row) => row[k] !== ''))
  const least = columnIndexes.map((k) => Math.min(words[k], MAX_WORD_CHARACTERS) + COLUMN_GAP)
  if (isWide && sum(least) - COLUMN_GAP > width) return clean.map(formatFields).join('\n')
  const widths = isWide
    ? fitWidths(
        columnIndexes.map((k) => naturalWidths[k]),
        columnIndexes.map((k) => (view.columns[k].isCut ? widthOf(titles[k]) : words[k])),
        width - COLUMN_GAP * (columnIndexes.length - 1),
      )
    : undefined
  const rows = new Table({
    chars: NO_BORDERS,
    style,
    head: columnIndexes.map((k) => chalk.dim(titles[k])),
    colAligns: columnIndexes.map((k) => view.columns[k].align ?? 'left'),
    ...(widths && { colWidths: widths, wordWrap: true }),
  })
  const cutText = (text: string, k: number, width: number | undefined): string =>
    view.columns[k].isCut && width !== undefined ? cutToWidth(text, width) : text
  rows.push(...clean.map((row) => columnIndexes.map((k, position) => cutText(row[k], k, widths?.[position]))))
  return `${String(rows).replace(/[ \t]+$/gm, '')}\n`
}

/** Number of spaces between columns. */
const COLUMN_GAP = 2
/** A longer word is no reason to show rows as lists of fields: the table is a little too wide then. */
const MAX_WORD_CHARACTERS = 20

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Returns the width of the longest word. */
function longestWord(text: string): number {
  return Math.max(...text.split(' ').map(widthOf))
}

/** Returns the width of each column. */
function columnWidths(
  titles: readonly string[],
  rows: readonly string[][],
  sizeOf: (text: string) => number,
): number[] {
  return titles.map((title, k) => Math.max(sizeOf(title), ...rows.map((row) => sizeOf(row[k]))))
}

/** Narrows the widest columns until the table fits, or words would break. */
function fitWidths(natural: readonly number[], minWidths: readonly number[], available: number): number[] {
  const widths = [...natural]
  for (let excess = sum(widths) - available; excess > 0; excess--) {
    const widest = widths.reduce(
      (best, width, k) => (width > minWidths[k] && width > (widths[best] ?? 0) ? k : best),
      -1,
    )
    if (widest < 0) break
    widths[widest]--
  }
  return widths
}

/** Drops optional columns that do not fit, last first. */
export function dropOptionalColumns(
  view: TableView,
  cells: string[][],
  width: number,
): { view: TableView; cells: string[][] } {
  const widths = view.columns.map(({ title, minCharacters = Number.POSITIVE_INFINITY }, k) => {
    const longest = cells.reduce((max, row) => Math.max(max, widthOf(row[k])), 0)
    return longest === 0 ? 0 : Math.max(title.length, Math.min(longest, minCharacters)) + COLUMN_GAP
  })
  const wide = sum(widths) - COLUMN_GAP
  const last = view.columns.findLastIndex(({ isOptional }) => isOptional)
  if (wide <= width || last < 0) return { view, cells }
  const withoutLast = <T>(all: readonly T[]): T[] => all.filter((_, k) => k !== last)
  return dropOptionalColumns({ ...view, columns: withoutLast(view.columns) }, cells.map(withoutLast), width)
}
