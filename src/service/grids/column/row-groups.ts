// Row groups: ranges of rows that end where chunks of all columns end.
import { type Bounds, mergeBounds } from '../../../ingest/slices.ts'
import type { ColumnChunk } from './chunks.ts'
import { findFirst } from './find-first.ts'

/** Range of rows that consists of whole chunks of every column. */
export interface RowGroup {
  from: number
  rows: number
}

/** Splits rows where chunks of all columns end. */
export function splitRows(columns: readonly (readonly ColumnChunk[])[], rows: number): RowGroup[] {
  if (columns.length === 0) return rows > 0 ? [{ from: 0, rows }] : []
  const ends = new Map<number, number>()
  for (const parts of columns)
    for (const { from, rows: count } of parts) ends.set(from + count, (ends.get(from + count) ?? 0) + 1)
  const groups: RowGroup[] = []
  let from = 0
  for (const [end, count] of [...ends].sort(([a], [b]) => a - b)) {
    if (count < columns.length) continue
    groups.push({ from, rows: end - from })
    from = end
  }
  return groups
}

/** Returns the chunks of a column within a row group. */
export function chunksWithin(parts: readonly ColumnChunk[], { from, rows }: RowGroup): ColumnChunk[] {
  return parts.slice(findChunk(parts, from), findChunk(parts, from + rows))
}

/** Returns the position of the first chunk that starts at a row, or later. */
function findChunk(parts: readonly ColumnChunk[], row: number): number {
  return findFirst(parts.length, (k) => parts[k].from >= row)
}

/** Returns the bounds of the values of a column within a row group; undefined if they are not known. */
export function boundsWithin(parts: readonly ColumnChunk[], group: RowGroup): Bounds | undefined {
  let merged: { bounds: Bounds; rows: number } | undefined
  for (const { bounds, rows } of chunksWithin(parts, group)) {
    if (!bounds) return undefined
    merged = merged
      ? { bounds: mergeBounds(merged.bounds, bounds, [merged.rows, rows]), rows: merged.rows + rows }
      : { bounds, rows }
  }
  return merged?.bounds
}
