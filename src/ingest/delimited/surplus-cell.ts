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
 * Removes one empty cell from a row with one cell too many; undefined unless exactly one result is possible: with a value
 * where all other rows have one, and with numbers where they have numbers. `ambiguous` if a value may hold the delimiter.
 */
export function removeSurplusCell(
  buf: Uint8Array,
  cells: CellOffsets,
  { profile, delimiter }: { profile: ColumnProfile; delimiter: number },
): CellOffsets | 'ambiguous' | undefined {
  const { starts, ends } = cells
  const fits = findFits(buf, cells, profile)
  if (mayHoldDelimiter(buf, cells, fits, { profile, delimiter })) return 'ambiguous'
  let result: CellOffsets | undefined
  for (let spare = fits.after; spare <= fits.before; spare++) {
    // Which of adjacent empty cells is removed makes no difference.
    if (!isEmptyCell(cells, spare) || (spare > 0 && isEmptyCell(cells, spare - 1))) continue
    if (result) return undefined
    const without = (list: number[]): number[] => list.filter((_, k) => k !== spare)
    result = { starts: without(starts), ends: without(ends) }
  }
  return result
}

/**
 * Returns whether a row with one cell too many can be read with a delimiter inside a value, which is not quoted: `Smith, J`
 * where no other row has a space after a delimiter, or `2,5` where others have 1.5.
 */
function mayHoldDelimiter(
  buf: Uint8Array,
  cells: CellOffsets,
  { before, after }: Fits,
  { profile, delimiter }: { profile: ColumnProfile; delimiter: number },
): boolean {
  const { starts, ends } = cells
  const isInteger = (k: number): boolean =>
    /^\d+$/.test(Buffer.from(buf.subarray(starts[k], ends[k] >> 2)).toString('latin1'))
  for (let k = Math.max(0, after - 1); k < starts.length - 1 && k <= before; k++) {
    if (isEmptyCell(cells, k) || isEmptyCell(cells, k + 1)) continue
    if (buf[starts[k + 1]] === SPACE && !profile.numeric[k] && !profile.spaced) return true
    if (delimiter === COMMA && profile.pointed[k] && isInteger(k) && isInteger(k + 1)) return true
  }
  return false
}

/**
 * How far cells of a row with one cell too many fit. `before`: number of cells from the first on that fit their own columns.
 * `after`: the first cell such that those after it fit the columns before theirs.
 */
interface Fits {
  before: number
  after: number
}

function isEmptyCell({ starts, ends }: CellOffsets, k: number): boolean {
  return ends[k] === starts[k] << 2
}

function findFits(buf: Uint8Array, cells: CellOffsets, { filled, numeric }: ColumnProfile): Fits {
  const { starts, ends } = cells
  const width = starts.length - 1
  const fits = (k: number, column: number): boolean => {
    if (isEmptyCell(cells, k)) return !filled[column]
    return !numeric[column] || isPaddedNumber(buf, starts[k], ends[k] >> 2)
  }
  let before = 0
  while (before < width && fits(before, before)) before++
  let after = width
  while (after > 0 && fits(after, after - 1)) after--
  return { before, after }
}
