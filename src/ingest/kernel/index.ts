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

/** The places in memory that rows.as.ts names. */
const HEADER = 64
const HEADER_BYTES = 64
const NULLS = 128
const NULL_BYTES = 32
const MAX_NULLS = 16
const KEYS = 640
const MAX_KEYS = 64
const TENS = 1024
/** Digits of the longest number that a kernel reads. */
const MAX_NUMBER_DIGITS = 32
const TEXT = 4096
const TEXT_BYTES = 1024 * 1024 + 64
const CELLS = 65_536
const STARTS = TEXT + TEXT_BYTES + 128
const ENDS = STARTS + CELLS * 4
const LINES = ENDS + CELLS * 4
export const OUT = LINES + CELLS * 4
const OUT_BYTES = TEXT_BYTES * 6 + CELLS * 8 + 64

/** Kernels that are kept for the next file, and kernels at once: each has 8 MB of memory, used as needed. */
const KEPT_KERNELS = 2
const MAX_KERNELS = 32

/** What tables of one dialect have in common. Characters are bytes; −1 for none. */
export interface KernelSettings {
  width: number
  delimiter: number
  quote: number
  comment: number
  /** The first name of a header whose repetitions are not data. */
  firstName: Buffer | undefined
  /** Texts that mean a missing value. */
  nulls: readonly Buffer[]
  /** Columns whose cells decide where slices end; all if not given. */
  keys?: readonly number[]
}

const module = new WasmModule<Exports>('rows.wasm')
const idle: Kernel[] = []
/** Any kernel, for what needs its memory within a call only. */
let latest: Kernel | undefined
let inUse = 0

/** Finds cells and builds column text of plain rows, 16 bytes at a time. Its memory holds the text and the cells. */
export class Kernel {
  /** Where text is put, from offset 0. `bytes` is all of the memory: the offsets of cells count from its start. */
  readonly text: Buffer
  readonly bytes: Buffer
  /** Cells and lines, as in `Tokenizer`. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly lines: Int32Array

  private constructor(
    private readonly exports: Exports,
    buffer: ArrayBuffer,
  ) {
    this.bytes = Buffer.from(buffer)
    this.text = Buffer.from(buffer, TEXT, TEXT_BYTES)
    this.starts = new Int32Array(buffer, STARTS, CELLS)
    this.ends = new Int32Array(buffer, ENDS, CELLS)
    this.lines = new Int32Array(buffer, LINES, CELLS)
    const tens = new Float64Array(buffer, TENS, MAX_NUMBER_DIGITS)
    for (let k = 0; k < MAX_NUMBER_DIGITS; k++) tens[k] = 10 ** k
    latest = this
  }

  /** Which files are read with a kernel: it is loaded for those that are worth it. Tests compare. */
  static use: 'never' | 'large' | 'always' = 'large'

  /**
   * Returns a kernel for a file, until `release`; undefined if it is read without, as where there is no
   * WebAssembly.
   */
  static acquire(isLarge: boolean): Kernel | undefined {
    if (inUse >= MAX_KERNELS || Kernel.use === 'never' || (Kernel.use === 'large' && !isLarge))
      return undefined
    const kernel = idle.pop() ?? Kernel.made()
    if (kernel) inUse++
    return kernel
  }

  private static made(): Kernel | undefined {
    const instance = module.instance(OUT + OUT_BYTES)
    return instance && new Kernel(instance.exports, instance.memory)
  }

  release(): void {
    inUse--
    if (idle.length < KEPT_KERNELS) idle.push(this)
  }

  /** Sets what the rows of a table have in common. Returns whether they can be read. */
  configure({ width, delimiter, quote, comment, firstName, nulls, keys = [] }: KernelSettings): boolean {
    if (width > CELLS || nulls.length > MAX_NULLS || nulls.some((text) => text.length >= NULL_BYTES))
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
    // The byte 255 is in no UTF-8.
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
   * Finds whole plain rows in text[from, to). Returns their number, the line after them, the offset of the first row
   * that was not found, and whether that row is not plain.
   */
  rows(
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
   * Builds the text of cells `column` of rows [from, to), each value with a comma after it, up to the first cell that is
   * not plain. Returns the end of the text, which starts at `bytes[OUT]` and is valid until the next call; sets `stop`,
   * the row of that cell; `numbers`, how many there are before it; and `bounds`.
   */
  column(column: number, from: number, to: number, numeric: boolean): number {
    return this.exports.column(column, from, to, numeric)
  }

  /**
   * Passes days and times in ISO 8601 and nulls in the text of a column that was just built, up to `end`. Returns the offset
   * of the first other value; sets `stop`, how many were passed, and `numbers` and `times`, the days and times among them.
   */
  moments(end: number): number {
    return this.exports.moments(OUT, end)
  }

  /**
   * Returns the first of plain rows [from, to) after which slices end whose size is `before` (see
   * values/slice-ends.ts); −1 if there is none. Sets `size`, their size after the last row.
   */
  cut(from: number, to: number, before: number): number {
    return this.exports.cut(from, to, before)
  }

  get size(): number {
    return this.exports.size.value
  }

  /** Rows of the lowest and the highest value that `column` has passed (−1: there is none), and how many are missing. */
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

  /** Returns the number of line feeds in bytes. */
  newlines(bytes: Uint8Array): number {
    let count = 0
    for (let at = 0; at < bytes.length; at += TEXT_BYTES) {
      const part = bytes.subarray(at, at + TEXT_BYTES)
      this.bytes.set(part, OUT)
      count += this.exports.newlines(OUT, OUT + part.length)
    }
    return count
  }
}

/** Returns the number of line feeds in bytes. */
export function newlinesIn(bytes: Uint8Array): number {
  if (latest) return latest.newlines(bytes)
  let count = 0
  for (let i = bytes.indexOf(LF); i >= 0; i = bytes.indexOf(LF, i + 1)) count++
  return count
}

const LF = 0x0a
