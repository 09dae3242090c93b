// Decodes columns to the scalars that query expressions compare.
import { randomInt } from 'node:crypto'
import {
  findValueEnd,
  hasEscapes,
  jsonKindOf,
  nextValue,
  parseInstantBytes,
  parseShortNumber,
  skipWhitespace,
} from '../../../json/index.ts'
import { COMPOUND, parseNumberLiteral, type Scalar } from '../../../query/index.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import { ValueKernel } from './kernel/values.ts'
import { largestChunkBytes, type Snapshot, type SnapshotColumn, streamColumn } from './snapshot.ts'

const COMMA = 0x2c
const QUOTE = 0x22
const MINUS = 0x2d
const ZERO = 0x30

/**
 * Consecutive scalars of a column. Numbers, and dates as ms since 1970, are doubles if all of them can be
 * represented exactly; a missing one is NaN.
 */
export type ScalarBatch = Float64Array | readonly Scalar[]

/** Streams the scalars of a column in batches, each valid until the next one. */
export async function* streamScalars(snap: Snapshot, column: SnapshotColumn): AsyncGenerator<ScalarBatch> {
  const isTimes = isDateType(column.type)
  const texts = new TextCache()
  const isDoubles = column.type === 'number' || isTimes
  const kernel = ValueKernel.acquire(column.rows, largestChunkBytes(column))
  const decoder =
    kernel && new ScalarDecoder(kernel, (buf, start, end) => decodeScalar(buf, start, end, texts, isTimes))
  try {
    for await (const piece of streamColumn(snap, column)) {
      if (piece.length === 1 && piece[0] === COMMA) continue
      const buf = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
      const doubles = isDoubles ? decodeDoubles(buf, kernel) : undefined
      yield doubles ?? decoder?.decode(buf) ?? decodeScalars(buf, texts, isTimes)
    }
  } finally {
    kernel?.release()
  }
}

/** Cursor over the values of a column. After its last value, it returns nulls. */
export class ScalarCursor {
  private chunk: ScalarBatch = []
  private at = 0
  private isOver = false

  private readonly chunks: AsyncGenerator<ScalarBatch>

  constructor(snap: Snapshot, column: SnapshotColumn) {
    this.chunks = streamScalars(snap, column)
  }

  /** Number of values that can be read before `fill` must be called. */
  get left(): number {
    return this.isOver ? Number.POSITIVE_INFINITY : this.chunk.length - this.at
  }

  async fill(): Promise<void> {
    while (this.left === 0) {
      const { value, done } = await this.chunks.next()
      this.at = 0
      this.chunk = done ? [] : value
      this.isOver = done === true
    }
  }

  next(): Scalar {
    const value = this.chunk[this.at++]
    return value === undefined || Number.isNaN(value) ? null : value
  }

  async close(): Promise<void> {
    await this.chunks.return(undefined)
  }
}

/** Decodes chunks of a column with a kernel. */
class ScalarDecoder {
  /** Decoded values by number: null, known texts, and further values of the current chunk. */
  private values: Scalar[] = [null]
  private known: number[] = []

  constructor(
    private readonly kernel: ValueKernel,
    private readonly decodeOne: (buf: Buffer, start: number, end: number) => Scalar,
  ) {}

  decode(text: Buffer): Scalar[] {
    const { values, known } = this
    const add = (buf: Buffer, start: number, end: number): number =>
      values.push(this.decodeOne(buf, start, end)) - 1
    const scalars: Scalar[] = []
    for (const numbers of this.kernel.numberValues(text, known, add, 0))
      for (let k = 0; k < numbers.length; k++) scalars.push(values[numbers[k]])
    if (values.length > known.length + 1) {
      this.values = [null, ...known.map((number) => values[number])]
      this.known = known.map((_, k) => k + 1)
    }
    return scalars
  }
}

/**
 * Decodes a column of numbers or dates to doubles: dates in ms since 1970, NaN for null. With a kernel, they are valid
 * until its next use. Returns undefined if a value is not a double, such as an integer of 20 digits.
 */
export function decodeDoubles(buf: Buffer, kernel: ValueKernel | undefined): Float64Array | undefined {
  if (kernel) return kernel.decodeDoubles(buf, (from) => decodeDouble(buf, from))
  // Each value but the last takes two bytes at least.
  const doubles = new Float64Array((buf.length >> 1) + 1)
  let count = 0
  for (let i = 0; i < buf.length; ) {
    const double = decodeDouble(buf, i)
    if (!double) return undefined
    doubles[count++] = double.value
    i = double.end
  }
  return doubles.subarray(0, count)
}

/** Decodes the next value. `end`: offset of the value after it. Returns undefined if it is not a double. */
function decodeDouble(buf: Buffer, from: number): { value: number; end: number } | undefined {
  let i = from
  while (buf[i] <= 0x20) i++
  const start = i
  const first = buf[i]
  let value = Number.NaN
  if (first === QUOTE) {
    // A time has no escapes.
    for (i++; buf[i] !== QUOTE; i++);
    value = parseInstantBytes(buf, start + 1, i++)
  } else if (first === MINUS || (first >= ZERO && first <= 0x39)) {
    while (i < buf.length && buf[i] !== COMMA && buf[i] > 0x20) i++
    value = parseShortNumber(buf, start, i)
    if (Number.isNaN(value)) {
      const exact = parseNumberLiteral(buf.toString('latin1', start, i))
      if (typeof exact === 'bigint') return undefined
      value = exact
    }
  } else if (first === 0x6e) i += 4
  else return undefined
  while (i < buf.length && buf[i] !== COMMA) i++
  return { value, end: i + 1 }
}

/** Decodes a column JSON to scalars. */
function decodeScalars(buf: Buffer, texts: TextCache, isTimes: boolean): Scalar[] {
  const scalars: Scalar[] = []
  for (let i = skipWhitespace(buf, 0); i < buf.length; ) {
    const end = findValueEnd(buf, i)
    scalars.push(decodeScalar(buf, i, end, texts, isTimes))
    i = nextValue(buf, end)
  }
  return scalars
}

/** Decodes the JSON value buf[start, end). */
function decodeScalar(buf: Buffer, start: number, end: number, texts: TextCache, isTimes: boolean): Scalar {
  switch (jsonKindOf(buf[start])) {
    case 'null':
      return null
    case 'boolean':
      return buf[start] === 0x74
    case 'number': {
      const value = parseShortNumber(buf, start, end)
      return Number.isNaN(value) ? parseNumberLiteral(buf.toString('latin1', start, end)) : value
    }
    case 'string':
      return isTimes ? parseInstantBytes(buf, start + 1, end - 1) : texts.valueOf(buf, start, end)
    default:
      return COMPOUND
  }
}

/** Size of the hash table of texts, a power of two. Once it is half full, new texts are not cached. */
const TEXT_SLOTS = 8192
/**
 * Maximum number of probes per text. Together with the random multiplier, it bounds the cost of hostile
 * texts.
 */
const MAX_PROBES = 8
const MULTIPLIER = randomInt(2 ** 31) * 2 + 1
/** Maximum size of a cached text, in bytes. */
const MAX_CACHED_BYTES = 64

/** Decodes texts, and caches the first distinct ones, since categories and days repeat. */
class TextCache {
  private readonly slots = new Array<{ bytes: Buffer; value: string } | undefined>(TEXT_SLOTS)
  private count = 0

  /** Returns the value of the JSON string buf[start, end). */
  valueOf(buf: Buffer, start: number, end: number): string {
    if (end - start > MAX_CACHED_BYTES) return this.decode(buf, start, end)
    let hash = end - start
    for (let k = start; k < end; k++) hash = Math.imul(hash ^ buf[k], MULTIPLIER)
    let place = (hash ^ (hash >>> 15)) & (TEXT_SLOTS - 1)
    let tries = 0
    for (let entry = this.slots[place]; entry && tries < MAX_PROBES; entry = this.slots[place], tries++) {
      if (isSameBytes(entry.bytes, buf, start, end)) return entry.value
      place = (place + 1) & (TEXT_SLOTS - 1)
    }
    const value = this.decode(buf, start, end)
    if (this.count < TEXT_SLOTS / 2 && !this.slots[place]) {
      this.count++
      this.slots[place] = { bytes: Buffer.from(buf.subarray(start, end)), value }
    }
    return value
  }

  private decode(buf: Buffer, start: number, end: number): string {
    return hasEscapes(buf, start, end)
      ? JSON.parse(buf.toString('utf8', start, end))
      : buf.toString('utf8', start + 1, end - 1)
  }
}

function isSameBytes(bytes: Buffer, buf: Buffer, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false
  for (let k = 0; k < bytes.length; k++) if (bytes[k] !== buf[start + k]) return false
  return true
}
