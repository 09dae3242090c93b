// Repairs rows with one surplus empty cell.
import type { ColumnProfile } from '../values/dialect.ts'
import { isPaddedNumber } from '../values/number.ts'

/** Offsets of cells, as in `Tokenizer`. */
interface CellOffsets {
  starts: number[]
  ends: number[]
}

/**
 * Removes one empty cell from a row with one cell too many; undefined unless exactly one result is possible:
 * with a value where all other rows have one, and with numbers where they have numbers.
 */
export function removeSurplusCell(
  buf: Uint8Array,
  { starts, ends }: CellOffsets,
  { filled, numeric }: ColumnProfile,
): CellOffsets | undefined {
  const isEmpty = (k: number): boolean => ends[k] === starts[k] << 2
  const fits = (k: number, column: number): boolean => {
    if (isEmpty(k)) return !filled[column]
    return !numeric[column] || isPaddedNumber(buf, starts[k], ends[k] >> 2)
  }
  const width = starts.length - 1
  let result: CellOffsets | undefined
  for (let spare = 0; spare <= width; spare++) {
    // Which of adjacent empty cells is removed makes no difference.
    if (!isEmpty(spare) || (spare > 0 && isEmpty(spare - 1))) continue
    let possible = true
    for (let column = 0; column < width && possible; column++)
      possible = fits(column < spare ? column : column + 1, column)
    if (!possible) continue
    if (result) return undefined
    const without = (list: number[]): number[] => list.filter((_, k) => k !== spare)
    result = { starts: without(starts), ends: without(ends) }
  }
  return result
}
