// Reads the values of few rows, in any order.
import { findValueEnd, nextValue, skipWhitespace, yieldToEventLoop } from '../../../json/index.ts'
import { batchChunks, columnChunksOf, groupRowsByChunk } from './chunks.ts'
import type { Snapshot, SnapshotColumn } from './snapshot.ts'

const NULL = Buffer.from('null')

/** Maximum size of a returned value, in bytes. Longer values are cut. */
export const MAX_VALUE_BYTES = 1024
/** Maximum size of a slice in bytes. Larger ones contain a huge value, which takes long to skip. */
const MAX_SLICE_BYTES = 4 * 1024 * 1024

/**
 * Reads the values of some rows as JSON, by column, in the order of `rows`. Loads only the slices that
 * contain these rows, with few queries. Missing values are null; values are cut after `MAX_VALUE_BYTES`
 * bytes.
 */
export async function readValuesAt(
  snap: Snapshot,
  columns: readonly SnapshotColumn[],
  rows: readonly number[],
): Promise<Buffer[][]> {
  const order = sortRows(rows)
  const chosen = columns.map((column) => groupRowsByChunk(columnChunksOf(snap, column), order.rows))
  const blobs = batchChunks(
    snap.blobs,
    chosen.flatMap((partRows) => partRows.map(({ part }) => part)),
  )
  const values: Buffer[][] = []
  for (const partRows of chosen) {
    const texts: Buffer[] = rows.map(() => NULL)
    for (const { part, rows: inPart, first } of partRows) {
      for (const [k, value] of pickValues(await part.load(blobs), inPart)) texts[order.at[first + k]] = value
      await yieldToEventLoop()
    }
    values.push(texts)
  }
  return values
}

/**
 * Returns the first columns whose chunks with these rows have up to `most` bytes together, and no huge value.
 */
export function selectAffordable(
  snap: Snapshot,
  columns: readonly SnapshotColumn[],
  rows: readonly number[],
  maxBytes: number,
): SnapshotColumn[] {
  const order = sortRows(rows)
  let bytes = 0
  return columns.filter((column) => {
    const sizes = groupRowsByChunk(columnChunksOf(snap, column), order.rows).map(({ part }) => part.bytes)
    const size = sizes.reduce((sum, size) => sum + size, 0)
    if (sizes.some((size) => size > MAX_SLICE_BYTES) || size > maxBytes - bytes) return false
    bytes += size
    return true
  })
}

/** Returns the rows in ascending order, with their positions in the list. */
function sortRows(rows: readonly number[]): { rows: number[]; at: number[] } {
  const at = rows.map((_, k) => k).sort((a, b) => rows[a] - rows[b])
  return { rows: at.map((k) => rows[k]), at }
}

/** Yields copies of the values of ascending rows, with their positions in `rows`. */
function* pickValues(text: Buffer, rows: readonly number[]): Generator<[number, Buffer]> {
  let i = skipWhitespace(text, 0)
  let row = 0
  for (const [k, wanted] of rows.entries()) {
    for (; row < wanted; row++) i = nextValue(text, findValueEnd(text, i))
    // Copy the value, so that the whole text can be freed.
    yield [k, Buffer.from(text.subarray(i, Math.min(findValueEnd(text, i), i + MAX_VALUE_BYTES)))]
  }
}
