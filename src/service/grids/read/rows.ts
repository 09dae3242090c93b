import { Problem } from '../../../contract/errors.ts'
import { formatBytes } from '../../../contract/limits.ts'
import { type Bytes, breathe, hasEscapes, turnIsLong, withRoom } from '../../../json/index.ts'
import { type Cell, firstRows, type Rows, Seeker } from '../column/cells.ts'
import { longestText, type Snapshot, type SnapshotColumn } from '../column/content.ts'
import { type PlainRows, ValueKernel } from '../column/kernel/index.ts'
import { RowSet } from '../column/row-set.ts'

const PIECE_BYTES = 64 * 1024
const LINE_END = Buffer.from('\n')
/** Bytes of most rows. */
const ROW_BYTES = 4096
/** A value with more bytes is copied at once: of a few bytes, one at a time is faster. */
const LONG_BYTES = 1024

export interface RowWriter {
  head(columns: SnapshotColumn[]): string
  /** Writes the current row. */
  row(cells: readonly Cell[], out: Out): void
  tail?(out: Out): void
  /** How most rows are written, after `head`: what a kernel does in the same way as `row`. */
  readonly plain?: PlainRows
}

/** A growing output buffer. */
class Out {
  buf: Buffer = Buffer.allocUnsafe(PIECE_BYTES + ROW_BYTES)
  at = 0

  reserve(more: number): void {
    this.buf = withRoom(this.buf, this.at, more)
  }

  bytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start)
    if (end - start > LONG_BYTES) {
      this.buf.set(source.subarray(start, end), this.at)
      this.at += end - start
    } else for (let i = start; i < end; i++) this.buf[this.at++] = source[i]
  }

  /** JSON text on one line: a line end is never part of a value, and what follows it is indentation. */
  line(source: Uint8Array, start: number, end: number): void {
    if (end - start > LONG_BYTES) {
      const text = source.subarray(start, end)
      if (!text.includes(0x0a) && !text.includes(0x0d)) {
        this.bytes(source, start, end)
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

  all(source: Buffer): void {
    this.reserve(source.length)
    this.at += source.copy(this.buf, this.at)
  }

  text(text: string): void {
    this.reserve(text.length * 3)
    this.at += this.buf.write(text, this.at)
  }

  byte(c: number): void {
    this.reserve(1)
    this.buf[this.at++] = c
  }

  take(): Buffer {
    const taken = this.buf.subarray(0, this.at)
    this.buf = Buffer.allocUnsafe(PIECE_BYTES + ROW_BYTES)
    this.at = 0
    return taken
  }
}

/** Streams the first rows of a grid, or all. */
export function rowsAs(snap: Snapshot, writer: RowWriter, head?: number): Bytes {
  const longest = Math.max(0, ...snap.columns.map(({ rows }) => rows))
  const count = Math.min(longest, head ?? longest)
  return written(snap, writer, firstRows(count), count)
}

/** Streams chosen rows of a grid. */
export function chosenRowsAs(snap: Snapshot, writer: RowWriter, rows: RowSet): Bytes {
  // Those in between are passed, which takes nearly as long.
  return written(snap, writer, rows, rows.count > 0 ? snap.rows : 0)
}

/** Streams rows of a grid in constant memory: about one slice per column. `passed`: rows up to the last of them. */
async function* written(snap: Snapshot, writer: RowWriter, rows: Rows, passed: number): Bytes {
  const out = new Out()
  out.text(writer.head(snap.columns))
  const longest = Math.max(0, ...snap.columns.map(longestText))
  const kernel = writer.plain && ValueKernel.forRows(passed, longest, writer.plain)
  try {
    for await (const _ of kernel
      ? writtenBy(kernel, snap, writer, rows, out)
      : writtenOne(snap, writer, rows, out))
      if (out.at >= PIECE_BYTES) yield out.take()
  } finally {
    kernel?.release()
  }
  writer.tail?.(out)
  if (out.at > 0) yield out.take()
}

/** Writes rows one after the other. Yields when there is a piece. */
async function* writtenOne(snap: Snapshot, writer: RowWriter, rows: Rows, out: Out): AsyncGenerator<void> {
  const write = (cells: readonly Cell[]): boolean => {
    writer.row(cells, out)
    return out.at >= PIECE_BYTES
  }
  yield* eachRow(snap, rows, write)
}

/** Writes many rows at once, and those that are not plain one after the other. Yields when there is a piece. */
async function* writtenBy(
  kernel: ValueKernel,
  snap: Snapshot,
  writer: RowWriter,
  rows: Rows,
  out: Out,
): AsyncGenerator<void> {
  const seekers = snap.columns.map((column) => new Seeker(snap, column, rows))
  try {
    for (let row = rows.next(0); Number.isFinite(row); ) {
      let until = Number.POSITIVE_INFINITY
      for (const [k, seeker] of seekers.entries()) {
        if (seeker.isBeyond(row)) {
          await seeker.load(row)
          kernel.put(k, seeker.part)
        }
        until = Math.min(until, seeker.until)
      }
      let count = 0
      for (; row < until && count < ValueKernel.mostRows; row = rows.next(row + 1)) kernel.list(count++, row)
      for (let done = 0; done < count; ) {
        done += kernel.rows(done, count - done)
        out.all(kernel.written)
        if (kernel.isOdd) {
          writer.row(
            seekers.map((_, k) => kernel.cell(k)),
            out,
          )
          done++
        }
        if (out.at >= PIECE_BYTES) yield
      }
    }
  } finally {
    await Promise.all(seekers.map((seeker) => seeker.close()))
  }
}

/** Streams rows of a grid in an order of their own. Keeps all of them in memory. Throws `too_large` beyond `most` bytes. */
export async function* orderedRowsAs(
  snap: Snapshot,
  writer: RowWriter,
  order: Uint32Array,
  most: number,
): Bytes {
  const out = new Out()
  out.text(writer.head(snap.columns))
  yield out.take()
  // Where each row begins, in ascending order of rows.
  const starts = new Float64Array(order.length + 1)
  let count = 0
  const write = (cells: readonly Cell[]): boolean => {
    if (out.at > most) throw tooManyRows(most)
    starts[count++] = out.at
    writer.row(cells, out)
    return turnIsLong()
  }
  for await (const _ of eachRow(snap, RowSet.of(snap.rows, order), write)) await breathe()
  starts[count] = out.at
  const ascending = Uint32Array.from(order).sort()
  const text = out.buf
  const sorted = new Out()
  for (const row of order) {
    const k = placeOf(ascending, row)
    sorted.bytes(text, starts[k], starts[k + 1])
    if (sorted.at >= PIECE_BYTES) {
      yield sorted.take()
      await breathe()
    }
  }
  writer.tail?.(sorted)
  if (sorted.at > 0) yield sorted.take()
}

export function tooManyRows(most: number): Problem {
  return new Problem('too_large', `more than ${formatBytes(most)} of sorted rows (limit sort_bytes)`, {
    field: 'sort',
    hint: 'Read fewer rows with head or where, or fewer columns.',
  })
}

/** Goes through the cells of each row. Yields whenever `write` returns true. */
async function* eachRow(
  snap: Snapshot,
  rows: Rows,
  write: (cells: readonly Cell[]) => boolean,
): AsyncGenerator<void> {
  const seekers = snap.columns.map((column) => new Seeker(snap, column, rows))
  try {
    for (let row = rows.next(0); Number.isFinite(row); row = rows.next(row + 1)) {
      for (const seeker of seekers) {
        if (seeker.isBeyond(row)) await seeker.load(row)
        seeker.seek(row)
      }
      if (write(seekers)) yield
    }
  } finally {
    await Promise.all(seekers.map((seeker) => seeker.close()))
  }
}

/** The place of a number in a list in ascending order. */
function placeOf(ascending: Uint32Array, wanted: number): number {
  let [low, high] = [0, ascending.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle] < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** NDJSON: one object per row, keyed by column name. */
export function ndjson(): RowWriter {
  let names: string[] = []
  return {
    get plain() {
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
        out.text(names[k])
        const first = buf[start]
        if (first === 0x5b || first === 0x7b) out.line(buf, start, end)
        else out.bytes(buf, start, end)
      }
      out.text(cells.length > 0 ? '}\n' : '{}\n')
    },
  }
}

/** JSON arrays, one per row, comma-separated. */
export function arrays(): RowWriter {
  let first = true
  return {
    head: () => '',
    row(cells, out) {
      out.text(first ? '[' : ',[')
      first = false
      for (const [k, { buf, start, end }] of cells.entries()) {
        if (k > 0) out.byte(0x2c)
        out.bytes(buf, start, end)
      }
      out.byte(0x5d)
    },
  }
}

/** The values of one column, comma-separated. */
export function values(): RowWriter {
  return {
    head: () => '',
    row([{ buf, start, end }], out) {
      out.bytes(buf, start, end)
      out.byte(0x2c)
    },
  }
}

/**
 * CSV or TSV as in RFC 4180, with LF. Null is an empty cell, the empty string is `""`; arrays and objects are
 * written as JSON. Reading the result gives the same values again. `isOrdered`: rows are put into another order after they
 * are written, so that each row stands for itself.
 */
export function delimited(delimiter: ',' | '\t', isOrdered = false): RowWriter {
  const separator = delimiter.charCodeAt(0)
  const quoteIf = new RegExp(`^$|^[ \t']|[ \t]$|["\\r\\n${delimiter}]`)
  const cell = (text: string): string => (quoteIf.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  /** Pending blank lines. In a one-column file a null is a blank line; trailing ones would be ignored. */
  let blanks = 0
  let width = 0
  return {
    get plain() {
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
          if (isOrdered) out.text('""\n')
          else blanks++
          return
        }
        for (; blanks > 0; blanks--) out.byte(0x0a)
      }
      for (const [k, { buf, start, end }] of cells.entries()) {
        if (k > 0) out.byte(separator)
        writeCell(buf, start, end, separator, cell, out)
      }
      out.byte(0x0a)
    },
    tail(out) {
      for (; blanks > 0; blanks--) out.text('""\n')
    },
  }
}

function writeCell(
  buf: Buffer,
  start: number,
  end: number,
  separator: number,
  cell: (text: string) => string,
  out: Out,
): void {
  const first = buf[start]
  if (first === 0x6e) return
  if (first === 0x5b || first === 0x7b) {
    out.text(cell(decode(buf, start, end).replace(/[\r\n]\s*/g, '')))
  } else if (first !== 0x22) {
    out.bytes(buf, start, end)
  } else if (isPlain(buf, start + 1, end - 1, separator)) {
    out.bytes(buf, start + 1, end - 1)
  } else if (!hasEscapes(buf, start, end)) {
    // Without escapes, the text is as it is written, and what is not plain is in quotes.
    out.bytes(buf, start, end)
  } else {
    out.text(cell(JSON.parse(decode(buf, start, end)) as string))
  }
}

function decode(buf: Uint8Array, start: number, end: number): string {
  return Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('utf8')
}

/** Whether a cell needs neither quotes nor decoding of escapes. */
function isPlain(buf: Uint8Array, start: number, end: number, separator: number): boolean {
  if (start === end || buf[start] <= 0x20 || buf[start] === 0x27 || buf[end - 1] <= 0x20) return false
  for (let i = start; i < end; i++) {
    const c = buf[i]
    if (c === separator || c === 0x5c || c === 0x22) return false
  }
  return true
}
