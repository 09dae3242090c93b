// Appends values to columns: they become new slices, or are merged with the last slices.
import { type Bounds, boundsOf, findSliceEnds, mergeBounds, SliceEnds } from '../../../ingest/slices.ts'
import { joinValues, yieldToEventLoop } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import {
  BATCH_SLICE_BYTES,
  BATCH_SLICES,
  loadDecompressed,
  type NewSlice,
  storeSlice,
  storeSlices,
} from '../../store/aggregates/slice-json.ts'
import { BatchedBlobs, type Blobs } from '../../store/objects/blobs.ts'
import type { Store } from '../../store/store.ts'
import { repeatValue } from '../column/column-json.ts'
import { skipValues } from '../column/snapshot.ts'

/** Maximum size of a slice that can be merged, in rows. */
const MAX_MERGED_ROWS = 65_536

/** A new slice. It replaces the last slices of a column, and adds new values to them. */
interface Merge {
  last: SliceRef[]
  text: Buffer
  rows: number
  ended: boolean
}

/** A column, and the values to append to it as column JSON. */
export interface GrowingColumn {
  slices: readonly SliceRef[]
  text: Buffer
}

/**
 * Plans the slices of new rows, by column. The rows up to the first content-defined boundary are merged with
 * the open slices (ingest/values/slice-ends.ts). Without a boundary, only slices that double in size are
 * merged, so that each value is rewritten a logarithmic number of times. `keys`: positions of the columns whose
 * values define the boundaries; default: all.
 */
async function planMerges(
  columns: readonly GrowingColumn[],
  rows: number,
  keys?: readonly number[],
): Promise<Merge[][]> {
  const open = columns.map(({ slices }) => openSlicesOf(slices))
  const heights = new Set(open.map((list) => list.map((slice) => slice.rows).join()))
  // Columns that were added separately have open slices of different rows: merge each by itself.
  if (heights.size > 1) return columns.map((column, k) => [mergeDoubling(column, open[k], rows)])
  const ends = new SliceEnds()
  const openRows = open[0]?.reduce((sum, slice) => sum + slice.rows, 0) ?? 0
  ends.skipRows(
    openRows,
    open.flat().reduce((sum, { bytes }) => sum + bytes, 0),
  )
  const boundaries = await findSliceEnds(
    columns.map(({ text }) => text),
    keys,
    ends,
  )
  if (boundaries.length === 0) {
    const mergedCount = mergeDoubling(columns[0], open[0], rows).last.length
    return columns.map(({ text }, k) => [
      createMerge(text, open[k].slice(open[k].length - mergedCount), rows),
    ])
  }
  return columns.map((column, k) => splitMerges(column, open[k], boundaries, rows))
}

/**
 * Appends rows to columns. Returns their slices. `keys`: positions of the columns that define where slices
 * end.
 */
export async function appendToColumns(
  blobs: Blobs,
  owner: string,
  columns: readonly GrowingColumn[],
  rows: number,
  keys?: readonly number[],
): Promise<SliceRef[][]> {
  const merges = await planMerges(columns, rows, keys)
  const refs = await storeMerges(
    blobs,
    owner,
    merges.flatMap((list, column) => list.map((merge) => ({ ...merge, column }))),
  )
  return columns.map(({ slices }, k) => {
    const [first] = merges[k]
    return [...slices.slice(0, slices.length - first.last.length), ...refs.splice(0, merges[k].length)]
  })
}

/** Returns the last slices of a column that can still be merged. */
function openSlicesOf(slices: readonly SliceRef[]): SliceRef[] {
  const last = slices.findLastIndex(({ ended, rows }) => ended === true || rows >= MAX_MERGED_ROWS)
  return slices.slice(last + 1)
}

function createMerge(text: Buffer, last: SliceRef[], rows: number): Merge {
  return { last, text, rows: last.reduce((sum, slice) => sum + slice.rows, rows), ended: false }
}

/** Merges new values with those last slices that have no more rows than everything after them. */
function mergeDoubling(column: GrowingColumn, open: readonly SliceRef[], rows: number): Merge {
  let from = open.length
  for (let total = rows; from > 0 && open[from - 1].rows <= total; from--) {
    total += open[from - 1].rows
    if (total > MAX_MERGED_ROWS) break
  }
  return createMerge(column.text, open.slice(from), rows)
}

/** Merges values up to the first of `ends` with the open slices; all others become separate slices. */
function splitMerges(
  column: GrowingColumn,
  open: SliceRef[],
  ends: readonly number[],
  rows: number,
): Merge[] {
  const merges: Merge[] = []
  let { text } = column
  let from = 0
  for (const end of [...ends, rows]) {
    if (end === from) continue
    const at = end === rows ? text.length + 1 : skipValues(text, 0, end - from)
    const piece = createMerge(text.subarray(0, at - 1), from === 0 ? open : [], end - from)
    merges.push({ ...piece, ended: ends.includes(end) })
    text = text.subarray(at)
    from = end
  }
  return merges
}

/** Stores merged slices, with few queries. */
async function storeMerges(
  blobs: Blobs,
  owner: string,
  merges: readonly (Merge & { column: number })[],
): Promise<SliceRef[]> {
  const batched = new BatchedBlobs(
    blobs,
    merges.flatMap(({ last }) => last),
  )
  const refs: SliceRef[] = []
  for (let k = 0; k < merges.length; ) {
    const batch: NewSlice[] = []
    for (let size = 0; k < merges.length && batch.length < BATCH_SLICES && size < BATCH_SLICE_BYTES; k++) {
      const { last, text, rows, ended, column } = merges[k]
      const texts: Buffer[] = []
      for (const slice of last) texts.push(await loadDecompressed(batched, slice))
      const whole = joinValues([...texts, text])
      batch.push({ column, rows, text: whole, ended, bounds: boundsOfMerge(last, rows, text) })
      size += whole.length
      await yieldToEventLoop()
    }
    refs.push(...(await storeSlices(blobs, owner, batch)))
  }
  return refs
}

/** Returns the bounds of merged slices and new values; undefined if a slice has no bounds. `rows`: of all. */
function boundsOfMerge(last: readonly SliceRef[], rows: number, text: Buffer): Bounds | undefined {
  let bounds = boundsOf(text)
  let count = rows - last.reduce((sum, slice) => sum + slice.rows, 0)
  for (const slice of last) {
    if (!slice.bounds) return undefined
    bounds = mergeBounds(bounds, slice.bounds, [count, slice.rows])
    count += slice.rows
  }
  return bounds
}

/** Stores slices that repeat one JSON value `count` times. */
export async function storeRepeated(
  store: Store,
  owner: string,
  value: string,
  count: number,
): Promise<SliceRef[]> {
  const slices: SliceRef[] = []
  for (let left = count; left > 0; left -= MAX_MERGED_ROWS) {
    const rows = Math.min(left, MAX_MERGED_ROWS)
    slices.push(await storeSlice(store.blobs, owner, { rows, text: repeatValue(value, rows) }))
  }
  return slices
}
