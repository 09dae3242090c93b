// Finds rows that look like totals of other rows.

import type { RowCells } from '../values/cells.ts'
import { canBeTotal, isTotal } from '../values/total.ts'
import type { Warnings } from '../values/warnings.ts'

/** Maximum number of total rows. If there are more, the word is a category. */
const MAX_TOTALS = 20
/** Number of rows searched for totals, which people add to short tables. */
const MAX_ROWS_WITH_TOTALS = 10_000
/** Maximum length of a label of a total. */
const MAX_LABEL_BYTES = 40

/** Remembers rows whose first cell labels them as totals. */
export class Totals {
  private rows = 0
  private lastRow: { line: number; text: string } | undefined
  private readonly found: { line: number; text: string }[] = []

  /** Adds rows [from, to). */
  addRows(buf: Buffer, cells: RowCells, from: number, to: number): void {
    this.rememberLastRow(buf, cells, to - 1)
    for (
      let row = from;
      row < to && this.rows < MAX_ROWS_WITH_TOTALS && this.found.length <= MAX_TOTALS;
      row++
    )
      this.rememberTotal(buf, cells, row)
    this.rows += to - from
  }

  /** Remembers the first filled cell of the last row. */
  private rememberLastRow(buf: Buffer, { starts, ends, lines, width }: RowCells, row: number): void {
    for (let k = row * width; k < (row + 1) * width; k++) {
      const end = ends[k] >> 2
      if (end === starts[k]) continue
      const text = end - starts[k] > MAX_LABEL_BYTES ? '' : buf.toString('utf8', starts[k], end).trim()
      this.lastRow = { line: lines[row], text }
      return
    }
  }

  /** Remembers a row that looks like a total, by its first cell, or by the second if that is empty. */
  private rememberTotal(buf: Buffer, { starts, ends, lines, width }: RowCells, row: number): void {
    let k = row * width
    if (ends[k] >> 2 === starts[k] && width > 1) k++
    const [start, end] = [starts[k], ends[k] >> 2]
    if (end - start < 3 || end - start > MAX_LABEL_BYTES || !canBeTotal(buf[start])) return
    const text = buf.toString('utf8', start, end).trim()
    if (isTotal(text)) this.found.push({ line: lines[row], text })
  }

  /** Warns about total rows. `noteLines`: number of lines skipped below the last row. */
  warn(warnings: Warnings, noteLines: number, sheetName: string | undefined): void {
    const { rows, lastRow } = this
    if (lastRow && rows > 2 && isTotal(lastRow.text)) {
      const where = sheetName === undefined ? '' : ` --sheet ${JSON.stringify(sheetName)}`
      warnings.note(
        `line ${lastRow.line}: ${JSON.stringify(lastRow.text)} looks like the total of the rows above; read as a row; to skip it: --skip-last ${1 + noteLines}${where}`,
      )
    }
    const among = this.found.filter(({ line }) => line !== lastRow?.line)
    if (rows > MAX_ROWS_WITH_TOTALS || among.length === 0 || among.length > Math.min(MAX_TOTALS, rows / 3))
      return
    const [{ line, text }] = among
    const which =
      among.length === 1
        ? `line ${line}: ${JSON.stringify(text)} looks like a total among the rows; read as a row`
        : `${among.length} rows look like totals (first: line ${line}: ${JSON.stringify(text)}); read as rows`
    warnings.note(`${which}; to exclude rows from charts: --where`)
  }
}
