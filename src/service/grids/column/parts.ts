// Columns as parts: the texts that their values are stored in, read as a whole or for chosen rows.
import type { Bounds } from '../../../ingest/index.ts'
import { breathe } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { loadDecompressed } from '../../store/aggregates/slice-json.ts'
import type { BlobReader } from '../../store/objects/blobs.ts'
import type { Snapshot, SnapshotColumn } from './content.ts'
import type { CellReader } from './kernel/cells.ts'
import { repeated } from './values.ts'

/** A text of a column, and the row of its first value. */
export interface Part {
  from: number
  rows: number
  bytes: number
  hash: string | undefined
  /** What its values are between, if that is known. */
  bounds?: Bounds
  /** The stored slice; undefined for the tail and for values that are missing. */
  slice?: SliceRef
  /** Loads the text, from `blobs` if it is given. */
  load(blobs?: BlobReader): Promise<Buffer>
}

/** Returns the parts of a column, in row order. Values that a shorter column lacks are nulls. */
export function partsOf({ blobs, rows }: Snapshot, column: SnapshotColumn): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const slice of column.slices) {
    const { rows: count, bytes, blob, bounds } = slice
    const { hash } = blob
    const load = (from = blobs): Promise<Buffer> => loadDecompressed(from, slice)
    parts.push({ from, rows: count, bytes, hash, bounds, slice, load })
    from += count
  }
  const { tail } = column
  if (column.rows > from) {
    const count = column.rows - from
    parts.push({ from, rows: count, bytes: tail.length, hash: undefined, load: async () => tail })
    from += count
  }
  // Values that a shorter column lacks are missing.
  for (; from < rows; ) {
    const count = Math.min(rows - from, MISSING_ROWS)
    const load = async () => repeated('null', count)
    parts.push({ from, rows: count, bytes: count * 5, hash: `null*${count}`, bounds: { nulls: count }, load })
    from += count
  }
  return parts
}

const MISSING_ROWS = 65_536

/** Chosen rows of a part. */
export interface PartRows {
  part: Part
  /** Ascending, from the first row of the part. */
  rows: number[]
  /** Position of the first one among all chosen rows. */
  first: number
}

/** Returns the parts that have any of these ascending rows. */
export function rowsByPart(parts: readonly Part[], rows: ArrayLike<number>): PartRows[] {
  const chosen: PartRows[] = []
  let next = 0
  for (const part of parts) {
    const first = next
    const own: number[] = []
    for (; next < rows.length && rows[next] < part.from + part.rows; next++) own.push(rows[next] - part.from)
    if (own.length > 0) chosen.push({ part, rows: own, first })
  }
  return chosen
}

/** Returns the JSON of the values of ascending rows. */
export async function readCells(
  reader: CellReader,
  parts: readonly Part[],
  rows: readonly number[],
): Promise<string[]> {
  const cells: string[] = []
  for (const { part, rows: own } of rowsByPart(parts, rows)) {
    for (const { buf, start, end } of reader.find(await part.load(), own))
      cells.push(buf.toString('utf8', start, end))
    await breathe()
  }
  return cells
}

/** Returns the values of ascending rows as one text. */
export async function readRows(
  reader: CellReader,
  parts: readonly Part[],
  rows: Int32Array,
): Promise<Buffer> {
  const texts: Buffer[] = []
  for (const { part, rows: own } of rowsByPart(parts, rows)) {
    // The first and the last row of each range of successive rows.
    const ends: number[] = []
    for (const row of own)
      if (ends.length > 0 && row === ends[ends.length - 1] + 1) ends[ends.length - 1] = row
      else ends.push(row, row)
    const text = await part.load()
    const cells = reader.find(
      text,
      ends.filter((row, k) => k % 2 === 0 || row !== ends[k - 1]),
    )
    for (let k = 0, n = 0; k < ends.length; k += 2) {
      const { start } = cells[n++]
      const { end } = ends[k + 1] === ends[k] ? cells[n - 1] : cells[n++]
      texts.push(text.subarray(start, end), COMMA)
    }
    await breathe()
  }
  return Buffer.concat(texts.slice(0, -1))
}

const COMMA = Buffer.from(',')
