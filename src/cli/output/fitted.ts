import { table } from './table.ts'
import type { TableView } from './view.ts'

/** The longest text of a cell that is shown. */
const WIDEST_CHARACTERS = 40

/** Rows of a grid as texts, by column. */
export interface Cells {
  names: readonly string[]
  /** Whether a column has numbers only. */
  numeric: readonly boolean[]
  rows: readonly (readonly string[])[]
}

/** A table of as many columns as fit into a width; at least one. `isCut`: long texts are shortened. */
export function fittedTable(
  { names, numeric, rows }: Cells,
  width: number,
  color: boolean,
  isCut = true,
): { text: string; shown: number } {
  const short = isCut ? rows.map((row) => row.map(shortText)) : rows
  let left = width
  let shown = 0
  for (; shown < names.length; shown++) {
    left -=
      short.reduce((most, row) => Math.max(most, row[shown].length), names[shown].length) +
      (shown > 0 ? 2 : 0)
    if (shown > 0 && left < 0) break
  }
  const view: TableView = {
    columns: names.slice(0, shown).map((name, k) => ({
      field: name,
      title: name,
      align: numeric[k] ? ('right' as const) : undefined,
    })),
  }
  const cells = short.map((row) => row.slice(0, shown))
  const text = table(false, view, cells, color)
  return { text, shown }
}

function shortText(text: string): string {
  return text.length <= WIDEST_CHARACTERS ? text : `${text.slice(0, WIDEST_CHARACTERS - 1)}…`
}
