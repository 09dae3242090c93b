// Streams rows of grids.
import { Problem } from '../../../contract/errors.ts'
import { formatBytes } from '../../../contract/limits.ts'
import { type Bytes, shouldYield, WorkBudget, yieldToEventLoop } from '../../../json/index.ts'
import {
  type Cell,
  ColumnCursor,
  createFirstRows,
  listRows,
  MANY_COLUMNS,
  type RowSequence,
} from '../column/cursor.ts'
import { type RowFormat, RowGatherer, ValueKernel } from '../column/kernel/values.ts'
import { RowSet } from '../column/row-set.ts'
import { batchRowReads, largestChunkBytes, type Snapshot } from '../column/snapshot.ts'
import { createPositions, RadixSorter } from './radix-sort.ts'
import { CHUNK_BYTES, OutputBuffer, type RowWriter } from './row-writers.ts'

/** Size of a missing value, in bytes. */
const NULL_BYTES = 4

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
async function* writeRows(
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

function openKernel(snap: Snapshot, passed: number, format: RowFormat): ValueKernel | undefined {
  const rowBytes = sizeOf(snap) / Math.max(1, snap.rows)
  return ValueKernel.forRows(passed, snap.columns.map(largestChunkBytes), rowBytes, format)
}

/** Writes plain rows with a kernel, others one by one. */
async function* writeWithKernel(
  kernel: ValueKernel,
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
async function loadChunks(
  kernel: ValueKernel,
  seekers: readonly ColumnCursor[],
  row: number,
): Promise<number> {
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
  kernel: ValueKernel,
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

/** Streams rows in the given order. Buffers all of them; throws `too_large` above `maxBytes`. */
export async function* streamSortedRows(
  snap: Snapshot,
  writer: RowWriter,
  order: Uint32Array,
  maxBytes: number,
): Bytes {
  const head = writer.head(snap.columns)
  if (head !== '') yield Buffer.from(head)
  // Ends of rows in the buffer, in ascending order of rows.
  const ends = new Uint32Array(order.length)
  const gatherer = RowGatherer.create(order.length, Math.min(maxBytes, maxSizeOf(snap, writer)))
  const written = new OutputBuffer(gatherer?.texts, ends)
  const passed = order.length > 0 ? snap.rows : 0
  for await (const _ of writeRows(snap, writer, RowSet.of(snap.rows, order), passed, written)) {
    if (written.at > maxBytes) throw tooManyRowsError(maxBytes)
    if (shouldYield()) await yieldToEventLoop()
  }
  const places = order.length === snap.rows ? order : await placesOf(order)
  const sorted = new OutputBuffer()
  for (const text of gatherer && written.buf === gatherer.texts
    ? gatherer.gather(places, ends)
    : rowsOf(written.buf, places, ends)) {
    sorted.addBytes(text, 0, text.length)
    if (sorted.at >= CHUNK_BYTES) {
      yield sorted.take()
      await yieldToEventLoop()
    }
  }
  writer.tail?.(sorted)
  if (sorted.at > 0) yield sorted.take()
}

function* rowsOf(text: Buffer, places: Uint32Array, ends: Uint32Array): Generator<Buffer> {
  for (const place of places) yield text.subarray(place === 0 ? 0 : ends[place - 1], ends[place])
}

/** Returns the place of each row in the ascending order of all of them. */
async function placesOf(order: Uint32Array): Promise<Uint32Array> {
  const places = new Uint32Array(order.length)
  const sorter = new RadixSorter(createPositions(order.length), new WorkBudget())
  await sorter.sortBy(order)
  for (const [place, k] of sorter.positions.entries()) places[k] = place
  return places
}

/** Returns the maximum size of all rows as a kernel writes them, in bytes: no cell is longer than its JSON. */
function maxSizeOf(snap: Snapshot, { format }: RowWriter): number {
  const { columns, rows } = snap
  const rest = format ? [format.after, ...format.before].reduce((sum, { length }) => sum + length, 0) : 0
  return sizeOf(snap) + rows * (rest + columns.length * NULL_BYTES)
}

/** Returns the size of all values as JSON, in bytes. */
function sizeOf({ columns }: Snapshot): number {
  let size = 0
  for (const { slices, tail } of columns) size += slices.reduce((sum, { bytes }) => sum + bytes, tail.length)
  return size
}

/** Creates the error for sorted rows above the limit, in bytes. */
export function tooManyRowsError(maxBytes: number): Problem {
  return new Problem('too_large', `more than ${formatBytes(maxBytes)} of sorted rows (limit sort_bytes)`, {
    field: 'sort',
    hint: 'Read fewer rows with head or where, or fewer columns.',
  })
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
