// Streams rows of grids.
import type { Bytes } from '../../../json/index.ts'
import {
  type Cell,
  ColumnCursor,
  createFirstRows,
  listRows,
  MANY_COLUMNS,
  type RowSequence,
} from '../column/cursor.ts'
import { type RowFormat, RowKernel } from '../column/kernel/write-rows.ts'
import type { RowSet } from '../column/row-set.ts'
import { batchRowReads, largestChunkBytes, type Snapshot } from '../column/snapshot.ts'
import { CHUNK_BYTES, OutputBuffer, type RowWriter } from './row-writers.ts'

/** Streams the first `head` rows of a grid, or all. */
export function streamFirstRows(snap: Snapshot, writer: RowWriter, head?: number): Bytes {
  const longest = Math.max(0, ...snap.columns.map(({ rows }) => rows))
  const count = Math.min(longest, head ?? longest)
  // Fewer columns load slices ahead, in another order.
  const read = snap.columns.length > MANY_COLUMNS ? batchRowReads(snap) : snap
  return streamRows(read, writer, createFirstRows(count), count)
}

/** Streams chosen rows of a grid, in ascending order. */
export function streamChosenRows(snap: Snapshot, writer: RowWriter, rows: RowSet): Bytes {
  // Skipping the rows in between takes nearly as long as reading them.
  return streamRows(snap, writer, rows, rows.count > 0 ? snap.rows : 0)
}

/**
 * Streams rows in constant memory, about one slice per column. `passed`: number of rows up to the last one.
 */
async function* streamRows(snap: Snapshot, writer: RowWriter, rows: RowSequence, passed: number): Bytes {
  const out = new OutputBuffer()
  out.addText(writer.head(snap.columns))
  for await (const _ of writeRows(snap, writer, rows, passed, out))
    if (out.at >= CHUNK_BYTES) yield out.take()
  writer.tail?.(out)
  if (out.at > 0) yield out.take()
}

/** Writes rows to `out`. Yields at least whenever a chunk of output is full. */
export async function* writeRows(
  snap: Snapshot,
  writer: RowWriter,
  rows: RowSequence,
  passed: number,
  out: OutputBuffer,
): AsyncGenerator<void> {
  const { format } = writer
  const kernel = format && openKernel(snap, passed, format)
  try {
    yield* kernel ? writeWithKernel(kernel, snap, writer, rows, out) : writeOneByOne(snap, writer, rows, out)
  } finally {
    kernel?.release()
  }
}

function openKernel(snap: Snapshot, passed: number, format: RowFormat): RowKernel | undefined {
  const rowBytes = sizeOf(snap) / Math.max(1, snap.rows)
  return RowKernel.acquire(passed, snap.columns.map(largestChunkBytes), rowBytes, format)
}

/** Writes plain rows with a kernel, others one by one. */
async function* writeWithKernel(
  kernel: RowKernel,
  snap: Snapshot,
  writer: RowWriter,
  rows: RowSequence,
  out: OutputBuffer,
): AsyncGenerator<void> {
  const seekers = snap.columns.map((column) => new ColumnCursor(snap, column, rows))
  const list = kernel.rows
  let until = 0
  try {
    for (let row = rows.next(0); Number.isFinite(row); ) {
      if (row >= until) until = await loadChunks(kernel, seekers, row)
      const count = listRows(rows, row, until, list)
      row = rows.next(list[count - 1] + 1)
      for (let done = 0; done < count; ) {
        done += writeSome(kernel, seekers.length, done, count - done, writer, out)
        if (out.at >= CHUNK_BYTES) yield
      }
    }
  } finally {
    await Promise.all(seekers.map((seeker) => seeker.close()))
  }
}

/** Loads the chunks with a row into a kernel. Returns the first row that one of them does not contain. */
async function loadChunks(kernel: RowKernel, seekers: readonly ColumnCursor[], row: number): Promise<number> {
  let until = Number.POSITIVE_INFINITY
  for (const [k, seeker] of seekers.entries()) {
    if (seeker.needsLoad(row)) {
      await seeker.load(row)
      kernel.putChunk(k, seeker.chunk)
    }
    until = Math.min(until, seeker.until)
  }
  return until
}

/** Writes rows of the list of a kernel, from position `from` on, up to one that is not plain. Returns how many. */
function writeSome(
  kernel: RowKernel,
  columns: number,
  from: number,
  count: number,
  writer: RowWriter,
  out: OutputBuffer,
): number {
  const written = kernel.writeRows(from, count)
  out.addRows(kernel.written, kernel.rows.subarray(from, from + written))
  if (!kernel.isOdd) return written
  writer.row(
    Array.from({ length: columns }, (_, k) => kernel.cell(k)),
    out,
  )
  out.endRow()
  return written + 1
}

/** Returns the size of all values as JSON, in bytes. */
export function sizeOf({ columns }: Snapshot): number {
  let size = 0
  for (const { slices, tail } of columns) size += slices.reduce((sum, { bytes }) => sum + bytes, tail.length)
  return size
}

/** Writes rows without a kernel. */
async function* writeOneByOne(
  snap: Snapshot,
  writer: RowWriter,
  rows: RowSequence,
  out: OutputBuffer,
): AsyncGenerator<void> {
  const seekers = snap.columns.map((column) => new ColumnCursor(snap, column, rows))
  try {
    for (let row = rows.next(0); Number.isFinite(row); row = rows.next(row + 1)) {
      for (const seeker of seekers) {
        if (seeker.needsLoad(row)) await seeker.load(row)
        seeker.seek(row)
      }
      writer.row(seekers, out)
      out.endRow()
      if (out.at >= CHUNK_BYTES) yield
    }
  } finally {
    await Promise.all(seekers.map((seeker) => seeker.close()))
  }
}

/** Calls a function with the cells of each row, in ascending order. They are valid during the call only. */
export async function forEachRow(
  snap: Snapshot,
  rows: RowSequence,
  visit: (cells: readonly Cell[]) => Promise<void> | undefined,
): Promise<void> {
  const cursors = snap.columns.map((column) => new ColumnCursor(snap, column, rows))
  try {
    for (let row = rows.next(0); Number.isFinite(row); row = rows.next(row + 1)) {
      for (const cursor of cursors) {
        if (cursor.needsLoad(row)) await cursor.load(row)
        cursor.seek(row)
      }
      const pending = visit(cursors)
      if (pending) await pending
    }
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()))
  }
}
