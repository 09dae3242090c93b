// Decodes and writes columns with the WebAssembly of values.as.ts.
import { randomInt } from 'node:crypto'
import { WasmModule } from '../../../../contract/wasm.ts'

/** Exports of values.as.ts. */
interface Exports {
  format(
    columnsAt: number,
    columns: number,
    bytes: number,
    cellSeparator: number,
    rowEnd: number,
    rowEndLength: number,
  ): void
  locate(from: number, count: number): number
  rows(from: number, count: number, first: number): number
  gather(count: number): number
  doubles(from: number, to: number): number
  codes(from: number, to: number, multiplier: number, most: number): number
  forget(): void
  stop: { value: number }
  odd: { value: number }
  out: { value: number }
  known: { value: number }
}

/** Addresses and sizes in memory, as in values.as.ts. */
const COLUMN_BYTES = 24
const MAX_CELLS = 8192
const ADDRESS = 0x0fffffff
const STRING = 0x10000000
const NULL = 0x20000000
const LIST = 2048
const MAX_ROWS = 4096
const OUT = LIST + MAX_ROWS * 4
const OUT_BYTES = 524_288
const TEXTS = OUT + OUT_BYTES + 64
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

/** Size of `null`, in bytes. */
const NULL_BYTES = 4
/** Commas after each text: they end the last value, and allow reads of 64 bytes. */
const PADDING = Buffer.alloc(80, ',')
/** Room of the output for each row, as a multiple of the average row: at least a few rows at a time. */
const ROWS_OF_OUTPUT = 4
/** Maximum size of a text that a kernel reads, and of its memory: slices of all columns of a wide grid. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** Maximum number of kernels in use, and their memory. */
const MAX_KERNELS = 16
const MAX_USED_BYTES = 512 * 1024 * 1024
/** Maximum number, and size, of idle kernels for later requests. */
const MAX_IDLE_KERNELS = 2
const MAX_IDLE_BYTES = 32 * 1024 * 1024
/** Minimum number of values of a column, and of cells of rows, for a kernel: its start takes longer than fewer take. */
const MIN_KERNEL_VALUES = 2000
const MIN_KERNEL_CELLS = 10_000

const wasm = new WasmModule<Exports>('values.wasm')
const idle: ValueKernel[] = []
let inUse = 0
let usedBytes = 0
/** Random odd multiplier of hashes, so that nobody can construct colliding texts. */
const multiplier = randomInt(2 ** 30) * 2 + 1

/** Returns whether so many values, or rows to reorder, are worth a kernel. */
export function isWorthKernel(count: number, minimum = MIN_KERNEL_VALUES): boolean {
  return ValueKernel.use === 'always' || (ValueKernel.use === 'large' && count >= minimum)
}

/** Output format of rows. */
export interface RowFormat {
  /** Text before each cell. */
  before: readonly Buffer[]
  /** Text after the last cell: one or two bytes. */
  after: Buffer
  /** Separator byte of CSV; undefined if cells are written as JSON. */
  separator: number | undefined
}

/** A chunk of a column. */
export interface KernelChunk {
  /** Column JSON. */
  text: Buffer
  /** Row of the first value. */
  row: number
  /** True if its values are numbers, booleans, dates or times: without commas, tabs and escapes. */
  isSimple: boolean
  /** True if all rows have the single value of `text`. */
  isConstant: boolean
}

/** WebAssembly instance that reads columns 16 bytes at a time. Its memory contains the chunks. */
export class ValueKernel {
  /** The whole memory. */
  readonly bytes: Buffer
  private readonly words: Int32Array
  private readonly numbers: Float64Array
  /** Result of `decodeDoubles`, used again: each chunk of a column would otherwise leave garbage of its size. */
  private doubles = new Float64Array(0)
  /** Addresses of the structs of all columns, and of the text of each. */
  private columnsAt = 0
  private textsAt: number[] = []
  /** Positions in the list of the rows whose cells are located. */
  private located = 0
  private locatedEnd = 0

  private constructor(
    private readonly exports: Exports,
    memory: ArrayBuffer,
  ) {
    this.bytes = Buffer.from(memory)
    this.words = new Int32Array(memory)
    this.numbers = new Float64Array(memory)
  }

  /** Which grids are read with a kernel. Tests set it to compare results. */
  static use: 'never' | 'large' | 'always' = 'large'

  /**
   * Acquires a kernel that writes rows; undefined if none is suitable. `textBytes`: maximum size of a text of each
   * column; `rowBytes`: average size of the JSON of a row. Call `release` after use.
   */
  static forRows(
    rows: number,
    textBytes: readonly number[],
    rowBytes: number,
    { before, after, separator = -1 }: RowFormat,
  ): ValueKernel | undefined {
    if (before.length === 0 || !isWorthKernel(rows * before.length, MIN_KERNEL_CELLS)) return undefined
    const prefixBytes = before.reduce((sum, { length }) => sum + length, 0)
    const outBytes = Math.max(OUT_BYTES, ROWS_OF_OUTPUT * Math.ceil(prefixBytes + 2 * rowBytes))
    const columnsAt = (OUT + outBytes + 64) & ~7
    let at = columnsAt + before.length * COLUMN_BYTES + 8 * Math.max(before.length, MAX_CELLS)
    const prefixesAt = at
    at += prefixBytes + 16
    const textsAt = textBytes.map((size) => {
      const start = at
      // A column that ends before others gets a null.
      at += Math.max(size, NULL_BYTES) + PADDING.length
      return start
    })
    const longest = textBytes.reduce((most, size) => Math.max(most, size), 0)
    const kernel = ValueKernel.acquire(longest, at)
    if (!kernel) return undefined
    kernel.columnsAt = columnsAt
    kernel.textsAt = textsAt
    const rowEnd = after[0] | ((after[1] ?? 0) << 8)
    kernel.exports.format(columnsAt, before.length, outBytes, separator, rowEnd, after.length)
    let prefixAt = prefixesAt
    for (const [k, text] of before.entries()) {
      text.copy(kernel.bytes, prefixAt)
      const place = kernel.placeOf(k)
      kernel.words[place + 4] = prefixAt
      kernel.words[place + 5] = text.length
      prefixAt += text.length
    }
    return kernel
  }

  /** Acquires a kernel that decodes one column; undefined if none is suitable. Call `release` after use. */
  static forValues(rows: number, maxTextBytes: number): ValueKernel | undefined {
    const kernel = isWorthKernel(rows)
      ? ValueKernel.acquire(maxTextBytes, TEXT + maxTextBytes + PADDING.length)
      : undefined
    kernel?.exports.forget()
    return kernel
  }

  /** `bytes`: of memory. */
  private static acquire(maxTextBytes: number, bytes: number): ValueKernel | undefined {
    if (inUse >= MAX_KERNELS || usedBytes + bytes > MAX_USED_BYTES) return undefined
    if (maxTextBytes > MAX_TEXT_BYTES || bytes > MAX_MEMORY_BYTES) return undefined
    const index = idle.findIndex((one) => one.bytes.length >= bytes)
    const [kernel = ValueKernel.create(bytes)] = index < 0 ? [] : idle.splice(index, 1)
    if (!kernel) return undefined
    inUse++
    usedBytes += kernel.bytes.length
    return kernel
  }

  private static create(bytes: number): ValueKernel | undefined {
    const instance = wasm.createInstance(bytes)
    return instance && new ValueKernel(instance.exports, instance.memory)
  }

  release(): void {
    inUse--
    usedBytes -= this.bytes.length
    this.doubles = new Float64Array(0)
    if (this.bytes.length > MAX_IDLE_BYTES) return
    idle.unshift(this)
    idle.length = Math.min(idle.length, MAX_IDLE_KERNELS)
  }

  /** Loads a chunk of a column into memory. */
  putChunk(column: number, { text, row, isSimple, isConstant }: KernelChunk): void {
    const at = this.textsAt[column]
    this.setText(at, text)
    const place = this.placeOf(column)
    this.words[place] = at
    this.words[place + 1] = row
    this.words[place + 2] = isSimple ? 1 : 0
    this.words[place + 3] = isConstant ? 1 : 0
  }

  /** Returns the index of the struct of a column in `words`. */
  private placeOf(column: number): number {
    return (this.columnsAt + column * COLUMN_BYTES) >> 2
  }

  private setText(at: number, text: Buffer): void {
    text.copy(this.bytes, at)
    PADDING.copy(this.bytes, at + text.length)
  }

  /** List of the rows to write. The chunks of all columns must contain them. */
  get rows(): Int32Array {
    return this.words.subarray(LIST >> 2, (LIST >> 2) + MAX_ROWS)
  }

  /**
   * Writes up to `count` rows of the list, from position `from` on. Returns how many; `written` is their text, and
   * their ends in it replace them in the list. If the next row is not plain, sets `isOdd`; `cell` then returns its
   * cells.
   */
  writeRows(from: number, count: number): number {
    if (from === 0) this.locatedEnd = 0
    if (from >= this.locatedEnd) {
      this.located = from
      this.locatedEnd = from + this.exports.locate(from, count)
    }
    return this.exports.rows(from, Math.min(count, this.locatedEnd - from), from - this.located)
  }

  get isOdd(): boolean {
    return this.exports.odd.value === 1
  }

  /** Text of the last rows, until the next call. */
  get written(): Buffer {
    return this.bytes.subarray(OUT, this.exports.out.value)
  }

  /** Returns a cell of the row that is not plain, in `bytes`. */
  cell(column: number): { buf: Buffer; start: number; end: number } {
    const place = (this.exports.stop.value >> 2) + 2 * column
    const [start, packed] = this.words.subarray(place, place + 2)
    const quote = packed & STRING ? 1 : 0
    const end = (packed & ADDRESS) + (packed & NULL ? NULL_BYTES : quote)
    return { buf: this.bytes, start: start - quote, end }
  }

  /**
   * Decodes a column JSON to doubles, valid until the next call: numbers, and times in ms since 1970; NaN for null.
   * `decode` decodes a value that is not plain, at an offset; if it returns undefined, the result is undefined.
   */
  decodeDoubles(
    text: Buffer,
    decode: (start: number) => { value: number; end: number } | undefined,
  ): Float64Array | undefined {
    this.setText(TEXT, text)
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
      if (!this.isOdd) continue
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
    this.setText(TEXT, text)
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

/** Maximum number of rows that are gathered at once. */
const MAX_GATHERED = MAX_ROWS / 2

/** Memory of a kernel for the texts of rows, which are then copied in another order. */
export class RowGatherer {
  /** Texts of the rows. */
  readonly texts: Buffer
  private readonly words: Int32Array

  private constructor(
    private readonly exports: Exports,
    private readonly memory: ArrayBuffer,
    bytes: number,
  ) {
    this.texts = Buffer.from(memory, TEXTS, bytes)
    this.words = new Int32Array(memory)
  }

  /** Creates memory for up to `bytes` of `rows` texts; undefined if a kernel is not suitable. */
  static create(rows: number, bytes: number): RowGatherer | undefined {
    const instance = isWorthKernel(rows) ? wasm.createInstance(TEXTS + bytes + PADDING.length) : undefined
    return instance && new RowGatherer(instance.exports, instance.memory, bytes)
  }

  /**
   * Yields the texts of rows in the order `places`: text k is [ends[k - 1], ends[k]) of `texts`. A piece is
   * valid until the next one.
   */
  *gather(places: Uint32Array, ends: Uint32Array): Generator<Buffer> {
    const { words } = this
    for (let k = 0; k < places.length; ) {
      const count = this.listTexts(places, ends, k)
      const copied = this.exports.gather(count)
      if (copied > 0) yield Buffer.from(this.memory, OUT, this.exports.out.value - OUT)
      // A row that is longer than the output.
      else yield this.texts.subarray(words[LIST >> 2] - TEXTS, words[(LIST >> 2) + 1] - TEXTS)
      k += Math.max(1, copied)
    }
  }

  /** Lists the starts and ends of the texts from place `from` on, as far as there is room. Returns their number. */
  private listTexts(places: Uint32Array, ends: Uint32Array, from: number): number {
    const { words } = this
    const count = Math.min(places.length - from, MAX_GATHERED)
    for (let n = 0, at = LIST >> 2; n < count; n++) {
      const place = places[from + n]
      words[at++] = TEXTS + (place === 0 ? 0 : ends[place - 1])
      words[at++] = TEXTS + ends[place]
    }
    return count
  }
}
