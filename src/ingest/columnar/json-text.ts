// Collects the JSON of values of a column as bytes.
import { ensureCapacity } from '../../json/index.ts'
import { COMMA } from '../values/characters.ts'

/** A text ends at the first limit reached. */
const MAX_ROWS = 65_536
const MAX_BYTES = 4 * 1024 * 1024
const INITIAL_BYTES = 16 * 1024
/** Maximum length of a text that is written character by character. */
const MAX_LOOP_CHARACTERS = 128

/** A part of a column: the comma-separated JSON of the values of some rows. */
export interface JsonBatch {
  rows: number
  text: Uint8Array
}

/** A growing text: values, each with a comma after it. */
export class JsonText {
  private buf: Buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  private at = 0
  /** Number of values. */
  rows = 0

  get length(): number {
    return this.at
  }

  get text(): Uint8Array {
    return this.buf.subarray(0, this.at)
  }

  get isFull(): boolean {
    return this.rows >= MAX_ROWS || this.at >= MAX_BYTES
  }

  /** Number of rows until it is full. */
  get freeRows(): number {
    return MAX_ROWS - this.rows
  }

  /** Adds a value. A loop is faster than a call for short ones. */
  addValue(json: string): void {
    const { length } = json
    this.reserve(length * 3 + 1)
    const { buf, at } = this
    let k = 0
    if (length <= MAX_LOOP_CHARACTERS)
      for (; k < length; k++) {
        const code = json.charCodeAt(k)
        if (code >= 0x80) break
        buf[at + k] = code
      }
    this.at += k === length ? k : buf.write(json, at)
    buf[this.at++] = COMMA
    this.rows++
  }

  /** Adds values, each with a comma after it. */
  addRows(json: Uint8Array, rows: number): void {
    this.reserve(json.length)
    this.buf.set(json, this.at)
    this.at += json.length
    this.rows += rows
  }

  /** Adds the value json[start, end), with a comma after it. A loop is faster than a call for short ones. */
  addRow(json: Uint8Array, start: number, end: number): void {
    if (end - start > MAX_LOOP_CHARACTERS) {
      this.addRows(json.subarray(start, end), 1)
      return
    }
    this.reserve(end - start)
    const { buf, at } = this
    for (let k = start; k < end; k++) buf[at + k - start] = json[k]
    this.at = at + end - start
    this.rows++
  }

  /** Returns the text without its last comma, and begins a new one. It is valid until the next value is added. */
  take(): JsonBatch {
    const batch = { rows: this.rows, text: this.buf.subarray(0, Math.max(0, this.at - 1)) }
    this.at = 0
    this.rows = 0
    return batch
  }

  private reserve(more: number): void {
    if (this.at + more > this.buf.length) this.buf = ensureCapacity(this.buf, this.at, more)
  }
}
