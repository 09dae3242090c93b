/** Streams the columns that a figure refers to. */

import { isTransposed } from '../../charts/figure/data-attributes.ts'
import { formatFid } from '../../contract/fid.ts'
import type { Bytes } from '../../json/index.ts'
import type { RowSet } from '../grids/column/row-set.ts'
import { streamColumn } from '../grids/column/snapshot.ts'
import { createArrayWriter } from '../grids/read/row-writers.ts'
import { streamFirstRows } from '../grids/read/rows.ts'
import { streamColumnValues } from '../grids/read/selected-json.ts'
import { BatchedBlobs, type BlobReader } from '../store/objects/blobs.ts'
import type { ReferencedGrid } from './referenced-grids.ts'
import type { Reference } from './scan.ts'

/**
 * Creates a reader that batches the slices of these references, in this order. Matrices are read separately.
 */
export function createBatchReader(
  grids: Map<string, ReferencedGrid>,
  references: readonly Reference[],
): BlobReader | undefined {
  const [first] = grids.values()
  if (!first) return undefined
  const inOrder = references.filter(
    ({ source, type, attribute }) => source.uids.length === 1 || !isTransposed(type, attribute),
  )
  const slices = inOrder.flatMap(({ source: { grid, uids } }) => {
    const { columns } = grids.get(formatFid(grid))!
    return uids.flatMap((uid) => columns.get(uid)!.slices)
  })
  return new BatchedBlobs(first.snap.blobs, slices)
}

/** Streams the data of a reference: one column as an array; several as rows (matrices) or as columns. */
export async function* streamReferencedData(
  grids: Map<string, ReferencedGrid>,
  { source, type, attribute }: Reference,
  blobs?: BlobReader,
): Bytes {
  const { snap: snapshot, columns } = grids.get(formatFid(source.grid))!
  const snap = blobs ? { ...snapshot, blobs } : snapshot
  const dataColumns = source.uids.map((uid) => columns.get(uid)!)
  yield OPEN_BRACKET
  if (dataColumns.length === 1) yield* streamColumn(snap, dataColumns[0])
  else if (isTransposed(type, attribute))
    yield* streamFirstRows({ ...snap, columns: dataColumns }, createArrayWriter())
  else {
    for (const [k, column] of dataColumns.entries()) {
      yield k > 0 ? NEXT_ARRAY : OPEN_BRACKET
      yield* streamColumn(snap, column)
    }
    yield CLOSE_BRACKET
  }
  yield CLOSE_BRACKET
}

/** Streams the selected rows of a reference as a JSON array; an array per column if it names several. */
export async function* streamSelectedRows(
  grids: Map<string, ReferencedGrid>,
  { source }: Reference,
  rows: RowSet,
): Bytes {
  const { snap, columns } = grids.get(formatFid(source.grid))!
  yield OPEN_BRACKET
  for (const [k, uid] of source.uids.entries()) {
    if (source.uids.length > 1) yield k > 0 ? NEXT_ARRAY : OPEN_BRACKET
    yield* streamColumnValues(snap, columns.get(uid)!, { rows })
  }
  if (source.uids.length > 1) yield CLOSE_BRACKET
  yield CLOSE_BRACKET
}

const OPEN_BRACKET = Buffer.from('[')
const NEXT_ARRAY = Buffer.from('],[')
const CLOSE_BRACKET = Buffer.from(']')
