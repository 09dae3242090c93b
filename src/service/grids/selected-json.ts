import type { Bytes } from '../../json/index.ts'
import { contentHeader, type Snapshot, type SnapshotColumn } from './content.ts'
import { values } from './rows.ts'
import { type Selected, selectedAs } from './selection.ts'

/** Streams the selected rows of a grid, by column: `{"cols": {name: {uid, order, data}}}`. */
export async function* selectedJson(snap: Snapshot, selected: Selected): Bytes {
  yield Buffer.from('{"cols":{')
  for (const [k, column] of snap.columns.entries()) {
    yield Buffer.from(contentHeader(column, k))
    yield* columnValues(snap, column, selected)
    yield Buffer.from(']}')
  }
  yield Buffer.from('}}')
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
