import { randomBytes } from 'node:crypto'
import { WasmModule } from '../../../../contract/wasm.ts'
import { endOf, nextValue, skipBlanks } from '../../../../json/index.ts'
import { ValueKernel } from './index.ts'

/** Exports of cells.as.ts. */
interface Exports {
  begin(low: number, high: number): void
  hashes(at: number, to: number, most: number): number
  find(at: number, row: number, count: number): void
  match(at: number, to: number, row: number, most: number): number
  ascends(at: number, to: number): number
  stop: { value: number }
  odd: { value: number }
  missing: { value: number }
}

/** The places in memory that cells.as.ts names. */
const MAX_VALUES = 65_536
const HASHES = 1024
const LIST = HASHES + MAX_VALUES * 8
const STARTS = LIST + MAX_VALUES * 4
const ENDS = STARTS + MAX_VALUES * 4
const TEXT = ENDS + MAX_VALUES * 4

/** Commas after each text: what is read 16 bytes at a time, and the end of the last value. */
const PADDING = Buffer.alloc(48, ',')
/** Memory that is kept for the next reader, and the most that one has. Longer texts are read without. */
const KEPT_BYTES = 16 * 1024 * 1024
const MAX_BYTES = 64 * 1024 * 1024
/** Bytes of values that are written in another way before they are hashed. */
const PIECE_BYTES = 1024 * 1024

const module = new WasmModule<Exports>('cells.wasm')
const seed = randomBytes(8)
let kept: { exports: Exports; memory: ArrayBuffer } | undefined

/** A hash of 64 bits for each of some rows. */
export class RowHashes {
  readonly low: Int32Array
  readonly high: Int32Array

  constructor(rows: number) {
    this.low = new Int32Array(rows)
    this.high = new Int32Array(rows)
  }

  isSame(row: number, other: RowHashes, otherRow: number): boolean {
    return this.low[row] === other.low[otherRow] && this.high[row] === other.high[otherRow]
  }

  /** Makes a hash that of the values so far and one more, for as many rows as `more` has. */
  add(from: number, more: RowHashes, count: number): void {
    const { low, high } = this
    for (let k = 0; k < count; k++) {
      const row = from + k
      let l = Math.imul(low[row] ^ more.low[k], 0x85ebca6b)
      let h = Math.imul(high[row] ^ more.high[k], 0xc2b2ae35)
      l ^= (l >>> 13) ^ h
      h ^= (h >>> 16) ^ Math.imul(l, 0x27d4eb2f)
      low[row] = l
      high[row] = h
    }
  }
}

/** Where the value of a row is. */
export interface Cell {
  buf: Buffer
  start: number
  end: number
}

/**
 * Hashes the values of columns and finds those of some rows. Values that are equal have the same hash, however they are
 * written: `1.50` and `1.5`. Hashes of two readers cannot be compared: one may have no kernel.
 */
export class CellReader {
  private readonly bytes: Buffer | undefined
  private readonly words: Int32Array | undefined
  /** The hashes of the last text. */
  private found = new RowHashes(MAX_VALUES)

  private constructor(private readonly kernel: { exports: Exports; memory: ArrayBuffer } | undefined) {
    if (!kernel) return
    this.bytes = Buffer.from(kernel.memory)
    this.words = new Int32Array(kernel.memory)
    kernel.exports.begin(seed.readInt32LE(0), seed.readInt32LE(4))
  }

  /** `most`: bytes of the longest text. Call `release` when all is read. */
  static open(most: number): CellReader {
    const bytes = TEXT + most + PIECE_BYTES * 2 + PADDING.length
    if (ValueKernel.use === 'never' || bytes > MAX_BYTES) return new CellReader(undefined)
    if (kept && kept.memory.byteLength >= bytes) {
      const reader = new CellReader(kept)
      kept = undefined
      return reader
    }
    return new CellReader(module.createInstance(bytes))
  }

  release(): void {
    if (this.kernel && this.kernel.memory.byteLength <= KEPT_BYTES) kept = this.kernel
  }

  /**
   * Adds the values of a text to the hashes of rows, from row `at` on. `asText`: 5 and "5" are the same. Returns the first
   * row whose value is null.
   */
  hash(text: Buffer, into: RowHashes, at: number, asText: boolean): number | undefined {
    const plain = asText ? undefined : this.hashes(text)
    if (plain) {
      into.add(at, this.found, plain.count)
      return plain.missing < 0 ? undefined : at + plain.missing
    }
    let first: number | undefined
    let row = at
    for (const piece of canonical(text, asText)) {
      const { count, missing } = this.kernel ? this.hashes(piece, true)! : this.hashesSlowly(piece)
      into.add(row, this.found, count)
      if (missing >= 0) first ??= row + missing
      row += count
    }
    return first
  }

  /** Hashes a text; undefined if it has to be written in another way first. */
  private hashes(text: Buffer, isCanonical = false): { count: number; missing: number } | undefined {
    if (!this.kernel) return undefined
    const { exports } = this.kernel
    const end = this.put(text)
    let missing = -1
    let count = 0
    for (let from = TEXT; from < end; from = exports.stop.value) {
      const more = exports.hashes(from, end, MAX_VALUES)
      if (exports.odd.value === 1 && !isCanonical) return undefined
      if (missing < 0 && exports.missing.value >= 0) missing = count + exports.missing.value
      this.take(count, more)
      count += more
    }
    return { count, missing }
  }

  private take(at: number, count: number): void {
    this.grow(at + count)
    const { words, found } = this
    const first = HASHES >> 2
    for (let k = 0; k < count; k++) {
      found.low[at + k] = words![first + 2 * k]
      found.high[at + k] = words![first + 2 * k + 1]
    }
  }

  private grow(rows: number): void {
    if (rows <= this.found.low.length) return
    const grown = new RowHashes(rows * 2)
    grown.low.set(this.found.low)
    grown.high.set(this.found.high)
    this.found = grown
  }

  private hashesSlowly(text: Buffer): { count: number; missing: number } {
    let [missing, count] = [-1, 0]
    for (let i = skipBlanks(text, 0); i < text.length; ) {
      const end = endOf(text, i)
      let [low, high] = [seed.readInt32LE(0), seed.readInt32LE(4)]
      for (let k = i; k < end; k++) {
        low = Math.imul(low ^ text[k], 0x9e3779b1)
        low ^= low >>> 15
        high = Math.imul(high ^ text[k], 0x85ebca77) ^ (low >>> 13)
      }
      if (missing < 0 && text[i] === 0x6e) missing = count
      this.grow(count + 1)
      this.found.low[count] = low
      this.found.high[count++] = high
      i = nextValue(text, end)
    }
    return { count, missing }
  }

  private put(text: Buffer): number {
    text.copy(this.bytes!, TEXT)
    PADDING.copy(this.bytes!, TEXT + text.length)
    return TEXT + text.length
  }

  /**
   * The rows of a text, from 0, whose values an automaton over ASCII does not accept: for each state the next ones for 128
   * bytes, and whether a text may end there. undefined if there are more than `most`, or without a kernel.
   */
  unaccepted(
    text: Buffer,
    { next, accepts }: { next: Uint8Array; accepts: Uint8Array },
    most: number,
  ): number[] | undefined {
    if (!this.kernel || TEXT + text.length + PADDING.length > this.bytes!.length) return undefined
    const { exports } = this.kernel
    const end = this.put(text)
    this.bytes!.set(next, STARTS)
    this.bytes!.set(accepts, ENDS)
    const count = exports.match(TEXT, end, 0, Math.min(most + 1, MAX_VALUES))
    if (count > most) return undefined
    const first = LIST >> 2
    return Array.from(this.words!.subarray(first, first + count))
  }

  /** Whether all values of a text are integers, each greater than the one before. false also where it is not known. */
  ascends(text: Buffer): boolean {
    if (!this.kernel || TEXT + text.length + PADDING.length > this.bytes!.length) return false
    return this.kernel.exports.ascends(TEXT, this.put(text)) === 1
  }

  /** The values of rows of a text, by ascending numbers from 0, until the next call. */
  find(text: Buffer, rows: ArrayLike<number>): Cell[] {
    const cells: Cell[] = []
    if (!this.kernel || TEXT + text.length + PADDING.length > this.bytes!.length) {
      let row = 0
      let at = skipBlanks(text, 0)
      for (let k = 0; k < rows.length; k++) {
        for (; row < rows[k]; row++) at = nextValue(text, endOf(text, at))
        cells.push({ buf: text, start: at, end: endOf(text, at) })
      }
      return cells
    }
    this.put(text)
    const { exports } = this.kernel
    for (let from = 0, at = TEXT, row = 0; from < rows.length; from += MAX_VALUES) {
      const count = Math.min(MAX_VALUES, rows.length - from)
      for (let k = 0; k < count; k++) this.words![(LIST >> 2) + k] = rows[from + k]
      exports.find(at, row, count)
      for (let k = 0; k < count; k++) {
        const start = this.words![(STARTS >> 2) + k] - TEXT
        cells.push({ buf: text, start, end: this.words![(ENDS >> 2) + k] - TEXT })
      }
      // The last one was found, not passed.
      row = rows[from + count - 1]
      at = TEXT + cells[cells.length - 1].start
    }
    return cells
  }
}

/** The values of a text, each in the one way that all that are equal to it are written in; a piece at a time. */
function* canonical(text: Buffer, asText: boolean): Generator<Buffer> {
  let parts: string[] = []
  let size = 0
  for (let i = skipBlanks(text, 0); i < text.length; ) {
    const end = endOf(text, i)
    const value = canonicalValue(text.toString('utf8', i, end), asText)
    parts.push(value)
    size += value.length * 3
    if (size >= PIECE_BYTES) {
      yield Buffer.from(parts.join(','))
      parts = []
      size = 0
    }
    i = nextValue(text, end)
  }
  if (parts.length > 0) yield Buffer.from(parts.join(','))
}

/** A JSON value in the one way that all that are equal to it are written in. `asText`: 5 and "5" are the same. */
export function canonicalValue(json: string, asText: boolean): string {
  const first = json[0]
  if (first === '"') {
    const plain = json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json
    if (!asText) return plain
    const inner = plain.slice(1, -1)
    return NUMBER.test(inner) ? `"${canonicalNumber(inner)}"` : plain
  }
  const isNumber = first === '-' || (first >= '0' && first <= '9')
  const value = isNumber ? canonicalNumber(json) : json
  return asText && (isNumber || first === 't' || first === 'f') ? `"${value}"` : value
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i

/** Digits that an exponent is written out to. */
const MAX_DIGITS = 400

/** `1.50` → `1.5`, `1e3` → `1000`, `-0` → `0`. All digits stay. */
export function canonicalNumber(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(
    text,
  ) ?? [undefined, '', text]
  const shift = Number(exponent)
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '')
  if (/^0*$/.test(digits)) return '0'
  // The point is behind this many digits.
  const point = digits.length - fraction.length + shift
  if (Math.abs(point) > MAX_DIGITS) {
    const short = digits.replace(/0+$/, '')
    return `${sign}${short}e${point - short.length}`
  }
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = point <= 0 ? 1 : point
  const rest = padded.slice(at).replace(/0+$/, '')
  return `${sign}${padded.slice(0, at)}${rest && `.${rest}`}`
}
