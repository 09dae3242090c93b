// Fits tables to the terminal width.
import { table } from './table.ts'
import type { TableView } from './view.ts'

/** Maximum length of a printed cell. */
const WIDEST_CHARACTERS = 40

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
export function fittedTable(
  { names, numeric, rows }: Cells,
  width: number,
  color: boolean,
  isCut = true,
): { text: string; shown: number } {
  const texts = isCut ? rows.map((row) => row.map(shortText)) : rows
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
  const text = table(false, view, cells, color)
  return { text, shown: columnCount }
}

/** Shortens a text. */
function shortText(text: string): string {
  return text.length <= WIDEST_CHARACTERS ? text : `${text.slice(0, WIDEST_CHARACTERS - 1)}…`
}
