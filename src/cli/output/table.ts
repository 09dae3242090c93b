import { Chalk } from 'chalk'
import Table from 'cli-table3'
import type { TableView } from './view.ts'
import { visible } from './visible.ts'

const plain = {
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
 * Formats rows as a table, or a single item as a list of fields. For terminals: texts of a table that is wider than
 * `width` are broken between words, and columns without any text are left out.
 */
export function table(
  single: boolean,
  view: TableView,
  cells: string[][],
  color: boolean,
  width = Number.POSITIVE_INFINITY,
): string {
  const chalk = new Chalk({ level: color ? 1 : 0 })
  const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] }
  const clean = cells.map((row) => row.map(visible))
  if (single) {
    const shown = view.columns
      .map(({ title }, k) => [visible(title).toLowerCase(), clean[0][k]])
      .filter(([, text]) => text !== '')
    const longest = Math.max(...shown.map(([title]) => title.length))
    return shown.map(([title, text]) => `${chalk.dim(title.padEnd(longest))}  ${text}\n`).join('')
  }
  const titles = view.columns.map(({ title }) => visible(title))
  const natural = widthsOf(titles, clean, (text) => text.length)
  const isWide = sum(natural) + GAP * (natural.length - 1) > width
  const words = widthsOf(titles, clean, longestWord)
  const kept = titles.map((_, k) => k).filter((k) => !isWide || clean.some((row) => row[k] !== ''))
  const widths = isWide
    ? fitted(
        kept.map((k) => natural[k]),
        kept.map((k) => (view.columns[k].isCut ? titles[k].length : words[k])),
        width - GAP * (kept.length - 1),
      )
    : undefined
  const rows = new Table({
    chars: plain,
    style,
    head: kept.map((k) => chalk.dim(titles[k])),
    colAligns: kept.map((k) => view.columns[k].align ?? 'left'),
    ...(widths && { colWidths: widths, wordWrap: true }),
  })
  const shown = (text: string, k: number, width = text.length): string =>
    view.columns[k].isCut && text.length > width ? `${text.slice(0, width - 1)}…` : text
  rows.push(...clean.map((row) => kept.map((k, at) => shown(row[k], k, widths?.[at]))))
  return `${String(rows).replace(/[ \t]+$/gm, '')}\n`
}

/** Blanks between columns. */
const GAP = 2

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function longestWord(text: string): number {
  return Math.max(...text.split(' ').map((word) => word.length))
}

function widthsOf(
  titles: readonly string[],
  rows: readonly string[][],
  sizeOf: (text: string) => number,
): number[] {
  return titles.map((title, k) => Math.max(sizeOf(title), ...rows.map((row) => sizeOf(row[k]))))
}

/** Widths that fit, if that is possible without breaking words: the widest columns get narrower. */
function fitted(natural: readonly number[], least: readonly number[], room: number): number[] {
  const widths = [...natural]
  for (let over = sum(widths) - room; over > 0; over--) {
    const widest = widths.reduce(
      (best, width, k) => (width > least[k] && width > (widths[best] ?? 0) ? k : best),
      -1,
    )
    if (widest < 0) break
    widths[widest]--
  }
  return widths
}

/** A table without optional columns that do not fit, the last ones first. */
export function narrowed(
  view: TableView,
  cells: string[][],
  width: number,
): { view: TableView; cells: string[][] } {
  const widths = view.columns.map(({ title, least = Number.POSITIVE_INFINITY }, k) => {
    const longest = cells.reduce((most, row) => Math.max(most, row[k].length), 0)
    return longest === 0 ? 0 : Math.max(title.length, Math.min(longest, least)) + GAP
  })
  const wide = sum(widths) - GAP
  const last = view.columns.findLastIndex(({ isOptional }) => isOptional)
  if (wide <= width || last < 0) return { view, cells }
  const without = <T>(all: readonly T[]): T[] => all.filter((_, k) => k !== last)
  return narrowed({ ...view, columns: without(view.columns) }, cells.map(without), width)
}
