// Decodes columns with the WebAssembly of values.as.ts.
import { randomInt } from 'node:crypto'
import { WasmModule } from '../../../../contract/wasm.ts'
import { isWorthKernel, KernelPool, PADDING_BYTES, putText } from './pool.ts'

/** Exports of values.as.ts. */
interface Exports {
  doubles(from: number, to: number): number
  codes(from: number, to: number, multiplier: number, most: number): number
  forget(): void
  stop: { value: number }
  odd: { value: number }
  known: { value: number }
}

/** Addresses and sizes in memory, as in values.as.ts. */
const MAX_KNOWN = 4096
const KNOWN_BYTES = 64
const PLACES = 8192
const KNOWN = 4096
const LENGTHS = KNOWN + MAX_KNOWN * KNOWN_BYTES + 16
const TABLE = LENGTHS + MAX_KNOWN * 4
const MAX_VALUES = 16_384
const RESULTS = TABLE + PLACES * 4
const STARTS = RESULTS + MAX_VALUES * 8
const ENDS = STARTS + MAX_VALUES * 4
const TEXT = ENDS + MAX_VALUES * 4

/** Number of values that are numbered at once. */
const BATCH_VALUES = 4096

const wasm = new WasmModule<Exports>('values.wasm')
const pool = new KernelPool((bytes) => {
  const instance = wasm.createInstance(bytes)
  return instance && new ValueKernel(instance.exports, instance.memory)
})
/** Random odd multiplier of hashes, so that nobody can construct colliding texts. */
const multiplier = randomInt(2 ** 30) * 2 + 1

/** WebAssembly instance that decodes columns 16 bytes at a time. Its memory contains the text of a chunk. */
export class ValueKernel {
  /** The whole memory. */
  readonly bytes: Buffer
  private readonly words: Int32Array
  private readonly numbers: Float64Array
  /** Result of `decodeDoubles`, used again: each chunk of a column would otherwise leave garbage of its size. */
  private doubles = new Float64Array(0)

  constructor(
    private readonly exports: Exports,
    memory: ArrayBuffer,
  ) {
    this.bytes = Buffer.from(memory)
    this.words = new Int32Array(memory)
    this.numbers = new Float64Array(memory)
  }

  /** Acquires a kernel that decodes one column; undefined if none is suitable. Call `release` after use. */
  static acquire(rows: number, maxTextBytes: number): ValueKernel | undefined {
    const kernel = isWorthKernel(rows)
      ? pool.acquire(maxTextBytes, TEXT + maxTextBytes + PADDING_BYTES)
      : undefined
    kernel?.exports.forget()
    return kernel
  }

  release(): void {
    this.doubles = new Float64Array(0)
    pool.release(this)
  }

  /**
   * Decodes a column JSON to doubles, valid until the next call: numbers, and times in ms since 1970; NaN for null.
   * `decode` decodes a value that is not plain, at an offset; if it returns undefined, the result is undefined.
   */
  decodeDoubles(
    text: Buffer,
    decode: (start: number) => { value: number; end: number } | undefined,
  ): Float64Array | undefined {
    putText(this, TEXT, text)
    // Each value but the last takes two bytes at least, and mostly more.
    const most = (text.length >> 1) + 1
    const least = Math.min(most, MAX_VALUES)
    if (this.doubles.length < least) this.doubles = new Float64Array(least)
    const end = TEXT + text.length
    let count = 0
    let at = TEXT
    while (at < end) {
      const added = this.exports.doubles(at, end)
      if (count + added >= this.doubles.length && this.doubles.length < most) {
        const bytesPerValue = (this.exports.stop.value - TEXT) / (count + added)
        const larger = new Float64Array(Math.min(most, Math.ceil((1.1 * text.length) / bytesPerValue) + 1))
        larger.set(this.doubles.subarray(0, count))
        this.doubles = larger
      }
      this.doubles.set(this.numbers.subarray(RESULTS >> 3, (RESULTS >> 3) + added), count)
      count += added
      at = this.exports.stop.value
      if (this.exports.odd.value === 0) continue
      const value = decode(at - TEXT)
      if (!value) return undefined
      this.doubles[count++] = value.value
      at = TEXT + value.end
    }
    return this.doubles.subarray(0, count)
  }

  /**
   * Yields a number for each value of a column JSON, in batches that are valid until the next one. `add` gives
   * it to the JSON buf[start, end); `none` for null. Equal values mostly have the same number. `known`: numbers
   * of texts of this column, for which `add` is not called again; new ones are added.
   */
  *numberValues(
    text: Buffer,
    known: number[],
    add: (buf: Buffer, start: number, end: number) => number,
    none: number,
  ): Generator<Uint32Array> {
    putText(this, TEXT, text)
    const numbers = new Uint32Array(BATCH_VALUES)
    const end = TEXT + text.length
    for (let at = TEXT; at < end; ) {
      const count = this.exports.codes(at, end, multiplier, BATCH_VALUES)
      at = this.exports.stop.value
      for (let k = known.length; k < this.exports.known.value; k++) {
        const start = KNOWN + k * KNOWN_BYTES
        known.push(add(this.bytes, start, start + this.words[(LENGTHS >> 2) + k]))
      }
      this.setNumbers(numbers, count, known, add, none)
      yield numbers.subarray(0, count)
    }
  }

  /** Sets the numbers of the first `count` values of the last call of `codes`. */
  private setNumbers(
    numbers: Uint32Array,
    count: number,
    known: readonly number[],
    add: (buf: Buffer, start: number, end: number) => number,
    none: number,
  ): void {
    const { words } = this
    for (let k = 0; k < count; k++) {
      const code = words[(RESULTS >> 2) + k]
      if (code >= 0) numbers[k] = known[code]
      else if (code === -1) numbers[k] = none
      else numbers[k] = add(this.bytes, words[(STARTS >> 2) + k], words[(ENDS >> 2) + k])
    }
  }
}
