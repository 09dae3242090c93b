import type { ColumnProfile } from '../values/dialect.ts'
import { isPaddedNumber } from '../values/number.ts'

interface Cells {
  starts: number[]
  ends: number[]
}

/**
 * Returns a row with one cell too many, without one of its empty cells, if that leaves exactly one possible
 * row: with a value wherever all other rows have one, and with numbers where they have numbers.
 */
export function withoutSpare(
  buf: Uint8Array,
  { starts, ends }: Cells,
  { filled, numeric }: ColumnProfile,
): Cells | undefined {
  const isEmpty = (k: number): boolean => ends[k] === starts[k] << 2
  const fits = (k: number, column: number): boolean => {
    if (isEmpty(k)) return !filled[column]
    return !numeric[column] || isPaddedNumber(buf, starts[k], ends[k] >> 2)
  }
  const width = starts.length - 1
  let found: Cells | undefined
  for (let spare = 0; spare <= width; spare++) {
    // Of empty cells next to each other, it does not matter which one is dropped.
    if (!isEmpty(spare) || (spare > 0 && isEmpty(spare - 1))) continue
    let possible = true
    for (let column = 0; column < width && possible; column++)
      possible = fits(column < spare ? column : column + 1, column)
    if (!possible) continue
    if (found) return undefined
    const without = (list: number[]): number[] => list.filter((_, k) => k !== spare)
    found = { starts: without(starts), ends: without(ends) }
  }
  return found
}
