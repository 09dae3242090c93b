// Compares the content of a table and a grid, which can be divided into different slices.
import { Problem } from '../../../contract/errors.ts'
import {
  findValueEnd,
  hasEscapes,
  shouldYield,
  skipWhitespace,
  yieldToEventLoop,
} from '../../../json/index.ts'
import { type ColumnRow, contentKeyOf, type SliceRef } from '../../store/aggregates/grids.ts'
import { streamSlices } from '../../store/aggregates/slice-json.ts'
import type { Blobs } from '../../store/objects/blobs.ts'
import type { NewColumn } from '../column/layout.ts'

/** Maximum size of differing slices that are compared, in bytes. Larger ones count as different content. */
const MAX_COMPARED_BYTES = 256 * 1024 * 1024

/** Slices of the table and of the grid that hold the same rows of a column but differ in bytes. */
type SlicePair = [readonly SliceRef[], readonly SliceRef[]]

/**
 * Returns whether a table and a grid have the same columns, in order, and values. Shared slices are not read.
 */
export async function hasSameContent(
  blobs: Blobs,
  table: readonly NewColumn[],
  columns: readonly ColumnRow[],
  slices: ReadonlyMap<string, readonly SliceRef[]>,
): Promise<boolean> {
  const hasSameShape = ({ name, type, rows }: NewColumn, k: number): boolean =>
    name === columns[k].name && type === columns[k].type && rows === columns[k].rows
  if (table.length !== columns.length || !table.every(hasSameShape)) return false
  const pairs = table.flatMap(({ slices: tableSlices }, k) =>
    pairDifferentSlices(tableSlices, slices.get(columns[k].uid) ?? []),
  )
  if (pairs.reduce((sum, [a, b]) => sum + Math.max(sizeOfSlices(a), sizeOfSlices(b)), 0) > MAX_COMPARED_BYTES)
    return false
  // Slices of different lengths first: a table that differs is rarely read to its end.
  const differsInSize = ([a, b]: SlicePair): number => Number(sizeOfSlices(a) !== sizeOfSlices(b))
  for (const [a, b] of pairs.sort((left, right) => differsInSize(right) - differsInSize(left)))
    if (!(await areValuesEqual(streamSlices(blobs, a), streamSlices(blobs, b)))) return false
  return true
}

/** Returns the size of slices in bytes, including the commas between them. */
function sizeOfSlices(slices: readonly SliceRef[]): number {
  return slices.reduce((sum, { bytes }) => sum + bytes + 1, 0)
}

/** Splits the slices of two columns of the same length where both end. Drops pairs that share their values. */
function pairDifferentSlices(a: readonly SliceRef[], b: readonly SliceRef[]): SlicePair[] {
  const pairs: SlicePair[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [from, to] = [i, j]
    let [left, right] = [a[i++].rows, b[j++].rows]
    while (left !== right) {
      if (left < right) left += a[i++].rows
      else right += b[j++].rows
    }
    const isSinglePair = i - from === 1 && j - to === 1
    if (!isSinglePair || contentKeyOf(a[from]) !== contentKeyOf(b[to]))
      pairs.push([a.slice(from, i), b.slice(to, j)])
  }
  return pairs
}

/**
 * Compares two columns of the same number of rows. Blanks between values and JSON escapes make no difference.
 */
async function areValuesEqual(a: AsyncGenerator<Buffer>, b: AsyncGenerator<Buffer>): Promise<boolean> {
  try {
    let [x, y]: Buffer[] = [EMPTY, EMPTY]
    for (;;) {
      if (x.length === 0) x = (await a.next()).value ?? EMPTY
      if (y.length === 0) y = (await b.next()).value ?? EMPTY
      if (x.length === 0 || y.length === 0) return x.length === y.length
      const count = Math.min(x.length, y.length)
      // Compare bytes first, and value by value only if they differ.
      const ends = x.compare(y, 0, count, 0, count) === 0 ? [count, count] : await compareValues(x, y)
      if (!ends) return false
      const [restX, restY] = [skipComma(x, ends[0]), skipComma(y, ends[1])]
      if (!restX || !restY) return false
      x = restX
      y = restY
    }
  } catch (error) {
    // Damaged slices must be replaced, so they count as different.
    if (error instanceof Problem && error.code === 'damaged') return false
    throw error
  } finally {
    await Promise.all([a.return(undefined), b.return(undefined)])
  }
}

const EMPTY: Buffer = Buffer.alloc(0)
const COMMA = 0x2c
const QUOTE = 0x22

/** Returns the text after a value and its comma; undefined if the value does not end there. */
function skipComma(text: Buffer, end: number): Buffer | undefined {
  const at = skipWhitespace(text, end)
  if (at >= text.length) return EMPTY
  return text[at] === COMMA ? text.subarray(skipWhitespace(text, at + 1)) : undefined
}

/** Compares values up to the end of the shorter text. Returns their end in both; undefined if one differs. */
async function compareValues(x: Buffer, y: Buffer): Promise<[number, number] | undefined> {
  let [i, j] = [skipWhitespace(x, 0), skipWhitespace(y, 0)]
  for (;;) {
    const [m, n] = [findValueEnd(x, i), findValueEnd(y, j)]
    if (x.compare(y, j, n, i, m) !== 0 && !isSameString(x.subarray(i, m), y.subarray(j, n))) return undefined
    const [nextX, nextY] = [skipWhitespace(x, m), skipWhitespace(y, n)]
    if (nextX >= x.length || nextY >= y.length) return [m, n]
    i = skipWhitespace(x, nextX + 1)
    j = skipWhitespace(y, nextY + 1)
    if (shouldYield()) await yieldToEventLoop()
  }
}

/** Returns whether two JSON strings are equal after their escapes are decoded. */
function isSameString(a: Buffer, b: Buffer): boolean {
  if (a[0] !== QUOTE || b[0] !== QUOTE) return false
  if (!hasEscapes(a, 0, a.length) && !hasEscapes(b, 0, b.length)) return false
  return JSON.parse(a.toString()) === JSON.parse(b.toString())
}
