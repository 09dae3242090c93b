// Fits tables to the terminal width.
import { formatTable } from './table.ts'
import type { TableView } from './view.ts'

/** Maximum length of a printed cell. */
const MAX_CELL_CHARACTERS = 40

/** Rows of a grid as texts. */
export interface Cells {
  names: readonly string[]
  /** True for columns that contain only numbers. */
  numeric: readonly boolean[]
  rows: readonly (readonly string[])[]
}

/**
 * Formats as many columns as fit into a width, at least one. `isCut`: long texts are shortened. Returns also
 * the number of columns.
 */
export function formatFittedTable(
  { names, numeric, rows }: Cells,
  width: number,
  color: boolean,
  isCut = true,
): { text: string; columnCount: number } {
  const texts = isCut ? rows.map((row) => row.map(truncate)) : rows
  let remaining = width
  let columnCount = 0
  for (; columnCount < names.length; columnCount++) {
    remaining -=
      texts.reduce((longest, row) => Math.max(longest, row[columnCount].length), names[columnCount].length) +
      (columnCount > 0 ? 2 : 0)
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

/** Shortens a text. */
function truncate(text: string): string {
  return text.length <= MAX_CELL_CHARACTERS ? text : `${text.slice(0, MAX_CELL_CHARACTERS - 1)}…`
}
