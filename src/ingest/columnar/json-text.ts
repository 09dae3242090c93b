// Collects the comma-separated JSON of values as bytes.
import { isUtf8 } from 'node:buffer'
import { ensureCapacity } from '../../json/index.ts'
import { formatCachedDay } from './json-values.ts'

/** A text ends at the first limit reached. */
const MAX_ROWS = 65_536
const MAX_BYTES = 4 * 1024 * 1024
/** Small: a file can have thousands of short columns, and each begins a text. */
const INITIAL_BYTES = 16 * 1024
/** Maximum length of a text that is written character by character. */
const MAX_LOOP_CHARACTERS = 128
/** Length above which bytes are copied by a call. For short ones, a loop is faster. */
const MIN_COPY_BYTES = 256
/** Maximum length of a safe integer. */
const MAX_INTEGER_CHARACTERS = 17
/** Maximum number of decimals that `addNumber` writes itself, and their powers of 10. */
const MAX_PLACES = 9
const POWERS = Array.from({ length: MAX_PLACES + 1 }, (_, k) => 10 ** k)
/** Numbers below are exact with 15 digits; numbers from the second on are written without an exponent. */
const EXACT_LIMIT = 1e15
const MIN_DECIMAL = 1e-6
const SECONDS_PER_DAY = 86_400
/** Length of a separator, a time of day and a quote. */
const TIME_BYTES = 10
/** First byte of a byte order mark, which readers drop. */
const FIRST_OF_MARK = 0xef
const [COMMA, QUOTE, BACKSLASH, MINUS, POINT, COLON, ZERO] = Buffer.from(',"\\-.:0')

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
  /** Number of decimals of the last number. */
  private places = 1
  /** The day of the last time, as days since 1970, and its bytes with the first quote. */
  private day = Number.NaN
  private dayBytes = Buffer.alloc(0)

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
    if (value < 0) buf[this.at++] = MINUS
    const size = Math.abs(value)
    let digits = 1
    for (let power = 10; power <= size; power *= 10) digits++
    this.addDigits(size, digits)
  }

  /** Adds a finite number as `String` writes it. */
  addNumber(value: number): void {
    if (Number.isSafeInteger(value)) {
      this.addInteger(value)
      return
    }
    const size = Math.abs(value)
    const places = size >= MIN_DECIMAL && size < EXACT_LIMIT ? this.findPlaces(size) : 0
    if (places === 0) {
      this.addText(String(value))
      return
    }
    const power = POWERS[places]
    const scaled = Math.round(size * power)
    const whole = Math.floor(scaled / power)
    this.reserve(MAX_INTEGER_CHARACTERS + places + 2)
    if (value < 0) this.buf[this.at++] = MINUS
    this.addInteger(whole)
    this.buf[this.at++] = POINT
    this.addDigits(scaled - whole * power, places)
  }

  /**
   * Returns the number of decimals with which a number that is no integer is written; 0 if it has more than 15 digits
   * or `MAX_PLACES` decimals. A division of exact integers is exact to the last bit, and no two decimals of 15 digits
   * are the same double: the one that is found is the one that `String` writes.
   */
  private findPlaces(size: number): number {
    for (let k = 0; k <= MAX_PLACES; k++) {
      // Most numbers of a column have the decimals of the last one, or fewer.
      let places = k === 0 ? this.places : k
      let scaled = Math.round(size * POWERS[places])
      if (scaled >= EXACT_LIMIT || scaled / POWERS[places] !== size) continue
      this.places = places
      for (; scaled % 10 === 0; scaled /= 10) places--
      return places
    }
    return 0
  }

  /** Adds a time in seconds since 1970: `"2024-01-31 10:00:00"`, with a separator of one character. */
  addTime(seconds: number, separator: number): void {
    const day = Math.floor(seconds / SECONDS_PER_DAY)
    if (day !== this.day) {
      this.day = day
      this.dayBytes = Buffer.from(`"${formatCachedDay(day)}`)
    }
    const { dayBytes } = this
    this.addBytes(dayBytes, 0, dayBytes.length)
    this.reserve(TIME_BYTES)
    const { buf, at } = this
    const second = seconds - day * SECONDS_PER_DAY
    const minute = (second / 60) | 0
    buf[at] = separator
    writeTwoDigits(buf, at + 1, (minute / 60) | 0)
    buf[at + 3] = COLON
    writeTwoDigits(buf, at + 4, minute % 60)
    buf[at + 6] = COLON
    writeTwoDigits(buf, at + 7, second % 60)
    buf[at + 9] = QUOTE
    this.at = at + TIME_BYTES
  }

  /** Adds an integer with this number of digits. The buffer has space for it. */
  private addDigits(value: number, digits: number): void {
    const { buf, at } = this
    let left = value
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
    // The next one is probably as long.
    this.buf = Buffer.allocUnsafe(Math.max(INITIAL_BYTES, this.at + (this.at >> 3)))
    this.at = 0
    this.rows = 0
    return { rows, text }
  }

  private reserve(more: number): void {
    if (this.at + more > this.buf.length) this.buf = ensureCapacity(this.buf, this.at, more)
  }
}

function writeTwoDigits(buf: Buffer, at: number, value: number): void {
  const tens = (value / 10) | 0
  buf[at] = ZERO + tens
  buf[at + 1] = ZERO + value - 10 * tens
}
