// Parses the options that choose a sheet and a range.

import { Problem } from '../../contract/errors.ts'
import { formatList as namesListed } from '../../contract/message-texts.ts'
import { badFile } from '../values/warnings.ts'

/** Maximum number of rows of a sheet. */
export const MAX_SHEET_ROWS = 1_048_576

/** A range of cells: rows from 1, columns from 0, both inclusive. */
export interface CellRange {
  rows: [number, number]
  columns: [number, number]
}

/** The range of all cells. */
export const WHOLE_SHEET: CellRange = { rows: [1, MAX_SHEET_ROWS], columns: [0, 16_383] }

/** Returns the index of a sheet, given by name or number. Throws `bad_data` with the existing names. */
export function findSheet(sheets: readonly { name: string }[], requested: string, source: string): number {
  const exact = sheets.findIndex(({ name }) => name === requested)
  const near =
    exact >= 0 ? exact : sheets.findIndex(({ name }) => name.toLowerCase() === requested.toLowerCase())
  const number = Number(requested)
  const at =
    near < 0 && Number.isInteger(number) && number >= 1 && number <= sheets.length ? number - 1 : near
  if (at >= 0) return at
  throw badFile(
    source,
    `no sheet ${JSON.stringify(requested)}`,
    `Its sheets are: ${namesListed(sheets.map(({ name }) => name))}`,
  )
}

/** Parses `B2:D20`, `B:D` or `2:20`. Throws `invalid_request`. */
export function parseRange(range: string): CellRange {
  const match = /^\$?([A-Za-z]{1,3})?\$?(\d{1,7})?:\$?([A-Za-z]{1,3})?\$?(\d{1,7})?$/.exec(range.trim())
  const [, left, top, right, bottom] = match ?? []
  const area: CellRange = {
    rows: [Number(top ?? 1), Number(bottom ?? MAX_SHEET_ROWS)],
    columns: [left ? columnIndexOf(left) : 0, right ? columnIndexOf(right) : 16_383],
  }
  const ok =
    match && (left === undefined) === (right === undefined) && (top === undefined) === (bottom === undefined)
  if (
    ok &&
    (left ?? top) !== undefined &&
    area.rows[0] >= 1 &&
    area.rows[0] <= area.rows[1] &&
    area.columns[0] <= area.columns[1]
  )
    return area
  throw new Problem('invalid_request', `invalid range: ${JSON.stringify(range)}`, {
    field: 'range',
    hint: 'Use a range of cells, columns or rows: B2:D20, B:D or 2:20.',
  })
}

/** Returns the column index, from 0, of a cell reference: `C12` → 2. */
export function columnIndexOf(reference: string): number {
  let column = 0
  for (let k = 0; k < reference.length; k++) {
    const c = reference.charCodeAt(k) & 0xdf
    if (c < 0x41 || c > 0x5a) break
    column = column * 26 + (c - 0x40)
  }
  return column - 1
}
