// Hashes and finds the values of columns, with the WebAssembly of cells.as.ts if possible.
import { randomBytes } from 'node:crypto'
import { WasmModule } from '../../../../contract/wasm.ts'
import { findValueEnd, nextValue, skipWhitespace } from '../../../../json/index.ts'
import type { Comparison } from '../../../store/schema/column-types.ts'
import { identifyBy } from '../identify.ts'
import { KernelPool } from './pool.ts'

/** Exports of cells.as.ts. */
interface Exports {
  begin(low: number, high: number): void
  hashes(at: number, to: number, most: number, areMoments: boolean): number
  find(at: number, row: number, count: number): void
  match(at: number, to: number, row: number, most: number): number
  ascends(at: number, to: number): number
  stop: { value: number }
  odd: { value: number }
  missing: { value: number }
}

/** Addresses and sizes in memory, as in cells.as.ts. */
const MAX_VALUES = 65_536
const HASHES = 1024
const LIST = HASHES + MAX_VALUES * 8
const STARTS = LIST + MAX_VALUES * 4
const ENDS = STARTS + MAX_VALUES * 4
const TEXT = ENDS + MAX_VALUES * 4

/** Commas after each text: they end the last value, and allow reads of 16 bytes. */
const PADDING = Buffer.alloc(48, ',')
/** Maximum memory that is reused for the next reader, and of any reader. Longer texts use no kernel. */
const MAX_REUSED_BYTES = 16 * 1024 * 1024
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** Size of a chunk of canonical values before it is hashed, in bytes. */
const CHUNK_BYTES = 1024 * 1024

const wasm = new WasmModule<Exports>('cells.wasm')
/** Random per process, so that nobody can construct values with equal hashes. */
const seed = randomBytes(8)
let reusable: { exports: Exports; memory: ArrayBuffer } | undefined

/** 64-bit hashes of rows, by row. */
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

  /** Returns the hashes of chosen rows. */
  pick(rows: readonly number[]): RowHashes {
    const picked = new RowHashes(rows.length)
    for (const [k, row] of rows.entries()) {
      picked.low[k] = this.low[row]
      picked.high[k] = this.high[row]
    }
    return picked
  }

  /** Combines the hashes of `count` rows from `from` on with those of one more column. */
  combine(from: number, more: RowHashes, count: number): void {
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

/** JSON of a value: buf[start, end). */
export interface Cell {
  buf: Buffer
  start: number
  end: number
}

/**
 * Hashes the values of columns, and finds the values of rows. Equal values have equal hashes, however they
 * are written: `1.50` and `1.5`. Hashes of different readers must not be compared, since one may have no
 * kernel.
 */
export class CellReader {
  private readonly bytes: Buffer | undefined
  private readonly words: Int32Array | undefined
  /** Hashes of the last text. */
  private found = new RowHashes(MAX_VALUES)

  private constructor(private readonly kernel: { exports: Exports; memory: ArrayBuffer } | undefined) {
    if (!kernel) return
    this.bytes = Buffer.from(kernel.memory)
    this.words = new Int32Array(kernel.memory)
    kernel.exports.begin(seed.readInt32LE(0), seed.readInt32LE(4))
  }

  /** Creates a reader for texts of up to `maxBytes`. Call `release` when all is read. */
  static open(maxBytes: number): CellReader {
    const bytes = TEXT + maxBytes + CHUNK_BYTES * 2 + PADDING.length
    if (KernelPool.use === 'never' || bytes > MAX_MEMORY_BYTES) return new CellReader(undefined)
    if (reusable && reusable.memory.byteLength >= bytes) {
      const reader = new CellReader(reusable)
      reusable = undefined
      return reader
    }
    return new CellReader(wasm.createInstance(bytes))
  }

  release(): void {
    if (this.kernel && this.kernel.memory.byteLength <= MAX_REUSED_BYTES) reusable = this.kernel
  }

  /**
   * Adds the values of a column JSON to the hashes `target`, from row `at` on. Returns the first row with a null; undefined
   * without nulls.
   */
  addHashes(text: Buffer, target: RowHashes, at: number, comparison: Comparison): number | undefined {
    const plain = comparison === 'text' ? undefined : this.hashInKernel(text, comparison)
    if (plain) {
      target.combine(at, this.found, plain.count)
      return plain.missing < 0 ? undefined : at + plain.missing
    }
    let firstNull: number | undefined
    let row = at
    // The kernel reads times itself.
    const form = this.kernel && comparison === 'moment' ? 'value' : comparison
    for (const piece of canonicalChunks(text, form)) {
      const { count, missing } = this.kernel
        ? this.hashInKernel(piece, comparison, true)!
        : this.hashInTypeScript(piece)
      target.combine(row, this.found, count)
      if (missing >= 0) firstNull ??= row + missing
      row += count
    }
    return firstNull
  }

  /**
   * Hashes a text with the kernel, into `found`. Undefined without a kernel, or if a value must be made canonical first.
   */
  private hashInKernel(
    text: Buffer,
    comparison: Comparison,
    isCanonical = false,
  ): { count: number; missing: number } | undefined {
    if (!this.kernel) return undefined
    const { exports } = this.kernel
    const end = this.putText(text)
    let missing = -1
    let count = 0
    for (let from = TEXT; from < end; from = exports.stop.value) {
      const more = exports.hashes(from, end, MAX_VALUES, comparison === 'moment')
      if (exports.odd.value === 1 && !isCanonical) return undefined
      if (missing < 0 && exports.missing.value >= 0) missing = count + exports.missing.value
      this.copyHashes(count, more)
      count += more
    }
    return { count, missing }
  }

  /** Copies hashes from the kernel to `found`. */
  private copyHashes(at: number, count: number): void {
    this.grow(at + count)
    const { words, found } = this
    const base = HASHES >> 2
    for (let k = 0; k < count; k++) {
      found.low[at + k] = words![base + 2 * k]
      found.high[at + k] = words![base + 2 * k + 1]
    }
  }

  private grow(rows: number): void {
    if (rows <= this.found.low.length) return
    const grown = new RowHashes(rows * 2)
    grown.low.set(this.found.low)
    grown.high.set(this.found.high)
    this.found = grown
  }

  /** Hashes a canonical text without a kernel, into `found`. */
  private hashInTypeScript(text: Buffer): { count: number; missing: number } {
    let [missing, count] = [-1, 0]
    for (let i = skipWhitespace(text, 0); i < text.length; ) {
      const end = findValueEnd(text, i)
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

  /** Copies a text to the memory of the kernel. Returns its end. */
  private putText(text: Buffer): number {
    text.copy(this.bytes!, TEXT)
    PADDING.copy(this.bytes!, TEXT + text.length)
    return TEXT + text.length
  }

  /**
   * Returns the rows, from 0, whose values an automaton (checks/automaton.ts) does not accept. Undefined if
   * there are more than `maxRows`, or without a kernel.
   */
  findRejected(
    text: Buffer,
    { next, accepts }: { next: Uint8Array; accepts: Uint8Array },
    maxRows: number,
  ): number[] | undefined {
    if (!this.kernel || TEXT + text.length + PADDING.length > this.bytes!.length) return undefined
    const { exports } = this.kernel
    const end = this.putText(text)
    this.bytes!.set(next, STARTS)
    this.bytes!.set(accepts, ENDS)
    const count = exports.match(TEXT, end, 0, Math.min(maxRows + 1, MAX_VALUES))
    if (count > maxRows) return undefined
    const base = LIST >> 2
    return Array.from(this.words!.subarray(base, base + count))
  }

  /** Returns whether all values are integers in strictly ascending order; false without a kernel. */
  isAscending(text: Buffer): boolean {
    if (!this.kernel || TEXT + text.length + PADDING.length > this.bytes!.length) return false
    return this.kernel.exports.ascends(TEXT, this.putText(text)) === 1
  }

  /** Finds the values of ascending rows, from 0, of a column JSON. */
  findCells(text: Buffer, rows: ArrayLike<number>): Cell[] {
    const cells: Cell[] = []
    if (!this.kernel || TEXT + text.length + PADDING.length > this.bytes!.length) {
      let row = 0
      let at = skipWhitespace(text, 0)
      for (let k = 0; k < rows.length; k++) {
        for (; row < rows[k]; row++) at = nextValue(text, findValueEnd(text, at))
        cells.push({ buf: text, start: at, end: findValueEnd(text, at) })
      }
      return cells
    }
    this.putText(text)
    const { exports } = this.kernel
    for (let from = 0, at = TEXT, row = 0; from < rows.length; from += MAX_VALUES) {
      const count = Math.min(MAX_VALUES, rows.length - from)
      for (let k = 0; k < count; k++) this.words![(LIST >> 2) + k] = rows[from + k]
      exports.find(at, row, count)
      for (let k = 0; k < count; k++) {
        const start = this.words![(STARTS >> 2) + k] - TEXT
        cells.push({ buf: text, start, end: this.words![(ENDS >> 2) + k] - TEXT })
      }
      // Continue at the last found value.
      row = rows[from + count - 1]
      at = TEXT + cells[cells.length - 1].start
    }
    return cells
  }
}

/** Yields the values of a column JSON in canonical form, in chunks. */
function* canonicalChunks(text: Buffer, comparison: Comparison): Generator<Buffer> {
  const identify = identifyBy[comparison]
  let values: string[] = []
  let size = 0
  for (let i = skipWhitespace(text, 0); i < text.length; ) {
    const end = findValueEnd(text, i)
    const value = identify(text.toString('utf8', i, end))
    values.push(value)
    size += value.length * 3
    if (size >= CHUNK_BYTES) {
      yield Buffer.from(values.join(','))
      values = []
      size = 0
    }
    i = nextValue(text, end)
  }
  if (values.length > 0) yield Buffer.from(values.join(','))
}
