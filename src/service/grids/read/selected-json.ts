import type { Bytes } from '../../../json/index.ts'
import { byColumn, type Snapshot, type SnapshotColumn } from '../column/content.ts'
import { values } from './rows.ts'
import { type Selected, selectedAs } from './selection.ts'

/** Streams the selected rows of a grid, by column: `{"cols": {name: {uid, order, data}}}`. */
export function selectedJson(snap: Snapshot, selected: Selected): Bytes {
  return byColumn(snap, (column) => columnValues(snap, column, selected))
}

/** Streams the selected values of a column, comma-separated. */
export async function* columnValues(snap: Snapshot, column: SnapshotColumn, selected: Selected): Bytes {
  let last: Uint8Array | undefined
  for await (const piece of selectedAs({ ...snap, columns: [column] }, values(), selected)) {
    if (piece.length === 0) continue
    if (last) yield last
    last = piece
  }
  // Each value is followed by a comma.
  if (last) yield last.subarray(0, -1)
}
