import { randomInt } from 'node:crypto'
import { WasmModule } from '../../../../contract/wasm.ts'

/** Exports of values.as.ts. */
interface Exports {
  rows(
    from: number,
    count: number,
    columns: number,
    separator: number,
    after: number,
    afterLength: number,
  ): number
  doubles(from: number, to: number): number
  codes(from: number, to: number, multiplier: number): number
  forget(): void
  stop: { value: number }
  odd: { value: number }
  out: { value: number }
  known: { value: number }
}

/** The places in memory that values.as.ts names. */
const COLUMNS = 2048
const COLUMN_BYTES = 32
const MAX_COLUMNS = 64
const LIST = 4096
const MAX_ROWS = 4096
const BEFORE = LIST + MAX_ROWS * 4
const BEFORE_BYTES = 16_384
const OUT = BEFORE + BEFORE_BYTES
const OUT_BYTES = 131_072
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

/** Commas after each text: what is read 16 bytes at a time, and the end of the last value. */
const PADDING = Buffer.alloc(48, ',')
/** Longest texts that are read with a kernel, and memory of one. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024
const MAX_BYTES = 32 * 1024 * 1024
/** Kernels at once, and those that are kept for the next request. */
const MAX_KERNELS = 16
const KEPT_KERNELS = 2
/** Fewer rows are read without: it would take longer to begin. */
const WORTH_ROWS = 2000

const module = new WasmModule<Exports>('values.wasm')
const idle: ValueKernel[] = []
let inUse = 0
const multiplier = randomInt(2 ** 30) * 2 + 1

/** How rows are written: what is before each cell, what is after the last, and the separator of CSV. */
export interface PlainRows {
  before: readonly Buffer[]
  /** One or two bytes. */
  after: Buffer
  /** Cells are JSON values if there is none. */
  separator: number | undefined
}

/** A text of a column: the row of its first value, and whether none of its values has a comma in it. */
export interface ColumnPart {
  text: Buffer
  row: number
  isSimple: boolean
  /** All rows have the one value of the text. */
  isConstant: boolean
}

/** Reads values of columns 16 bytes at a time. Its memory holds texts of columns. */
export class ValueKernel {
  /** All of the memory. */
  readonly bytes: Buffer
  private readonly words: Int32Array
  private readonly numbers: Float64Array
  private textBytes = 0
  private columns = 0
  private separator = -1
  private after = 0
  private afterLength = 0

  private constructor(
    private readonly exports: Exports,
    memory: ArrayBuffer,
  ) {
    this.bytes = Buffer.from(memory)
    this.words = new Int32Array(memory)
    this.numbers = new Float64Array(memory)
  }

  /** Which grids are read with a kernel: those that are worth it. Tests compare. */
  static use: 'never' | 'large' | 'always' = 'large'

  /** A kernel that writes rows, until `release`; undefined if they are written without. `most`: bytes of the longest text. */
  static forRows(rows: number, most: number, plain: PlainRows): ValueKernel | undefined {
    const { before, after, separator = -1 } = plain
    const room = most + PADDING.length
    const prefix = before.reduce((sum, { length }) => sum + length, 0)
    if (before.length === 0 || before.length > MAX_COLUMNS || prefix + 16 > BEFORE_BYTES) return undefined
    const kernel = ValueKernel.acquire(rows, most, TEXTS + before.length * room)
    if (!kernel) return undefined
    kernel.textBytes = room
    kernel.columns = before.length
    kernel.separator = separator
    kernel.after = after[0] | ((after[1] ?? 0) << 8)
    kernel.afterLength = after.length
    let at = BEFORE
    for (const [k, text] of before.entries()) {
      text.copy(kernel.bytes, at)
      const column = (COLUMNS + k * COLUMN_BYTES) >> 2
      kernel.words[column + 6] = at
      kernel.words[column + 7] = text.length
      at += text.length
    }
    return kernel
  }

  /** A kernel that reads the values of one column, until `release`; undefined if they are read without. */
  static forValues(rows: number, most: number): ValueKernel | undefined {
    const kernel = ValueKernel.acquire(rows, most, TEXT + most + PADDING.length)
    kernel?.exports.forget()
    return kernel
  }

  private static acquire(rows: number, most: number, bytes: number): ValueKernel | undefined {
    const isWorth = ValueKernel.use === 'always' || (ValueKernel.use === 'large' && rows >= WORTH_ROWS)
    if (!isWorth || inUse >= MAX_KERNELS || most > MAX_TEXT_BYTES || bytes > MAX_BYTES) return undefined
    const known = idle.findIndex((one) => one.bytes.length >= bytes)
    const [kernel = ValueKernel.made(bytes)] = known < 0 ? [] : idle.splice(known, 1)
    if (kernel) inUse++
    return kernel
  }

  private static made(bytes: number): ValueKernel | undefined {
    const instance = module.createInstance(bytes)
    return instance && new ValueKernel(instance.exports, instance.memory)
  }

  release(): void {
    inUse--
    idle.unshift(this)
    idle.length = Math.min(idle.length, KEPT_KERNELS)
  }

  /** Sets the text that a column is read from. */
  put(column: number, { text, row, isSimple, isConstant }: ColumnPart): void {
    const at = TEXTS + column * this.textBytes
    this.setText(at, text)
    const place = (COLUMNS + column * COLUMN_BYTES) >> 2
    this.words[place] = at
    this.words[place + 1] = row
    this.words[place + 2] = isSimple ? 1 : 0
    this.words[place + 3] = isConstant ? 1 : 0
  }

  private setText(at: number, text: Buffer): void {
    text.copy(this.bytes, at)
    PADDING.copy(this.bytes, at + text.length)
  }

  /** Rows that are written with one list. */
  static readonly mostRows = MAX_ROWS

  /** Sets the `k`th row of the list. All columns must have texts with these rows. */
  list(k: number, row: number): void {
    this.words[(LIST >> 2) + k] = row
  }

  /**
   * Writes rows of the list, from the `from`th on. Returns how many; `written` is their text. If the next one is not plain,
   * `isOdd` is true, and `cell` says where its cells are.
   */
  rows(from: number, count: number): number {
    return this.exports.rows(from, count, this.columns, this.separator, this.after, this.afterLength)
  }

  get isOdd(): boolean {
    return this.exports.odd.value === 1
  }

  /** The text of the last rows, until the next call. */
  get written(): Buffer {
    return this.bytes.subarray(OUT, this.exports.out.value)
  }

  /** Where a cell of the last row is in `bytes`. */
  cell(column: number): { buf: Buffer; start: number; end: number } {
    const place = (COLUMNS + column * COLUMN_BYTES) >> 2
    return { buf: this.bytes, start: this.words[place + 4], end: this.words[place + 5] }
  }

  /**
   * The values of a text as doubles: numbers, and times in ms since 1970; NaN for null. `other` gives that of a value of
   * another kind, which begins at an offset of the text; undefined ends it, and the result is undefined.
   */
  doubles(
    text: Buffer,
    other: (start: number) => { value: number; end: number } | undefined,
  ): Float64Array | undefined {
    this.setText(TEXT, text)
    const found = new Float64Array((text.length >> 1) + 1)
    const end = TEXT + text.length
    let count = 0
    let at = TEXT
    while (at < end) {
      const more = this.exports.doubles(at, end)
      found.set(this.numbers.subarray(RESULTS >> 3, (RESULTS >> 3) + more), count)
      count += more
      at = this.exports.stop.value
      if (!this.isOdd) continue
      const one = other(at - TEXT)
      if (!one) return undefined
      found[count++] = one.value
      at = TEXT + one.end
    }
    return found.subarray(0, count)
  }

  /**
   * The values of a text of a column. `known`: the texts of this column that are known, as they are in JSON; more become
   * known. `other` gives the value of all others, from their bytes.
   */
  values<T>(text: Buffer, known: T[], decode: (buf: Buffer, start: number, end: number) => T, none: T): T[] {
    this.setText(TEXT, text)
    const { words } = this
    const found: T[] = []
    const end = TEXT + text.length
    let at = TEXT
    while (at < end) {
      const count = this.exports.codes(at, end, multiplier)
      at = this.exports.stop.value
      for (let k = known.length; k < this.exports.known.value; k++) {
        const start = KNOWN + k * KNOWN_BYTES
        known.push(decode(this.bytes, start, start + words[(LENGTHS >> 2) + k]))
      }
      for (let k = 0; k < count; k++) {
        const code = words[(RESULTS >> 2) + k]
        if (code >= 0) found.push(known[code])
        else if (code === -1) found.push(none)
        else found.push(decode(this.bytes, words[(STARTS >> 2) + k], words[(ENDS >> 2) + k]))
      }
    }
    return found
  }
}
