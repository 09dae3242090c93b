// Column chunks: the slices, tail and missing values of a column, read whole or for chosen rows.
import type { Bounds } from '../../../ingest/slices.ts'
import { yieldToEventLoop } from '../../../json/index.ts'
import { contentKeyOf, type SliceRef } from '../../store/aggregates/grids.ts'
import { loadDecompressed } from '../../store/aggregates/slice-json.ts'
import { BatchedBlobs, type BlobReader } from '../../store/objects/blobs.ts'
import { repeatValue } from './column-json.ts'
import type { CellReader } from './kernel/cells.ts'
import type { Snapshot, SnapshotColumn } from './snapshot.ts'

/** Consecutive values of a column: a slice, the tail, or nulls that a shorter column lacks. */
export interface ColumnChunk {
  /** Row of the first value. */
  from: number
  rows: number
  bytes: number
  /** Identifies the values; undefined for the tail. */
  contentKey: string | undefined
  /** Lowest and highest value, if known. */
  bounds?: Bounds
  /** Stored slice; undefined for the tail and for missing values. */
  slice?: SliceRef
  /** Loads the column JSON, from `blobs` if given. */
  load(blobs?: BlobReader): Promise<Buffer>
}

/** Returns the chunks of a column, in row order. Missing values of a shorter column are nulls. */
export function columnChunksOf({ blobs, rows }: Snapshot, column: SnapshotColumn): ColumnChunk[] {
  const parts: ColumnChunk[] = []
  let from = 0
  for (const slice of column.slices) {
    const { rows: count, bytes, bounds } = slice
    const contentKey = contentKeyOf(slice)
    const load = (from = blobs): Promise<Buffer> => loadDecompressed(from, slice)
    parts.push({ from, rows: count, bytes, contentKey, bounds, slice, load })
    from += count
  }
  const { tail } = column
  if (column.rows > from) {
    const count = column.rows - from
    parts.push({ from, rows: count, bytes: tail.length, contentKey: undefined, load: async () => tail })
    from += count
  }
  for (; from < rows; ) {
    const count = Math.min(rows - from, MAX_MISSING_CHUNK_ROWS)
    const load = async () => repeatValue('null', count)
    const contentKey = `null*${count}`
    parts.push({ from, rows: count, bytes: count * 5, contentKey, bounds: { nulls: count }, load })
    from += count
  }
  return parts
}

/** Creates a reader that loads the blobs of chunks in batches, if they are read in this order. */
export function batchChunks(blobs: BlobReader, parts: readonly Pick<ColumnChunk, 'slice'>[]): BlobReader {
  return new BatchedBlobs(
    blobs,
    parts.flatMap(({ slice }) => slice ?? []),
  )
}

/** Returns whether chunks have only numbers and nulls, and all numbers exceed those of earlier chunks. */
export function areChunksOrdered(parts: readonly ColumnChunk[]): boolean {
  const filled = parts.filter(({ rows, bounds }) => bounds === undefined || bounds.nulls < rows)
  return filled.every(
    ({ bounds }, k) =>
      bounds?.low !== undefined &&
      bounds.high !== undefined &&
      (k === 0 || isLessNumber(filled[k - 1].bounds!.high!, bounds.low)),
  )
}

/** Returns whether the number `high` is less than the number `low`; false for texts. */
function isLessNumber(high: string, low: string): boolean {
  return !high.startsWith('"') && !low.startsWith('"') && Number(high) < Number(low)
}

/** Maximum size of a chunk of missing values, in rows. */
const MAX_MISSING_CHUNK_ROWS = 65_536

/** Chosen rows of a chunk. */
export interface ChunkRows {
  part: ColumnChunk
  /** Ascending; 0 is the first row of the chunk. */
  rows: number[]
  /** Position of the first row among all chosen rows. */
  first: number
}

/** Groups ascending rows by the chunks that contain them. */
export function groupRowsByChunk(parts: readonly ColumnChunk[], rows: ArrayLike<number>): ChunkRows[] {
  const chosen: ChunkRows[] = []
  let next = 0
  for (const chunk of parts) {
    const first = next
    const rowsInPart: number[] = []
    for (; next < rows.length && rows[next] < chunk.from + chunk.rows; next++)
      rowsInPart.push(rows[next] - chunk.from)
    if (rowsInPart.length > 0) chosen.push({ part: chunk, rows: rowsInPart, first })
  }
  return chosen
}

/** Reads the values of ascending rows, as JSON. */
export async function readCells(
  reader: CellReader,
  parts: readonly ColumnChunk[],
  rows: readonly number[],
): Promise<string[]> {
  const cells: string[] = []
  for (const { part, rows: rowsInPart } of groupRowsByChunk(parts, rows)) {
    for (const { buf, start, end } of reader.findCells(await part.load(), rowsInPart))
      cells.push(buf.toString('utf8', start, end))
    await yieldToEventLoop()
  }
  return cells
}

/** Reads the values of ascending rows as one column JSON. */
export async function readRows(
  reader: CellReader,
  parts: readonly ColumnChunk[],
  rows: Int32Array,
): Promise<Buffer> {
  const texts: Buffer[] = []
  for (const { part, rows: rowsInPart } of groupRowsByChunk(parts, rows)) {
    // First and last row of each range of consecutive rows, alternating.
    const ends: number[] = []
    for (const row of rowsInPart)
      if (ends.length > 0 && row === ends[ends.length - 1] + 1) ends[ends.length - 1] = row
      else ends.push(row, row)
    const text = await part.load()
    const cells = reader.findCells(
      text,
      ends.filter((row, k) => k % 2 === 0 || row !== ends[k - 1]),
    )
    for (let k = 0, n = 0; k < ends.length; k += 2) {
      const { start } = cells[n++]
      const { end } = ends[k + 1] === ends[k] ? cells[n - 1] : cells[n++]
      texts.push(text.subarray(start, end), COMMA)
    }
    await yieldToEventLoop()
  }
  return Buffer.concat(texts.slice(0, -1))
}

const COMMA = Buffer.from(',')
