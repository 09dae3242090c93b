/** Whether a table has the content of a grid: the same values, in whatever slices they are. */
import { Problem } from '../../../contract/errors.ts'
import { breathe, endOf, hasEscapes, skipBlanks, turnIsLong } from '../../../json/index.ts'
import type { ColumnRow, SliceRef } from '../../store/aggregates/grids.ts'
import { streamSlices } from '../../store/aggregates/slice-json.ts'
import type { Blobs } from '../../store/objects/blobs.ts'
import type { NewColumn } from '../column/layout.ts'

/** Bytes of each table that are compared. What differs in more of its slices counts as another content. */
const MAX_COMPARED = 256 * 1024 * 1024

/** Slices of the same rows of a column, of which those of a table are others than those of the grid. */
type Pair = [readonly SliceRef[], readonly SliceRef[]]

/** Compares columns in their order. What both have in slices of the same rows and bytes is not read. */
export async function isSame(
  blobs: Blobs,
  table: readonly NewColumn[],
  columns: readonly ColumnRow[],
  slices: ReadonlyMap<string, readonly SliceRef[]>,
): Promise<boolean> {
  const isAlike = ({ name, type, rows }: NewColumn, k: number): boolean =>
    name === columns[k].name && type === columns[k].type && rows === columns[k].rows
  if (table.length !== columns.length || !table.every(isAlike)) return false
  const pairs = table.flatMap(({ slices: own }, k) => otherSlices(own, slices.get(columns[k].uid) ?? []))
  if (pairs.reduce((sum, [a, b]) => sum + Math.max(bytesOf(a), bytesOf(b)), 0) > MAX_COMPARED) return false
  // Values of another length are found first: a table that differs is rarely read to its end.
  const isOther = ([a, b]: Pair): number => Number(bytesOf(a) !== bytesOf(b))
  for (const [a, b] of pairs.sort((one, two) => isOther(two) - isOther(one)))
    if (!(await haveSameValues(streamSlices(blobs, a), streamSlices(blobs, b)))) return false
  return true
}

/** Of texts as if they were one: with the commas between them. */
function bytesOf(slices: readonly SliceRef[]): number {
  return slices.reduce((sum, { bytes }) => sum + bytes + 1, 0)
}

/** The slices of two columns of the same length, between the rows where slices of both end; but for those that are the same. */
function otherSlices(a: readonly SliceRef[], b: readonly SliceRef[]): Pair[] {
  const pairs: Pair[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [from, to] = [i, j]
    let [left, right] = [a[i++].rows, b[j++].rows]
    while (left !== right) {
      if (left < right) left += a[i++].rows
      else right += b[j++].rows
    }
    const isOne = i - from === 1 && j - to === 1
    if (!isOne || a[from].blob.hash !== b[to].blob.hash) pairs.push([a.slice(from, i), b.slice(to, j)])
  }
  return pairs
}

/** Compares the values of texts of the same number of rows. Blanks between values, and escapes in them, make no difference. */
async function haveSameValues(a: AsyncGenerator<Buffer>, b: AsyncGenerator<Buffer>): Promise<boolean> {
  try {
    let [x, y]: Buffer[] = [NONE, NONE]
    for (;;) {
      if (x.length === 0) x = (await a.next()).value ?? NONE
      if (y.length === 0) y = (await b.next()).value ?? NONE
      if (x.length === 0 || y.length === 0) return x.length === y.length
      const count = Math.min(x.length, y.length)
      // Mostly the bytes are the same; where they are not, one value after the other.
      const ends = x.compare(y, 0, count, 0, count) === 0 ? [count, count] : await endOfSame(x, y)
      if (!ends) return false
      const [rest, others] = [afterComma(x, ends[0]), afterComma(y, ends[1])]
      if (!rest || !others) return false
      x = rest
      y = others
    }
  } catch (error) {
    // What cannot be read is replaced.
    if (error instanceof Problem && error.code === 'damaged') return false
    throw error
  } finally {
    await Promise.all([a.return(undefined), b.return(undefined)])
  }
}

const NONE: Buffer = Buffer.alloc(0)
const COMMA = 0x2c
const QUOTE = 0x22

/** What follows a value and the comma after it; undefined if the value goes on. */
function afterComma(text: Buffer, end: number): Buffer | undefined {
  const at = skipBlanks(text, end)
  if (at >= text.length) return NONE
  return text[at] === COMMA ? text.subarray(skipBlanks(text, at + 1)) : undefined
}

/** Where the last value that one of two texts has ends in both, if all values up to there are the same. */
async function endOfSame(x: Buffer, y: Buffer): Promise<[number, number] | undefined> {
  let [i, j] = [skipBlanks(x, 0), skipBlanks(y, 0)]
  for (;;) {
    const [m, n] = [endOf(x, i), endOf(y, j)]
    if (x.compare(y, j, n, i, m) !== 0 && !isSameText(x.subarray(i, m), y.subarray(j, n))) return undefined
    const [nextX, nextY] = [skipBlanks(x, m), skipBlanks(y, n)]
    if (nextX >= x.length || nextY >= y.length) return [m, n]
    i = skipBlanks(x, nextX + 1)
    j = skipBlanks(y, nextY + 1)
    if (turnIsLong()) await breathe()
  }
}

/** Whether two values are the same text, of which one is written with escapes. */
function isSameText(a: Buffer, b: Buffer): boolean {
  if (a[0] !== QUOTE || b[0] !== QUOTE) return false
  if (!hasEscapes(a, 0, a.length) && !hasEscapes(b, 0, b.length)) return false
  return JSON.parse(a.toString()) === JSON.parse(b.toString())
}
