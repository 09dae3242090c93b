// Streams selected rows as JSON, by column.
import type { Bytes } from '../../../json/index.ts'
import { type Snapshot, type SnapshotColumn, streamByColumn } from '../column/snapshot.ts'
import { createValueWriter } from './row-writers.ts'
import { type Selected, streamSelected } from './selection.ts'

/** Streams the selected rows of a grid, by column: `{"cols": {name: {uid, order, data}}}`. */
export function streamSelectedJson(snap: Snapshot, selected: Selected): Bytes {
  return streamByColumn(snap, (column) => streamColumnValues(snap, column, selected))
}

/** Streams the selected values of a column, comma-separated. */
export async function* streamColumnValues(snap: Snapshot, column: SnapshotColumn, selected: Selected): Bytes {
  let last: Uint8Array | undefined
  for await (const chunk of streamSelected({ ...snap, columns: [column] }, createValueWriter(), selected)) {
    if (chunk.length === 0) continue
    if (last) yield last
    last = chunk
  }
  // Drop the comma after the last value.
  if (last) yield last.subarray(0, -1)
}
