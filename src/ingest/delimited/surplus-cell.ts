// Repairs rows with one surplus empty cell.
import { COMMA, SPACE } from '../values/characters.ts'
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
  const isEmpty = (k: number): boolean => isEmptyCell(starts, ends, k)
  const fits = createFitTest(buf, { starts, ends }, { filled, numeric })
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

/**
 * Returns whether a row with one cell too many can be read with a delimiter inside a value, which is not quoted: `Smith, J`,
 * or `2,5` for 2.5.
 */
export function mayHoldDelimiter(
  buf: Uint8Array,
  { starts, ends }: CellOffsets,
  { profile, delimiter }: { profile: ColumnProfile; delimiter: number },
): boolean {
  const fits = createFitTest(buf, { starts, ends }, profile)
  const isInteger = (k: number): boolean =>
    /^\d+$/.test(Buffer.from(buf.subarray(starts[k], ends[k] >> 2)).toString())
  const width = starts.length - 1
  for (let k = 0; k < width; k++) {
    if (isEmptyCell(starts, ends, k) || isEmptyCell(starts, ends, k + 1)) continue
    const isText = buf[starts[k + 1]] === SPACE && !profile.numeric[k]
    if (!isText && !(delimiter === COMMA && isInteger(k) && isInteger(k + 1))) continue
    let possible = true
    for (let column = 0; column < width && possible; column++)
      possible = column === k || fits(column < k ? column : column + 1, column)
    if (possible) return true
  }
  return false
}

function isEmptyCell(starts: readonly number[], ends: readonly number[], k: number): boolean {
  return ends[k] === starts[k] << 2
}

/** Creates a function that returns whether cell `k` of a row can be the value of a column. */
function createFitTest(
  buf: Uint8Array,
  { starts, ends }: CellOffsets,
  { filled, numeric }: Pick<ColumnProfile, 'filled' | 'numeric'>,
): (k: number, column: number) => boolean {
  return (k, column) => {
    if (isEmptyCell(starts, ends, k)) return !filled[column]
    return !numeric[column] || isPaddedNumber(buf, starts[k], ends[k] >> 2)
  }
}
