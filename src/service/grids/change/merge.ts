// Adds values to the ends of columns: they become slices, or are merged with the last ones.
import { type Bounds, boundsOf, boundsTogether, endsAmong, SliceEnds } from '../../../ingest/index.ts'
import { breathe } from '../../../json/index.ts'
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
import { skipValues } from '../column/content.ts'
import { repeated } from '../column/values.ts'

/** Rows from which a slice is no longer merged. */
const MAX_MERGED_ROWS = 65_536

/** A new slice: the last slices of a column, which it replaces, followed by new values. */
interface Merge {
  last: SliceRef[]
  text: Buffer
  rows: number
  ended: boolean
}

/** A column, and the values to add at its end. */
export interface GrowingColumn {
  slices: readonly SliceRef[]
  text: Buffer
}

/**
 * Plans the slices of new rows, by column. Open slices (ingest/values/slice-ends.ts) are merged with the rows up to the
 * first boundary among them, or as far as they double in size: each value is rewritten a logarithmic number of times.
 */
async function planMerges(
  columns: readonly GrowingColumn[],
  rows: number,
  keys?: readonly number[],
): Promise<Merge[][]> {
  const open = columns.map(({ slices }) => openOf(slices))
  const heights = new Set(open.map((list) => list.map((slice) => slice.rows).join()))
  // Columns that were made one by one end where they do.
  if (heights.size > 1) return columns.map((column, k) => [withLast(column, open[k], rows)])
  const ends = new SliceEnds()
  const openRows = open[0]?.reduce((sum, slice) => sum + slice.rows, 0) ?? 0
  ends.skipRows(
    openRows,
    open.flat().reduce((sum, { bytes }) => sum + bytes, 0),
  )
  const found = await endsAmong(
    columns.map(({ text }) => text),
    keys,
    ends,
  )
  if (found.length === 0) {
    const doubled = withLast(columns[0], open[0], rows).last.length
    return columns.map(({ text }, k) => [merge(text, open[k].slice(open[k].length - doubled), rows)])
  }
  return columns.map((column, k) => splitAt(column, open[k], found, rows))
}

/** Returns the slices of columns with new rows at the end. `keys`: positions of the columns that decide where slices end. */
export async function appendToColumns(
  blobs: Blobs,
  owner: string,
  columns: readonly GrowingColumn[],
  rows: number,
  keys?: readonly number[],
): Promise<SliceRef[][]> {
  const merges = await planMerges(columns, rows, keys)
  const refs = await storeMerges(blobs, owner, merges.flat())
  return columns.map(({ slices }, k) => {
    const [first] = merges[k]
    return [...slices.slice(0, slices.length - first.last.length), ...refs.splice(0, merges[k].length)]
  })
}

/** Returns the last slices of a column that may still be merged. */
function openOf(slices: readonly SliceRef[]): SliceRef[] {
  const last = slices.findLastIndex(({ ended, rows }) => ended === true || rows >= MAX_MERGED_ROWS)
  return slices.slice(last + 1)
}

function merge(text: Buffer, last: SliceRef[], rows: number): Merge {
  return { last, text, rows: last.reduce((sum, slice) => sum + slice.rows, rows), ended: false }
}

/** Merges a text with as many of the last slices as are not longer than what follows them. */
function withLast(column: GrowingColumn, open: readonly SliceRef[], rows: number): Merge {
  let from = open.length
  for (let total = rows; from > 0 && open[from - 1].rows <= total; from--) {
    total += open[from - 1].rows
    if (total > MAX_MERGED_ROWS) break
  }
  return merge(column.text, open.slice(from), rows)
}

/** Merges values up to the first of `ends` with the open slices of the column; the others become slices by themselves. */
function splitAt(column: GrowingColumn, open: SliceRef[], ends: readonly number[], rows: number): Merge[] {
  const merges: Merge[] = []
  let { text } = column
  let from = 0
  for (const end of [...ends, rows]) {
    if (end === from) continue
    const at = end === rows ? text.length + 1 : skipValues(text, 0, end - from)
    const first = merge(text.subarray(0, at - 1), from === 0 ? open : [], end - from)
    merges.push({ ...first, ended: ends.includes(end) })
    text = text.subarray(at)
    from = end
  }
  return merges
}

/** Stores merged slices, with few queries. */
async function storeMerges(blobs: Blobs, owner: string, merges: readonly Merge[]): Promise<SliceRef[]> {
  const batched = new BatchedBlobs(
    blobs,
    merges.flatMap(({ last }) => last),
  )
  const refs: SliceRef[] = []
  for (let k = 0; k < merges.length; ) {
    const some: NewSlice[] = []
    for (let size = 0; k < merges.length && some.length < BATCH_SLICES && size < BATCH_SLICE_BYTES; k++) {
      const { last, text, rows, ended } = merges[k]
      const parts: Buffer[] = []
      for (const slice of last) parts.push(await loadDecompressed(batched, slice), COMMA)
      const whole = Buffer.concat([...parts, text])
      some.push({ rows, text: whole, ended, bounds: boundsWith(last, rows, text) })
      size += whole.length
      await breathe()
    }
    refs.push(...(await storeSlices(blobs, owner, some)))
  }
  return refs
}

const COMMA = Buffer.from(',')

/** Returns the bounds of the values of slices and of a text; undefined if those of a slice are not known. */
function boundsWith(last: readonly SliceRef[], rows: number, text: Buffer): Bounds | undefined {
  let bounds = boundsOf(text)
  let count = rows - last.reduce((sum, slice) => sum + slice.rows, 0)
  for (const slice of last) {
    if (!slice.bounds) return undefined
    bounds = boundsTogether(bounds, slice.bounds, [count, slice.rows])
    count += slice.rows
  }
  return bounds
}

/** Stores slices that repeat one JSON value `count` times. */
export async function repeatedSlices(
  store: Store,
  owner: string,
  value: string,
  count: number,
): Promise<SliceRef[]> {
  const slices: SliceRef[] = []
  for (let left = count; left > 0; left -= MAX_MERGED_ROWS) {
    const rows = Math.min(left, MAX_MERGED_ROWS)
    slices.push(await storeSlice(store.blobs, owner, { rows, text: repeated(value, rows) }))
  }
  return slices
}
