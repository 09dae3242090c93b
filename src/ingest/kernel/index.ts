// WebAssembly kernel that parses plain rows of delimited text; its source is rows.as.ts.
import { WasmModule } from '../../contract/wasm.ts'

/** Exports of rows.as.ts. */
interface Exports {
  configure(
    width: number,
    delimiter: number,
    quote: number,
    comment: number,
    header: number,
    nulls: number,
  ): void
  tokenize(from: number, to: number, maxRows: number, line: number): number
  column(index: number, from: number, to: number, numeric: boolean): number
  moments(from: number, to: number): number
  newlines(from: number, to: number): number
  keyed(count: number): void
  cut(from: number, to: number, before: number): number
  size: { value: number }
  lowest: { value: number }
  highest: { value: number }
  missing: { value: number }
  rows: { value: number }
  line: { value: number }
  odd: { value: number }
  stop: { value: number }
  numbers: { value: number }
  times: { value: number }
}

/** Memory layout, as in rows.as.ts. */
const HEADER = 64
const HEADER_BYTES = 64
const NULLS = 128
const NULL_BYTES = 32
const MAX_NULLS = 16
export const KEYS = 640
export const MAX_KEYS = 64
const TENS = 1024
/** Maximum length of a number that a kernel reads. */
const MAX_NUMBER_DIGITS = 32
export const TEXT = 4096
export const TEXT_BYTES = 4 * 1024 * 1024 + 64
/** Maximum number of rows and of cells that are scanned at once. */
export const MAX_BLOCK_ROWS = 65_536
export const MAX_BLOCK_CELLS = 524_288
/** Up to so many rows are scanned at once whatever their width, as far as the cells fit. */
const WIDE_ROWS = 64

/** Returns how many rows of a width are scanned at once. */
export function maxBlockRows(width: number): number {
  const usual = Math.floor(MAX_BLOCK_ROWS / width)
  const wide = Math.min(WIDE_ROWS, Math.floor(MAX_BLOCK_CELLS / width))
  return Math.max(1, usual, wide)
}

const STARTS = TEXT + TEXT_BYTES + 128
const ENDS = STARTS + MAX_BLOCK_CELLS * 4
export const LINES = ENDS + MAX_BLOCK_CELLS * 4
export const OUT = LINES + MAX_BLOCK_ROWS * 4
const OUT_BYTES = TEXT_BYTES * 6 + MAX_BLOCK_ROWS * 8 + 64
/** Size of the memory of a kernel, in bytes. */
export const KERNEL_BYTES = OUT + OUT_BYTES

/**
 * Maximum number of idle kernels that are reused, and of kernels at once. Each has 34 MB of memory, used as
 * needed.
 */
const MAX_IDLE_KERNELS = 2
const MAX_KERNELS = 32

/** Settings of the rows of a table. Characters are bytes; −1 for none. */
export interface KernelSettings {
  width: number
  delimiter: number
  quote: number
  comment: number
  /** First name of the header. Rows that repeat it may not be data. */
  firstName: Buffer | undefined
  /** Markers of missing values. */
  nulls: readonly Buffer[]
  /** Positions of the columns whose cells decide where slices end; default: all. */
  keys?: readonly number[]
}

const module = new WasmModule<Exports>('rows.wasm')
const idleKernels: Kernel[] = []
/** Some kernel, for calls that use its memory only temporarily. */
let anyKernel: Kernel | undefined
let kernelsInUse = 0

/**
 * Finds cells and builds column JSON of plain rows, 16 bytes at a time. Its memory holds the text and the
 * cells.
 */
export class Kernel {
  /** Buffer for the text. `bytes` is all of the memory: the offsets of cells count from its start. */
  readonly text: Buffer
  readonly bytes: Buffer
  /** Cells and lines, as in `Tokenizer`. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly lines: Int32Array
  /** Number of columns. */
  width = 0

  private constructor(
    private readonly exports: Exports,
    buffer: ArrayBuffer,
  ) {
    this.bytes = Buffer.from(buffer)
    this.text = Buffer.from(buffer, TEXT, TEXT_BYTES)
    this.starts = new Int32Array(buffer, STARTS, MAX_BLOCK_CELLS)
    this.ends = new Int32Array(buffer, ENDS, MAX_BLOCK_CELLS)
    this.lines = new Int32Array(buffer, LINES, MAX_BLOCK_ROWS)
    const tens = new Float64Array(buffer, TENS, MAX_NUMBER_DIGITS)
    for (let k = 0; k < MAX_NUMBER_DIGITS; k++) tens[k] = 10 ** k
    anyKernel = this
  }

  /**
   * Files for which kernels are used. By default, only large ones are worth loading it. Tests compare all.
   */
  static usage: 'never' | 'large' | 'always' = 'large'

  /**
   * Returns a kernel for a file, until `release`; undefined if the file is read without, or WebAssembly is
   * missing.
   */
  static acquire(isLarge: boolean): Kernel | undefined {
    if (kernelsInUse >= MAX_KERNELS || Kernel.usage === 'never' || (Kernel.usage === 'large' && !isLarge))
      return undefined
    const kernel = idleKernels.pop() ?? Kernel.create()
    if (kernel) kernelsInUse++
    return kernel
  }

  private static create(): Kernel | undefined {
    const instance = module.createInstance(KERNEL_BYTES)
    return instance && new Kernel(instance.exports, instance.memory)
  }

  release(): void {
    kernelsInUse--
    if (idleKernels.length < MAX_IDLE_KERNELS) idleKernels.push(this)
  }

  /** Sets the settings of a table. Returns whether its rows can be read. */
  configure({ width, delimiter, quote, comment, firstName, nulls, keys = [] }: KernelSettings): boolean {
    if (
      width > MAX_BLOCK_CELLS ||
      nulls.length > MAX_NULLS ||
      nulls.some((text) => text.length >= NULL_BYTES)
    )
      return false
    if (keys.length > MAX_KEYS) return false
    new Int32Array(this.bytes.buffer, KEYS, MAX_KEYS).set(keys)
    this.exports.keyed(keys.length)
    firstName?.copy(this.bytes, HEADER, 0, HEADER_BYTES)
    for (const [k, text] of nulls.entries()) {
      const at = NULLS + k * NULL_BYTES
      this.bytes[at] = text.length
      text.copy(this.bytes, at + 1)
    }
    this.width = width
    // UTF-8 never contains byte 255.
    this.exports.configure(
      width,
      delimiter,
      quote < 0 ? 255 : quote,
      comment < 0 ? 256 : comment,
      firstName?.length ?? -1,
      nulls.length,
    )
    return true
  }

  /**
   * Finds complete plain rows in text[from, to), at most `most`. Returns their number, the line after them,
   * the offset of the next row, and whether that row is not plain.
   */
  findRows(
    from: number,
    to: number,
    most: number,
    line: number,
  ): { rows: number; line: number; next: number; odd: boolean } {
    const { exports } = this
    const next = exports.tokenize(from + TEXT, to + TEXT, most, line) - TEXT
    return { rows: exports.rows.value, line: exports.line.value, next, odd: exports.odd.value === 1 }
  }

  /**
   * Writes the JSON of cells `column` of rows [from, to), each followed by a comma, up to the first cell that
   * is not plain. Returns the end of the JSON, which starts at `bytes[OUT]` and is valid until the next call.
   * Sets `stop`, the row of that cell, `numbers`, the number of numbers before it, and `bounds`.
   */
  writeColumn(column: number, from: number, to: number, numeric: boolean): number {
    return this.exports.column(column, from, to, numeric)
  }

  /**
   * Scans ISO 8601 days and times and nulls in the JSON that `writeColumn` has just written, up to `end`.
   * Returns the offset of the first other value. Sets `stop`, the number of values, and `numbers` and
   * `times`, the numbers of days and times.
   */
  scanMoments(end: number): number {
    return this.exports.moments(OUT, end)
  }

  /**
   * Returns the first of plain rows [from, to) after which slices end; −1 if there is none. `before`: weight
   * of the rows since the last end (see values/slice-ends.ts). Sets `size`, the weight after the last row.
   */
  findEnd(from: number, to: number, before: number): number {
    return this.exports.cut(from, to, before)
  }

  get size(): number {
    return this.exports.size.value
  }

  /**
   * Returns the rows of the lowest and highest values that `writeColumn` has passed (−1: none), and the
   * number of nulls.
   */
  get bounds(): { lowest: number; highest: number; missing: number } {
    const { lowest, highest, missing } = this.exports
    return { lowest: lowest.value, highest: highest.value, missing: missing.value }
  }

  get stop(): number {
    return this.exports.stop.value
  }

  get numbers(): number {
    return this.exports.numbers.value
  }

  get times(): number {
    return this.exports.times.value
  }

  /** Counts the line feeds in bytes. */
  countLineFeeds(bytes: Uint8Array): number {
    let count = 0
    for (let at = 0; at < bytes.length; at += TEXT_BYTES) {
      const part = bytes.subarray(at, at + TEXT_BYTES)
      this.bytes.set(part, OUT)
      count += this.exports.newlines(OUT, OUT + part.length)
    }
    return count
  }
}

/** Counts the line feeds in bytes. */
export function countNewlines(bytes: Uint8Array): number {
  if (anyKernel) return anyKernel.countLineFeeds(bytes)
  let count = 0
  for (let i = bytes.indexOf(LF); i >= 0; i = bytes.indexOf(LF, i + 1)) count++
  return count
}

const LF = 0x0a
