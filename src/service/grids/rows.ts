import { type Bytes, breathe, endOf, skipBlanks, withRoom } from '../../json/index.ts'
import { columnText, type Snapshot, type SnapshotColumn } from './content.ts'

const PIECE_BYTES = 64 * 1024
const NULL = Buffer.from('null')

/** Iterates over the values of one column. */
class Cursor {
  private readonly pieces: AsyncIterator<Uint8Array>
  buf: Uint8Array = NULL
  start = 0
  end = 0
  private at = 0

  constructor(snap: Snapshot, column: SnapshotColumn, head: number | undefined) {
    this.pieces = columnText(snap, column, head, snap.columns.length > 8 ? 1 : undefined)[
      Symbol.asyncIterator
    ]()
    this.buf = Buffer.alloc(0)
  }

  /** Whether `fill` must be called before `next`. */
  get dry(): boolean {
    return this.at >= this.buf.length
  }

  async fill(): Promise<void> {
    while (this.at >= this.buf.length) {
      const { value, done } = await this.pieces.next()
      if (done) {
        // A column shorter than the others: return nulls.
        this.buf = NULL
        this.at = 0
        return
      }
      // Skip chunks that are only the comma between two values.
      this.buf = value.length === 1 && value[0] === 0x2c ? Buffer.alloc(0) : value
      this.at = 0
    }
  }

  /** Sets start and end to the next value in `buf`. */
  next(): void {
    this.start = skipBlanks(this.buf, this.at)
    this.end = endOf(this.buf, this.start)
    this.at = skipBlanks(this.buf, this.end) + 1
  }

  async close(): Promise<void> {
    await this.pieces.return?.()
  }
}

interface RowWriter {
  head(columns: SnapshotColumn[]): string
  /** Writes the current row of all cursors. */
  row(cursors: Cursor[], out: Out): void
  tail?(out: Out): void
}

/** A growing output buffer. */
class Out {
  buf: Buffer = Buffer.allocUnsafe(PIECE_BYTES * 2)
  at = 0

  reserve(more: number): void {
    this.buf = withRoom(this.buf, this.at, more)
  }

  bytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start)
    for (let i = start; i < end; i++) this.buf[this.at++] = source[i]
  }

  /** JSON text on one line: a line end is never part of a value, and what follows it is indentation. */
  line(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start)
    for (let i = start; i < end; i++) {
      const c = source[i]
      if (c !== 0x0a && c !== 0x0d) this.buf[this.at++] = c
      else while (i + 1 < end && source[i + 1] <= 0x20) i++
    }
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
    this.buf = Buffer.allocUnsafe(PIECE_BYTES * 2)
    this.at = 0
    return taken
  }
}

/**
 * Streams the rows of a grid in constant memory: about one slice per column. `chosen`: the only rows to return, in
 * ascending order.
 */
export async function* rowsAs(
  snap: Snapshot,
  writer: RowWriter,
  head?: number,
  chosen?: readonly number[],
): Bytes {
  const out = new Out()
  out.text(writer.head(snap.columns))
  const cursors = snap.columns.map((column) => new Cursor(snap, column, head))
  const longest = Math.max(0, ...snap.columns.map(({ rows }) => rows))
  const rows = Math.min(longest, head ?? longest, chosen ? (chosen.at(-1) ?? -1) + 1 : longest)
  let next = 0
  try {
    for (let row = 0; row < rows; row++) {
      for (const cursor of cursors) {
        if (cursor.dry) await cursor.fill()
        cursor.next()
      }
      if (chosen && chosen[next] !== row) {
        await breathe()
        continue
      }
      next++
      writer.row(cursors, out)
      if (out.at >= PIECE_BYTES) yield out.take()
    }
    writer.tail?.(out)
    if (out.at > 0) yield out.take()
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()))
  }
}

/** NDJSON: one object per row, keyed by column name. */
export function ndjson(): RowWriter {
  let names: string[] = []
  return {
    head(columns) {
      names = columns.map(({ name }, k) => `${k > 0 ? ',' : '{'}${JSON.stringify(name)}:`)
      return ''
    },
    row(cursors, out) {
      for (const [k, { buf, start, end }] of cursors.entries()) {
        out.text(names[k])
        const first = buf[start]
        if (first === 0x5b || first === 0x7b) out.line(buf, start, end)
        else out.bytes(buf, start, end)
      }
      out.text(cursors.length > 0 ? '}\n' : '{}\n')
    },
  }
}

/** JSON arrays, one per row, comma-separated. */
export function arrays(): RowWriter {
  let first = true
  return {
    head: () => '',
    row(cursors, out) {
      out.text(first ? '[' : ',[')
      first = false
      for (const [k, { buf, start, end }] of cursors.entries()) {
        if (k > 0) out.byte(0x2c)
        out.bytes(buf, start, end)
      }
      out.byte(0x5d)
    },
  }
}

/**
 * CSV or TSV as in RFC 4180, with LF. Null is an empty cell, the empty string is `""`; arrays and objects are
 * written as JSON. Reading the result gives the same values again.
 */
export function delimited(delimiter: ',' | '\t'): RowWriter {
  const separator = delimiter.charCodeAt(0)
  const quoteIf = new RegExp(`^$|^[ \t']|[ \t]$|["\\r\\n${delimiter}]`)
  const cell = (text: string): string => (quoteIf.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  /** Pending blank lines. In a one-column file a null is a blank line; trailing ones would be ignored. */
  let blanks = 0
  return {
    head: (columns) => `${columns.map(({ name }) => cell(name)).join(delimiter)}\n`,
    row(cursors, out) {
      if (cursors.length === 1) {
        if (cursors[0].buf[cursors[0].start] === 0x6e) {
          blanks++
          return
        }
        for (; blanks > 0; blanks--) out.byte(0x0a)
      }
      for (const [k, { buf, start, end }] of cursors.entries()) {
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
  buf: Uint8Array,
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
