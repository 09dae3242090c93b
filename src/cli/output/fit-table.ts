// Fits tables to the terminal width.
import { hasColor } from './color.ts'
import { formatTable } from './table.ts'
import { cutToWidth, widthOf } from './text-width.ts'
import type { TableView } from './view.ts'

/** Maximum number of columns of a table: formatting takes the square of it. */
const MAX_TABLE_COLUMNS = 200
/** Maximum width of a printed cell, in cells of the terminal. */
const MAX_CELL_WIDTH = 40

/** Rows of a grid as texts. */
export interface Cells {
  names: readonly string[]
  /** True for columns that contain only numbers. */
  numeric: readonly boolean[]
  rows: readonly (readonly string[])[]
}

/**
 * Formats as many columns as fit into a width, at least one and at most `MAX_TABLE_COLUMNS`. `isCut`: long texts are
 * shortened. Returns also the number of columns.
 */
export function formatFittedTable(
  { names, numeric, rows }: Cells,
  width: number,
  color: boolean,
  isCut = true,
): { text: string; columnCount: number } {
  const texts = isCut ? rows.map((row) => row.map((text) => cutToWidth(text, MAX_CELL_WIDTH))) : rows
  let remaining = width
  let columnCount = 0
  for (; columnCount < Math.min(names.length, MAX_TABLE_COLUMNS); columnCount++) {
    remaining -=
      texts.reduce(
        (widest, row) => Math.max(widest, widthOf(row[columnCount])),
        widthOf(names[columnCount]),
      ) + (columnCount > 0 ? 2 : 0)
    if (columnCount > 0 && remaining < 0) break
  }
  const view: TableView = {
    columns: names.slice(0, columnCount).map((name, k) => ({
      field: name,
      title: name,
      align: numeric[k] ? ('right' as const) : undefined,
    })),
  }
  const cells = texts.map((row) => row.slice(0, columnCount))
  const text = formatTable(false, view, cells, color)
  return { text, columnCount }
}

/** Maximum number of names of columns that are not shown. */
const MAX_NAMED_COLUMNS = 10

/** Describes the columns that do not fit: `2 of 4 columns; not shown: a, b`. Undefined if all fit. */
export function describeHiddenColumns(names: readonly string[], shown: number): string | undefined {
  if (shown >= names.length) return undefined
  const hidden = names.slice(shown, shown + MAX_NAMED_COLUMNS).join(', ')
  return `${shown} of ${names.length} columns; not shown: ${hidden}${names.length - shown > MAX_NAMED_COLUMNS ? ' …' : ''}`
}

/** Formats a result as a table, as wide as the terminal, and says which columns do not fit. */
export function formatResultTable(environment: NodeJS.ProcessEnv, cells: Cells): string {
  const isTerminal = process.stdout.isTTY === true
  const width = isTerminal ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY
  const { text, columnCount } = formatFittedTable(
    cells,
    width,
    hasColor(process.stdout, environment),
    isTerminal,
  )
  const hidden = describeHiddenColumns(cells.names, columnCount)
  return hidden === undefined ? text : `${text}${hidden}\n`
}
