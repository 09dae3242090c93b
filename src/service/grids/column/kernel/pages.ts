// Encodes column JSON as pages of Parquet files, with the WebAssembly of pages.as.ts.
import { WasmModule } from '../../../../contract/wasm.ts'
import { findValueEnd, nextValue, skipWhitespace } from '../../../../json/index.ts'
import { isWorthKernel } from './pool.ts'

/** How values are encoded, as in pages.as.ts. Times are microseconds since 1970 in UTC, days are days since then. */
export const ENCODINGS = { integer: 0, double: 1, day: 2, time: 3, text: 4, json: 5, boolean: 6 } as const

/**
 * Facts about values, as bits; 0 if all are null. Numbers: written with a fraction or exponent, −0, beyond 64 bits,
 * beyond 127 bits. Days and times: neither of them, a day, `T` or a blank before the time of day, no zone, `Z`, an offset,
 * no seconds, more than six digits of a fraction, zeros at its end. Numbers again: whole ones, however they are written;
 * others.
 */
export const FACTS = {
  fraction: 1,
  negativeZero: 2,
  wide: 4,
  vast: 8,
  unreadable: 16,
  day: 32,
  letter: 64,
  space: 128,
  local: 256,
  utc: 512,
  offset: 1024,
  noSeconds: 2048,
  nanoseconds: 4096,
  padded: 8192,
  whole: 16_384,
  part: 32_768,
} as const

/** Memory layout, as in pages.as.ts. */
const LEVELS = 4096
const MAX_ROWS = 131_072
const VALUES = LEVELS + MAX_ROWS
const PAGE_BYTES = 1_048_576
const TEXT = VALUES + PAGE_BYTES + 64
/** Space that a number needs. */
const SLACK = 32
const FULL = 2

const PADDING = Buffer.alloc(48, ',')
/** Maximum size of a text that a kernel reads. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024

/** State of a page: a variable of the kernel, or without one, of this module. */
interface Page {
  out: { value: number }
  rows: { value: number }
  nulls: { value: number }
  low: { value: bigint }
  high: { value: bigint }
  lowDouble: { value: number }
  highDouble: { value: number }
  facts: { value: number }
}

/** Exports of pages.as.ts. */
interface Exports extends Page {
  add(encoding: number, from: number, to: number, most: number): number
  stop: { value: number }
  odd: { value: number }
}

/** Values of a page. */
export interface EncodedPage {
  rows: number
  nulls: number
  /** A byte for each row: 0 for null. Valid until the next page. */
  levels: Buffer
  /** The values that are not null. Valid until the next page. */
  values: Buffer
  /** Lowest and highest value of numbers and times; undefined without values. */
  low: number | bigint | undefined
  high: number | bigint | undefined
}

const wasm = new WasmModule<Exports>('pages.wasm')

/** Encodes columns, one page after the other. */
export class PageEncoder {
  /** Values that do not fit into a page of the usual size. */
  private large: Buffer | undefined

  private constructor(
    private readonly memory: Buffer,
    private readonly page: Page,
    private readonly kernel: Exports | undefined,
  ) {
    this.begin()
  }

  /** Creates an encoder of `values` values of all columns, whose texts mostly have up to `textBytes`. */
  static create(values: number, textBytes: number): PageEncoder {
    const size = TEXT + Math.min(textBytes, MAX_TEXT_BYTES) + PADDING.length
    const instance = isWorthKernel(values) ? wasm.createInstance(size) : undefined
    if (instance) return new PageEncoder(Buffer.from(instance.memory), instance.exports, instance.exports)
    return new PageEncoder(Buffer.alloc(TEXT), createPage(), undefined)
  }

  /** Facts about all values since they were taken last. */
  takeFacts(): number {
    const { facts } = this.page
    const found = facts.value
    facts.value = 0
    return found
  }

  get rows(): number {
    return this.page.rows.value
  }

  /**
   * Adds up to `most` values of column JSON, from an offset, to the page. Returns how many, and the offset after them.
   * `isFull`: take the page first.
   */
  add(
    encoding: keyof typeof ENCODINGS,
    text: Buffer,
    from: number,
    most: number,
  ): { count: number; end: number; isFull: boolean } {
    const { kernel, memory } = this
    let count = 0
    let end = from
    const isKernel = kernel !== undefined && TEXT + text.length - from + PADDING.length <= memory.length
    if (isKernel) {
      text.copy(memory, TEXT, from)
      PADDING.copy(memory, TEXT + text.length - from)
    }
    while (count < most && end < text.length) {
      if (this.isFull) return { count, end, isFull: true }
      if (isKernel) {
        const to = TEXT + text.length - from
        count += kernel.add(ENCODINGS[encoding], TEXT + end - from, to, most - count)
        end = from + kernel.stop.value - TEXT
        if (kernel.odd.value === 0) continue
        if (kernel.odd.value === FULL && this.rows > 0) return { count, end, isFull: true }
      }
      const start = skipWhitespace(text, end)
      if (start >= text.length) return { count, end: text.length, isFull: false }
      const last = findValueEnd(text, start)
      if (!this.addOne(encoding, text, start, last)) return { count, end: start, isFull: true }
      count++
      end = nextValue(text, last)
    }
    return { count, end: Math.min(end, text.length), isFull: false }
  }

  /** Adds nulls to the page: as many as fit, up to `most`. Returns their number. */
  addNulls(most: number): number {
    const { rows, nulls } = this.page
    const count = Math.min(most, MAX_ROWS - rows.value)
    this.memory.fill(0, LEVELS + rows.value, LEVELS + rows.value + count)
    rows.value += count
    nulls.value += count
    return count
  }

  /** Returns the page, and begins the next one. */
  take(encoding: keyof typeof ENCODINGS): EncodedPage {
    const { memory, page } = this
    const rows = page.rows.value
    const nulls = page.nulls.value
    const isDouble = encoding === 'double'
    const hasBounds = nulls < rows && ENCODINGS[encoding] <= ENCODINGS.time
    const numberOf = (value: bigint): number | bigint => (encoding === 'day' ? Number(value) : value)
    const taken: EncodedPage = {
      rows,
      nulls,
      levels: memory.subarray(LEVELS, LEVELS + rows),
      values: this.large ?? memory.subarray(VALUES, page.out.value),
      low: hasBounds ? (isDouble ? page.lowDouble.value : numberOf(page.low.value)) : undefined,
      high: hasBounds ? (isDouble ? page.highDouble.value : numberOf(page.high.value)) : undefined,
    }
    this.begin()
    return taken
  }

  private begin(): void {
    const { page } = this
    this.large = undefined
    page.out.value = VALUES
    page.rows.value = 0
    page.nulls.value = 0
    page.low.value = MAX_INTEGER
    page.high.value = MIN_INTEGER
    page.lowDouble.value = Number.POSITIVE_INFINITY
    page.highDouble.value = Number.NEGATIVE_INFINITY
  }

  private get isFull(): boolean {
    const { rows, out } = this.page
    return this.large !== undefined || rows.value === MAX_ROWS || out.value + SLACK > VALUES + PAGE_BYTES
  }

  /** Adds the value buf[start, end). Returns false if it does not fit into the page. */
  private addOne(encoding: keyof typeof ENCODINGS, buf: Buffer, start: number, end: number): boolean {
    const { memory, page } = this
    const isNull = buf[start] === LETTER_N
    if (!isNull) {
      const value = encodeValue(encoding, buf, start, end, page)
      const fits = page.out.value + value.length + SLACK <= VALUES + PAGE_BYTES
      if (!fits && page.rows.value > page.nulls.value) return false
      if (fits) page.out.value += value.copy(memory, page.out.value)
      else this.large = Buffer.from(value)
    }
    memory[LEVELS + page.rows.value++] = isNull ? 0 : 1
    if (isNull) page.nulls.value++
    return true
  }
}

const MIN_INTEGER = -(2n ** 63n)
const MAX_INTEGER = 2n ** 63n - 1n
const LETTER_N = 0x6e

function createPage(): Page {
  return {
    out: { value: 0 },
    rows: { value: 0 },
    nulls: { value: 0 },
    low: { value: 0n },
    high: { value: 0n },
    lowDouble: { value: 0 },
    highDouble: { value: 0 },
    facts: { value: 0 },
  }
}

const scratch = Buffer.alloc(8)

/** Encodes a value that is not null, and adds what is true of it to the page. */
function encodeValue(
  encoding: keyof typeof ENCODINGS,
  buf: Buffer,
  start: number,
  end: number,
  page: Page,
): Buffer {
  const addBounds = (value: bigint): void => {
    if (value < page.low.value) page.low.value = value
    if (value > page.high.value) page.high.value = value
  }
  switch (encoding) {
    case 'integer': {
      const { value, facts } = readInteger(buf.toString('latin1', start, end))
      page.facts.value |= facts
      addBounds(value)
      scratch.writeBigInt64LE(value)
      return scratch
    }
    case 'double': {
      const value = Number(buf.toString('latin1', start, end))
      page.lowDouble.value = Math.min(page.lowDouble.value, value)
      page.highDouble.value = Math.max(page.highDouble.value, value)
      scratch.writeDoubleLE(value)
      return scratch
    }
    case 'day':
    case 'time': {
      const { days, micros, facts } = readMoment(buf.toString('latin1', start + 1, end - 1))
      page.facts.value |= facts
      if (encoding === 'time') {
        addBounds(micros)
        scratch.writeBigInt64LE(micros)
        return scratch
      }
      addBounds(BigInt(days))
      scratch.writeInt32LE(days)
      return scratch.subarray(0, 4)
    }
    case 'boolean':
      return buf[start] === 0x74 ? TRUE : FALSE
    case 'json':
      return withLength(buf.subarray(start, end))
    case 'text':
      return withLength(decodeText(buf, start, end))
  }
}

const [TRUE, FALSE] = [Buffer.from([1]), Buffer.from([0])]
const QUOTE = 0x22

/** Returns a value as UTF-8: a string without quotes, others as JSON on one line. */
function decodeText(buf: Buffer, start: number, end: number): Buffer {
  const json = buf.toString('utf8', start, end)
  return Buffer.from(buf[start] === QUOTE ? JSON.parse(json) : json.replace(/[\r\n]\s*/g, ''))
}

function withLength(value: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(value.length)
  return Buffer.concat([length, value])
}

const WHOLE_NUMBER = /^(-?\d+)(\.0+)?$/
const MAX_VAST = 2n ** 127n

/** Reads a number as an integer, and facts about it. */
function readInteger(text: string): { value: bigint; facts: number } {
  const match = WHOLE_NUMBER.exec(text)
  if (!match) {
    const value = /e/i.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(value)) return { value: BigInt(value), facts: FACTS.fraction | FACTS.whole }
    return { value: 0n, facts: FACTS.fraction | FACTS.part }
  }
  const [, digits, zeros] = match
  const written = zeros === undefined ? 0 : FACTS.fraction
  if (/^-0+$/.test(digits)) return { value: 0n, facts: written | FACTS.negativeZero }
  const value = BigInt(digits)
  if (BigInt.asIntN(64, value) === value) return { value, facts: written | FACTS.whole }
  const isVast = value >= MAX_VAST || value < -MAX_VAST
  return { value: 0n, facts: written | FACTS.wide | (isVast ? FACTS.vast : 0) }
}

const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)(?:([T ])([01]\d|2[0-3]):([0-5]\d)(:[0-5]\d)?(?:(?<=:\d\d:\d\d)\.(\d+))?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/
const MINUTE_MICROS = 60_000_000n
const DAY_MS = 86_400_000
const NO_MOMENT = { days: 0, micros: 0n, facts: FACTS.unreadable }

/** Reads a day or time as days and microseconds since 1970, and facts about it. */
function readMoment(text: string): { days: number; micros: bigint; facts: number } {
  const match = MOMENT.exec(text)
  if (!match) return NO_MOMENT
  const [, year, month, day, separator, hour, minute, second, fraction, zone] = match
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)))
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return NO_MOMENT
  const days = date.getTime() / DAY_MS
  const midnight = BigInt(date.getTime()) * 1000n
  if (separator === undefined) return { days, micros: midnight, facts: FACTS.day }
  let facts: number = separator === 'T' ? FACTS.letter : FACTS.space
  if (second === undefined) facts |= FACTS.noSeconds
  if (fraction !== undefined && fraction.length > 6) facts |= FACTS.nanoseconds
  if (fraction?.endsWith('0')) facts |= FACTS.padded
  facts |= zone === undefined ? FACTS.local : zone === 'Z' ? FACTS.utc : FACTS.offset
  const minutes = BigInt(hour) * 60n + BigInt(minute) - offsetOf(zone)
  const seconds = BigInt(second?.slice(1) ?? 0)
  const micros = BigInt((fraction ?? '').slice(0, 6).padEnd(6, '0'))
  return { days, micros: midnight + minutes * MINUTE_MICROS + seconds * 1_000_000n + micros, facts }
}

/** Returns the offset of a zone from UTC, in minutes. */
function offsetOf(zone = 'Z'): bigint {
  if (zone === 'Z') return 0n
  const minutes = BigInt(zone.slice(1, 3)) * 60n + BigInt(zone.slice(3).replace(':', '') || 0)
  return zone.startsWith('-') ? -minutes : minutes
}
