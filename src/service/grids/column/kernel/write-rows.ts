// Writes rows of columns with the WebAssembly of write-rows.as.ts.
import { WasmModule } from '../../../../contract/wasm.ts'
import { isWorthKernel, KernelPool, PADDING_BYTES, putText } from './pool.ts'

/** Exports of write-rows.as.ts. */
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
  stop: { value: number }
  odd: { value: number }
  out: { value: number }
}

/** Addresses and sizes in memory, as in write-rows.as.ts. */
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

/** Size of `null`, in bytes. */
const NULL_BYTES = 4
/** Room of the output for each row, as a multiple of the average row: at least a few rows at a time. */
const ROWS_OF_OUTPUT = 4
/** Minimum number of cells of rows for a kernel: its start takes longer than fewer take. */
const MIN_KERNEL_CELLS = 10_000

const wasm = new WasmModule<Exports>('write-rows.wasm')
const pool = new KernelPool((bytes) => {
  const instance = wasm.createInstance(bytes)
  return instance && new RowKernel(instance.exports, instance.memory)
})

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

/** WebAssembly instance that writes rows. Its memory contains the chunks of their columns. */
export class RowKernel {
  /** The whole memory. */
  readonly bytes: Buffer
  private readonly words: Int32Array
  /** Addresses of the structs of all columns, and of the text of each. */
  private columnsAt = 0
  private textsAt: number[] = []
  /** Positions in the list of the rows whose cells are located. */
  private located = 0
  private locatedEnd = 0

  constructor(
    private readonly exports: Exports,
    memory: ArrayBuffer,
  ) {
    this.bytes = Buffer.from(memory)
    this.words = new Int32Array(memory)
  }

  /**
   * Acquires a kernel that writes rows; undefined if none is suitable. `textBytes`: maximum size of a text of each
   * column; `rowBytes`: average size of the JSON of a row. Call `release` after use.
   */
  static acquire(
    rows: number,
    textBytes: readonly number[],
    rowBytes: number,
    { before, after, separator = -1 }: RowFormat,
  ): RowKernel | undefined {
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
      at += Math.max(size, NULL_BYTES) + PADDING_BYTES
      return start
    })
    const longest = textBytes.reduce((most, size) => Math.max(most, size), 0)
    const kernel = pool.acquire(longest, at)
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

  release(): void {
    pool.release(this)
  }

  /** Loads a chunk of a column into memory. */
  putChunk(column: number, { text, row, isSimple, isConstant }: KernelChunk): void {
    const at = this.textsAt[column]
    putText(this, at, text)
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
    const instance = isWorthKernel(rows) ? wasm.createInstance(TEXTS + bytes + PADDING_BYTES) : undefined
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
