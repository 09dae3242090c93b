// Rows of a grid in another order.
import { Problem } from '../../../contract/errors.ts'
import { formatBytes } from '../../../contract/limits.ts'
import { type Bytes, shouldYield, WorkBudget, yieldToEventLoop } from '../../../json/index.ts'
import { RowGatherer } from '../column/kernel/write-rows.ts'
import { RowSet } from '../column/row-set.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { createPositions, RadixSorter } from './radix-sort.ts'
import { CHUNK_BYTES, OutputBuffer, type RowWriter } from './row-writers.ts'
import { sizeOf, writeRows } from './rows.ts'

/** Size of a missing value, in bytes. */
const NULL_BYTES = 4
const NO_ROWS = new Uint32Array(0)

/** Rows in memory, in the order of the grid. */
interface WrittenRows {
  /** Text before the first row. */
  head: string
  text: Buffer
  /** Ends of the rows in `text`. */
  ends: Uint32Array
  /** Rows of `text` in the order in which they are streamed. */
  places: Uint32Array
  gatherer: RowGatherer | undefined
}

/** Rows of a grid in the given order. All of them are in memory before the first one is streamed, once. */
export class SortedRows implements Bytes {
  private written: WrittenRows | undefined

  constructor(
    private readonly snap: Snapshot,
    private readonly writer: RowWriter,
    private order: Uint32Array,
    private readonly maxBytes: number,
  ) {}

  /** Writes the rows to memory. Returns the size of that memory in bytes. Throws `too_large` above `maxBytes` of rows. */
  async prepare(): Promise<number> {
    const { snap, writer, order, maxBytes } = this
    // It can be part of a larger one, which would stay in memory until the rows are sent.
    this.order = NO_ROWS
    const head = writer.head(snap.columns)
    const ends = new Uint32Array(order.length)
    const gatherer = RowGatherer.create(order.length, Math.min(maxBytes, maxSizeOf(snap, writer)))
    const out = new OutputBuffer(gatherer?.texts, ends)
    const passed = order.length > 0 ? snap.rows : 0
    for await (const _ of writeRows(snap, writer, RowSet.of(snap.rows, order), passed, out)) {
      if (out.at > maxBytes) throw tooManyRowsError(maxBytes)
      if (shouldYield()) await yieldToEventLoop()
    }
    if (head.length + out.at > maxBytes) throw tooManyRowsError(maxBytes)
    const places = order.length === snap.rows ? order : await placesOf(order)
    const isGathered = out.buf === gatherer?.texts
    this.written = {
      head,
      text: out.buf.subarray(0, out.at),
      ends,
      places,
      gatherer: isGathered ? gatherer : undefined,
    }
    return out.at + ends.byteLength + places.byteLength
  }

  /** True if the prepared rows take more memory than their places: else, they are better kept in order. */
  get isCompact(): boolean {
    const { text, ends, places } = this.written!
    return text.length > ends.byteLength + places.byteLength
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (!this.written) await this.prepare()
    const { head, text, ends, places, gatherer } = this.written!
    this.written = undefined
    const out = new OutputBuffer()
    out.addText(head)
    for (const rows of gatherer ? gatherer.gather(places, ends) : rowsOf(text, places, ends)) {
      out.addBytes(rows, 0, rows.length)
      if (out.at >= CHUNK_BYTES) {
        yield out.take()
        await yieldToEventLoop()
      }
    }
    this.writer.tail?.(out)
    if (out.at > 0) yield out.take()
  }
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

/** Creates the error for sorted rows above the limit, in bytes. */
export function tooManyRowsError(maxBytes: number): Problem {
  return new Problem('too_large', `more than ${formatBytes(maxBytes)} of sorted rows (limit sort_bytes)`, {
    field: 'sort',
    hint: 'Read fewer rows with head or where, or fewer columns.',
  })
}
