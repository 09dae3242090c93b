// Streams rows of grids as CSV, TSV, NDJSON or JSON.
import { Problem } from '../../../contract/errors.ts'
import { formatBytes } from '../../../contract/limits.ts'
import {
  type Bytes,
  ensureCapacity,
  hasEscapes,
  shouldYield,
  WorkBudget,
  yieldToEventLoop,
} from '../../../json/index.ts'
import { type Cell, ColumnCursor, createFirstRows, type RowSequence } from '../column/cursor.ts'
import { type RowFormat, RowGatherer, ValueKernel } from '../column/kernel/values.ts'
import { RowSet } from '../column/row-set.ts'
import { largestChunkBytes, type Snapshot, type SnapshotColumn } from '../column/snapshot.ts'
import { createPositions, RadixSorter } from './radix-sort.ts'

/** Size of a chunk of output, in bytes. */
const CHUNK_BYTES = 64 * 1024
const LINE_END = Buffer.from('\n')
/** Usual maximum size of a row, in bytes. */
const ROW_BYTES = 4096
/** Size of a missing value, in bytes. */
const NULL_BYTES = 4
/** Size above which a value is copied by a call, in bytes. For short values, a loop is faster. */
const MIN_COPY_BYTES = 1024

/** Output format of rows. */
export interface RowWriter {
  /** Returns the text before the first row. */
  head(columns: SnapshotColumn[]): string
  /** Writes the current row. */
  row(cells: readonly Cell[], out: OutputBuffer): void
  /** Writes the text after the last row. */
  tail?(out: OutputBuffer): void
  /** Format of plain rows, which a kernel writes in the same way as `row`. Valid after `head`. */
  readonly format?: RowFormat
}

/** A growing output buffer. */
class OutputBuffer {
  buf: Buffer
  at = 0
  /** Number of rows whose ends are in `rowEnds`. */
  private rows = 0

  /** `rowEnds`: receives the end of each row. */
  constructor(
    buf: Buffer = Buffer.allocUnsafe(CHUNK_BYTES + ROW_BYTES),
    private readonly rowEnds?: Uint32Array,
  ) {
    this.buf = buf
  }

  /** Call it after each row. */
  endRow(end = this.at): void {
    if (this.rowEnds) this.rowEnds[this.rows++] = end
  }

  reserve(more: number): void {
    this.buf = ensureCapacity(this.buf, this.at, more)
  }

  addBytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start)
    if (end - start > MIN_COPY_BYTES) {
      this.buf.set(source.subarray(start, end), this.at)
      this.at += end - start
    } else {
      const { buf, at } = this
      const shift = at - start
      for (let i = start; i < end; i++) buf[i + shift] = source[i]
      this.at = at + end - start
    }
  }

  /** Appends JSON on one line. A line end is never part of a value; blanks after it are indentation. */
  addLine(source: Uint8Array, start: number, end: number): void {
    if (end - start > MIN_COPY_BYTES) {
      const text = source.subarray(start, end)
      if (!text.includes(0x0a) && !text.includes(0x0d)) {
        this.addBytes(source, start, end)
        return
      }
    }
    this.reserve(end - start)
    for (let i = start; i < end; i++) {
      const c = source[i]
      if (c !== 0x0a && c !== 0x0d) this.buf[this.at++] = c
      else while (i + 1 < end && source[i + 1] <= 0x20) i++
    }
  }

  addBuffer(source: Buffer): void {
    this.reserve(source.length)
    this.at += source.copy(this.buf, this.at)
  }

  addText(text: string): void {
    this.reserve(text.length * 3)
    this.at += this.buf.write(text, this.at)
  }

  addByte(c: number): void {
    this.reserve(1)
    this.buf[this.at++] = c
  }

  /** Returns the collected bytes, and starts again. */
  take(): Buffer {
    const bytes = this.buf.subarray(0, this.at)
    this.buf = Buffer.allocUnsafe(CHUNK_BYTES + ROW_BYTES)
    this.at = 0
    return bytes
  }
}

/** Streams the first `head` rows of a grid, or all. */
export function streamFirstRows(snap: Snapshot, writer: RowWriter, head?: number): Bytes {
  const longest = Math.max(0, ...snap.columns.map(({ rows }) => rows))
  const count = Math.min(longest, head ?? longest)
  return streamRows(snap, writer, createFirstRows(count), count)
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
  const longest = Math.max(0, ...snap.columns.map(largestChunkBytes))
  const kernel = writer.format && ValueKernel.forRows(passed, longest, writer.format)
  try {
    yield* kernel ? writeWithKernel(kernel, snap, writer, rows, out) : writeOneByOne(snap, writer, rows, out)
  } finally {
    kernel?.release()
  }
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
  try {
    for (let row = rows.next(0); Number.isFinite(row); ) {
      let until = Number.POSITIVE_INFINITY
      for (const [k, seeker] of seekers.entries()) {
        if (seeker.needsLoad(row)) {
          await seeker.load(row)
          kernel.putChunk(k, seeker.chunk)
        }
        until = Math.min(until, seeker.until)
      }
      let count = 0
      for (; row < until && count < ValueKernel.maxRows; row = rows.next(row + 1))
        kernel.setListRow(count++, row)
      for (let done = 0; done < count; ) {
        const written = kernel.writeRows(done, count - done)
        for (let k = done; k < done + written; k++) out.endRow(out.at + kernel.endOfRow(k))
        out.addBuffer(kernel.written)
        done += written
        if (kernel.isOdd) {
          writer.row(
            seekers.map((_, k) => kernel.cell(k)),
            out,
          )
          out.endRow()
          done++
        }
        if (out.at >= CHUNK_BYTES) yield
      }
    }
  } finally {
    await Promise.all(seekers.map((seeker) => seeker.close()))
  }
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
function maxSizeOf({ columns, rows }: Snapshot, { format }: RowWriter): number {
  const sizes = columns.flatMap(({ slices, tail }) => [tail.length, ...slices.map(({ bytes }) => bytes)])
  const rest = format ? [format.after, ...format.before].reduce((sum, { length }) => sum + length, 0) : 0
  return sizes.reduce((sum, size) => sum + size, 0) + rows * (rest + columns.length * NULL_BYTES)
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

/** Creates a writer of NDJSON: one object per row, by column name. */
export function ndjson(): RowWriter {
  let names: string[] = []
  return {
    get format() {
      return {
        before: names.map((name) => Buffer.from(name)),
        after: Buffer.from('}\n'),
        separator: undefined,
      }
    },
    head(columns) {
      names = columns.map(({ name }, k) => `${k > 0 ? ',' : '{'}${JSON.stringify(name)}:`)
      return ''
    },
    row(cells, out) {
      for (const [k, { buf, start, end }] of cells.entries()) {
        out.addText(names[k])
        const first = buf[start]
        if (first === 0x5b || first === 0x7b) out.addLine(buf, start, end)
        else out.addBytes(buf, start, end)
      }
      out.addText(cells.length > 0 ? '}\n' : '{}\n')
    },
  }
}

/** Creates a writer of JSON arrays, one per row, comma-separated. */
export function createArrayWriter(): RowWriter {
  let first = true
  return {
    head: () => '',
    row(cells, out) {
      out.addText(first ? '[' : ',[')
      first = false
      for (const [k, { buf, start, end }] of cells.entries()) {
        if (k > 0) out.addByte(0x2c)
        out.addBytes(buf, start, end)
      }
      out.addByte(0x5d)
    },
  }
}

/** Creates a writer of the values of one column. A comma follows each value. */
export function createValueWriter(): RowWriter {
  return {
    head: () => '',
    row([{ buf, start, end }], out) {
      out.addBytes(buf, start, end)
      out.addByte(0x2c)
    },
  }
}

/**
 * Creates a writer of CSV or TSV as in RFC 4180, with LF. Null is an empty cell, the empty string is `""`;
 * arrays and objects are written as JSON. Parsing the result returns the same values. `isOrdered`: rows are
 * reordered after they are written, so no row may depend on others.
 */
export function createDelimitedWriter(delimiter: ',' | '\t', isOrdered = false): RowWriter {
  const separator = delimiter.charCodeAt(0)
  const quoteIf = new RegExp(`^$|^[ \t']|[ \t]$|["\\r\\n${delimiter}]`)
  const cell = (text: string): string => (quoteIf.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  /** Pending blank lines. With one column, a null is a blank line; trailing blank lines would be ignored. */
  let blanks = 0
  let width = 0
  return {
    get format() {
      const before = Array.from({ length: width }, (_, k) => Buffer.from(k > 0 ? delimiter : ''))
      return width === 1 ? undefined : { before, after: LINE_END, separator }
    },
    head(columns) {
      width = columns.length
      return `${columns.map(({ name }) => cell(name)).join(delimiter)}\n`
    },
    row(cells, out) {
      if (cells.length === 1) {
        if (cells[0].buf[cells[0].start] === 0x6e) {
          if (isOrdered) out.addText('""\n')
          else blanks++
          return
        }
        for (; blanks > 0; blanks--) out.addByte(0x0a)
      }
      for (const [k, value] of cells.entries()) {
        if (k > 0) out.addByte(separator)
        writeCell(value, separator, cell, out)
      }
      out.addByte(0x0a)
    },
    tail(out) {
      for (; blanks > 0; blanks--) out.addText('""\n')
    },
  }
}

/** Writes a value as a cell. `quote` quotes a text if necessary. */
function writeCell(
  { buf, start, end }: Cell,
  separator: number,
  quote: (text: string) => string,
  out: OutputBuffer,
): void {
  const first = buf[start]
  if (first === 0x6e) return
  if (first === 0x5b || first === 0x7b) {
    out.addText(quote(decodeUtf8(buf, start, end).replace(/[\r\n]\s*/g, '')))
  } else if (first !== 0x22) {
    out.addBytes(buf, start, end)
  } else if (isPlain(buf, start + 1, end - 1, separator)) {
    out.addBytes(buf, start + 1, end - 1)
  } else if (!hasEscapes(buf, start, end)) {
    // Without escapes, the JSON string is also a valid quoted cell.
    out.addBytes(buf, start, end)
  } else {
    out.addText(quote(JSON.parse(decodeUtf8(buf, start, end))))
  }
}

function decodeUtf8(buf: Uint8Array, start: number, end: number): string {
  return Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('utf8')
}

/** Returns whether a cell needs neither quotes nor decoding of escapes. */
function isPlain(buf: Uint8Array, start: number, end: number, separator: number): boolean {
  if (start === end || buf[start] <= 0x20 || buf[start] === 0x27 || buf[end - 1] <= 0x20) return false
  for (let i = start; i < end; i++) {
    const c = buf[i]
    if (c === separator || c === 0x5c || c === 0x22) return false
  }
  return true
}
