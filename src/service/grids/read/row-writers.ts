// Writes rows as CSV, TSV, NDJSON, JSON or Markdown.
import { borrowBuffer, ensureCapacity, hasEscapes, lendBuffer } from '../../../json/index.ts'
import type { Cell } from '../column/cursor.ts'
import type { RowFormat } from '../column/kernel/write-rows.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'

/** Size of a chunk of output, in bytes. */
export const CHUNK_BYTES = 64 * 1024
const LINE_END = Buffer.from('\n')
const NO_BYTES = Buffer.alloc(0)
/** Usual maximum size of a row, in bytes. */
const ROW_BYTES = 4096
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
export class OutputBuffer {
  buf: Buffer
  at = 0
  /** Number of rows whose ends are in `rowEnds`. */
  private rows = 0

  /** `rowEnds`: receives the end of each row. */
  constructor(
    buf: Buffer = NO_BYTES,
    private readonly rowEnds?: Uint32Array,
  ) {
    this.buf = buf
  }

  /** Call it after each row. */
  endRow(): void {
    if (this.rowEnds) this.rowEnds[this.rows++] = this.at
  }

  /** Adds a text of several rows. `ends`: of the rows in it. */
  addRows(text: Buffer, ends: Int32Array): void {
    const { rowEnds, at } = this
    if (rowEnds) for (let k = 0; k < ends.length; k++) rowEnds[this.rows++] = at + ends[k]
    this.addBuffer(text)
  }

  reserve(more: number): void {
    if (this.at + more > this.buf.length) this.grow(more)
  }

  private grow(more: number): void {
    if (this.buf === NO_BYTES) this.buf = borrowBuffer(CHUNK_BYTES + ROW_BYTES)
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
    const bytes = lendBuffer(this.buf, this.at)
    this.buf = NO_BYTES
    this.at = 0
    return bytes
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

/** Creates a writer of a table in Markdown: one line per row, without markup in the cells. */
export function createMarkdownWriter(): RowWriter {
  const cell = (text: string): string =>
    text
      .replace(/[\\`*_[\]<>|~]|&(?=#?\w+;)/g, '\\$&')
      .replace(/\r\n|\r|\n/g, '<br>')
      .trim()
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  return {
    head(columns) {
      const rules = columns.map(({ type }) => (type === 'number' ? '---:' : '---'))
      return line(columns.map(({ name }) => cell(name))) + line(rules)
    },
    row(cells, out) {
      out.addText(
        line(
          cells.map(({ buf, start, end }) =>
            buf[start] === 0x6e ? '' : cell(decodeJsonText(buf, start, end)),
          ),
        ),
      )
    },
  }
}

/** Returns a JSON value as text: a string without quotes, others as JSON on one line. */
export function decodeJsonText(buf: Uint8Array, start: number, end: number): string {
  const json = decodeUtf8(buf, start, end)
  return buf[start] === 0x22 ? JSON.parse(json) : json.replace(/[\r\n]\s*/g, '')
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
