// Collects the comma-separated JSON of values as bytes.
import { isUtf8 } from 'node:buffer'
import { ensureCapacity } from '../../json/index.ts'

/** A text ends at the first limit reached. */
const MAX_ROWS = 65_536
const MAX_BYTES = 4 * 1024 * 1024
const INITIAL_BYTES = 512 * 1024
/** Maximum length of a text that is written character by character. */
const MAX_LOOP_CHARACTERS = 128
/** Length above which bytes are copied by a call. For short ones, a loop is faster. */
const MIN_COPY_BYTES = 256
/** Maximum length of a safe integer. */
const MAX_INTEGER_CHARACTERS = 17
/** First byte of a byte order mark, which readers drop. */
const FIRST_OF_MARK = 0xef
const [COMMA, QUOTE, BACKSLASH, MINUS, ZERO] = Buffer.from(',"\\-0')

/** A part of a column: the comma-separated JSON of the values of some rows. */
export interface JsonBatch {
  rows: number
  text: Uint8Array
}

/** A growing text. */
export class JsonText {
  private buf: Buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  private at = 0
  /** Number of values. */
  rows = 0

  get length(): number {
    return this.at
  }

  get isFull(): boolean {
    return this.rows >= MAX_ROWS || this.at >= MAX_BYTES
  }

  /** Separates the next value from those before it. */
  beginValue(): void {
    if (this.rows++ > 0) {
      this.reserve(1)
      this.buf[this.at++] = COMMA
    }
  }

  addNull(): void {
    this.addText('null')
  }

  /** Adds a text. A loop is faster than a call for short ones. */
  addText(text: string): void {
    this.reserve(text.length * 3)
    const { buf, at } = this
    if (text.length <= MAX_LOOP_CHARACTERS) {
      let k = 0
      for (; k < text.length; k++) {
        const code = text.charCodeAt(k)
        if (code >= 0x80) break
        buf[at + k] = code
      }
      if (k === text.length) {
        this.at = at + k
        return
      }
    }
    this.at = at + buf.write(text, at)
  }

  addBytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start)
    const { buf, at } = this
    if (end - start > MIN_COPY_BYTES) buf.set(source.subarray(start, end), at)
    else for (let k = start; k < end; k++) buf[at + k - start] = source[k]
    this.at = at + end - start
  }

  /** Adds UTF-8 as a string. Returns false, and adds nothing, for other bytes, control characters and a mark of the order. */
  addString(source: Uint8Array, start: number, end: number): boolean {
    this.reserve(2 * (end - start) + 2)
    const { buf } = this
    let { at } = this
    let isAscii = true
    buf[at++] = QUOTE
    for (let k = start; k < end; k++) {
      const c = source[k]
      if (c < 0x20) return false
      if (c === QUOTE || c === BACKSLASH) buf[at++] = BACKSLASH
      else if (c >= 0x80) isAscii = false
      buf[at++] = c
    }
    if (!isAscii && (source[start] === FIRST_OF_MARK || !isUtf8(source.subarray(start, end)))) return false
    buf[at++] = QUOTE
    this.at = at
    return true
  }

  /** Adds a safe integer. */
  addInteger(value: number): void {
    this.reserve(MAX_INTEGER_CHARACTERS)
    const { buf } = this
    let { at } = this
    let left = value
    if (left < 0) {
      buf[at++] = MINUS
      left = -left
    }
    let digits = 1
    for (let power = 10; power <= left; power *= 10) digits++
    for (let k = at + digits - 1; k >= at; k--) {
      const rest = Math.floor(left / 10)
      buf[k] = ZERO + (left - rest * 10)
      left = rest
    }
    this.at = at + digits
  }

  /** Returns the text, and begins a new one. */
  take(): JsonBatch {
    const { rows } = this
    const text = this.buf.subarray(0, this.at)
    this.buf = Buffer.allocUnsafe(INITIAL_BYTES)
    this.at = 0
    this.rows = 0
    return { rows, text }
  }

  private reserve(more: number): void {
    if (this.at + more > this.buf.length) this.buf = ensureCapacity(this.buf, this.at, more)
  }
}
