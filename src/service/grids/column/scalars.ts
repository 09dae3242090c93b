import { randomInt } from 'node:crypto'
import { endOf, hasEscapes, instantIn, kindOf, nextValue, skipBlanks } from '../../../json/index.ts'
import { COMPOUND, numberOf, type Scalar } from '../../../query/index.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import { columnText, longestText, type Snapshot, type SnapshotColumn } from './content.ts'
import { ValueKernel } from './kernel/index.ts'

const COMMA = 0x2c
const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30

/**
 * The values of one piece of a column, as expressions compare them. Numbers, and dates as ms since 1970, are an array of
 * doubles as long as all of them fit; a missing one is NaN.
 */
export type Chunk = Float64Array | readonly Scalar[]

/** Streams the values of a column, piece by piece. */
export async function* scalarsOf(snap: Snapshot, column: SnapshotColumn): AsyncGenerator<Chunk> {
  const isTimes = isDateType(column.type)
  const texts = new Texts()
  const isDoubles = column.type === 'number' || isTimes
  const kernel = ValueKernel.forValues(column.rows, longestText(column))
  const known: Scalar[] = []
  const decode = (buf: Buffer, start: number, end: number): Scalar =>
    scalarOf(buf, start, end, texts, isTimes)
  try {
    for await (const piece of columnText(snap, column)) {
      if (piece.length === 1 && piece[0] === COMMA) continue
      const buf = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
      const doubles = isDoubles ? doublesIn(buf, kernel) : undefined
      yield doubles ?? kernel?.values(buf, known, decode, null) ?? valuesIn(buf, texts, isTimes)
    }
  } finally {
    kernel?.release()
  }
}

/** All values as doubles; undefined if one is something else, such as a whole number of 20 digits. */
function doublesIn(buf: Buffer, kernel: ValueKernel | undefined): Float64Array | undefined {
  if (kernel) return kernel.doubles(buf, (from) => doubleAt(buf, from))
  // Each value but the last takes two bytes at least.
  const found = new Float64Array((buf.length >> 1) + 1)
  let count = 0
  for (let i = 0; i < buf.length; ) {
    const one = doubleAt(buf, i)
    if (!one) return undefined
    found[count++] = one.value
    i = one.end
  }
  return found.subarray(0, count)
}

/** The value that begins behind blanks at `from`, and where the one after it begins; undefined if it is no double. */
function doubleAt(buf: Buffer, from: number): { value: number; end: number } | undefined {
  let i = from
  while (buf[i] <= 0x20) i++
  const start = i
  const first = buf[i]
  let value = Number.NaN
  if (first === QUOTE) {
    // A time has no escapes.
    for (i++; buf[i] !== QUOTE; i++);
    value = instantIn(buf, start + 1, i++)
  } else if (first === MINUS || (first >= ZERO && first <= 0x39)) {
    while (i < buf.length && buf[i] !== COMMA && buf[i] > 0x20) i++
    value = smallNumber(buf, start, i)
    if (Number.isNaN(value)) {
      const exact = numberOf(buf.toString('latin1', start, i))
      if (typeof exact === 'bigint') return undefined
      value = exact
    }
  } else if (first === 0x6e) i += 4
  else return undefined
  while (i < buf.length && buf[i] !== COMMA) i++
  return { value, end: i + 1 }
}

function valuesIn(buf: Buffer, texts: Texts, isTimes: boolean): Scalar[] {
  const found: Scalar[] = []
  for (let i = skipBlanks(buf, 0); i < buf.length; ) {
    const end = endOf(buf, i)
    found.push(scalarOf(buf, i, end, texts, isTimes))
    i = nextValue(buf, end)
  }
  return found
}

function scalarOf(buf: Buffer, start: number, end: number, texts: Texts, isTimes: boolean): Scalar {
  switch (kindOf(buf[start])) {
    case 'null':
      return null
    case 'boolean':
      return buf[start] === 0x74
    case 'number': {
      const value = smallNumber(buf, start, end)
      return Number.isNaN(value) ? numberOf(buf.toString('latin1', start, end)) : value
    }
    case 'string':
      return isTimes ? instantIn(buf, start + 1, end - 1) : texts.valueOf(buf, start, end)
    default:
      return COMPOUND
  }
}

const POWERS = Array.from({ length: 16 }, (_, k) => 10 ** k)
/** Digits of a number that a double holds exactly. */
const EXACT_DIGITS = 15

/** A number of few digits without an exponent; NaN for others. The quotient of two exact doubles is rounded correctly. */
function smallNumber(buf: Uint8Array, start: number, end: number): number {
  const isNegative = buf[start] === MINUS
  const from = isNegative ? start + 1 : start
  if (end - from > EXACT_DIGITS) return Number.NaN
  let digits = 0
  let scale = 0
  for (let k = from; k < end; k++) {
    const c = buf[k]
    if (c >= ZERO && c <= 0x39) digits = digits * 10 + (c - ZERO)
    else if (c === POINT) scale = end - k - 1
    else return Number.NaN
  }
  const value = scale === 0 ? digits : digits / POWERS[scale]
  return isNegative ? -value : value
}

/** Places for different texts, a power of two. Beyond half of it, texts are decoded each time. */
const PLACES = 8192
/** Places that are looked at: who chooses texts does not choose what they cost. */
const MAX_TRIES = 8
const MULTIPLIER = randomInt(2 ** 31) * 2 + 1
/** Bytes of texts that are kept. */
const MAX_KEPT_BYTES = 64

/** Decodes texts, and keeps the first different ones: categories and days come again and again. */
class Texts {
  private readonly places = new Array<{ bytes: Buffer; value: string } | undefined>(PLACES)
  private count = 0

  /** The value of the JSON string buf[start, end). */
  valueOf(buf: Buffer, start: number, end: number): string {
    if (end - start > MAX_KEPT_BYTES) return this.decode(buf, start, end)
    let hash = end - start
    for (let k = start; k < end; k++) hash = Math.imul(hash ^ buf[k], MULTIPLIER)
    let place = (hash ^ (hash >>> 15)) & (PLACES - 1)
    let tries = 0
    for (let kept = this.places[place]; kept && tries < MAX_TRIES; kept = this.places[place], tries++) {
      if (isSame(kept.bytes, buf, start, end)) return kept.value
      place = (place + 1) & (PLACES - 1)
    }
    const value = this.decode(buf, start, end)
    if (this.count < PLACES / 2 && !this.places[place]) {
      this.count++
      this.places[place] = { bytes: Buffer.from(buf.subarray(start, end)), value }
    }
    return value
  }

  private decode(buf: Buffer, start: number, end: number): string {
    return hasEscapes(buf, start, end)
      ? (JSON.parse(buf.toString('utf8', start, end)) as string)
      : buf.toString('utf8', start + 1, end - 1)
  }
}

function isSame(bytes: Buffer, buf: Buffer, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false
  for (let k = 0; k < bytes.length; k++) if (bytes[k] !== buf[start + k]) return false
  return true
}
