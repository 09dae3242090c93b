/** Changes of single rows in the text of a column. */
import { skipBlanks } from '../../../json/index.ts'
import { typeOf } from '../../store/schema/column-types.ts'
import type { Cell } from '../column/kernel/cells.ts'

/** A row of a text, from 0, with the value that it gets; undefined: it is removed. */
export interface RowEdit {
  row: number
  value: Buffer | undefined
}

/**
 * A text with some rows changed or removed. `edits` are in the order of rows, and `cells` are the values that they have in
 * the text, which has `rows` rows.
 */
export function spliced(
  text: Buffer,
  rows: number,
  edits: readonly RowEdit[],
  cells: readonly Cell[],
): Buffer {
  const parts: Buffer[] = []
  // Where the next row that stays begins, and its number.
  let [at, next] = [0, 0]
  for (const [k, { row, value }] of edits.entries()) {
    const { start, end } = cells[k]
    if (row > next) parts.push(text.subarray(at, beforeComma(text, start)), COMMA)
    if (value) parts.push(value, COMMA)
    at = skipBlanks(text, skipBlanks(text, end) + 1)
    next = row + 1
  }
  if (next < rows) parts.push(text.subarray(at))
  else parts.pop()
  return Buffer.concat(parts)
}

const COMMA = Buffer.from(',')

/** The end of what is before the comma before a value. */
function beforeComma(text: Buffer, start: number): number {
  let end = start
  while (text[end - 1] !== 0x2c) end--
  return end - 1
}

/** Of values that are replaced by others: how many nulls there are more. */
export function moreNulls(edits: readonly RowEdit[], cells: readonly Cell[]): number {
  let more = 0
  for (const [k, { value }] of edits.entries()) {
    const { buf, start, end } = cells[k]
    if (typeOf(buf, start, end) === 'empty') more--
    if (value && value[0] === 0x6e) more++
  }
  return more
}
