// WebAssembly kernel that reads lines of JSON with the same names; its source is records.as.ts.
import { WasmModule } from '../../contract/wasm.ts'
import type { ScannedMoments } from './columns.ts'
import {
  KERNEL_BYTES,
  KEYS,
  Kernel,
  LINES,
  MAX_BLOCK_CELLS,
  MAX_BLOCK_ROWS,
  MAX_KEYS,
  OUT,
  TEXT,
  TEXT_BYTES,
} from './index.ts'

/** Exports of records.as.ts. */
interface Exports {
  begin(columns: number, depth: number, objects: number, separated: number): void
  keyed(count: number): void
  scan(from: number, to: number, maxRows: number): number
  cutRecords(from: number, to: number, before: number): number
  values(column: number, from: number, to: number): number
  moments(from: number, to: number): number
  numbers: { value: number }
  times: { value: number }
  rows: { value: number }
  odd: { value: number }
  size: { value: number }
}

/** Memory layout, as in records.as.ts. */
const PARTS = LINES
const PARTS_BYTES = MAX_BLOCK_ROWS * 4
const FIRSTS = 64

/** Kinds of values other than null, by their number in the kernel. */
export const VALUE_KINDS = ['text', 'number', 'boolean', 'json'] as const
/** Size of lines that are scanned at first, and growth while all are like the example. */
const MIN_PIECE_BYTES = 4096
const PIECE_GROWTH = 4
/** Size of a piece of records, in records of the size of the example: a longer one is not taken. */
const MIN_PIECE_RECORDS = 4
/** Number of zeros behind a piece. */
const PADDING_BYTES = 64
/** Maximum number of kernels at once. */
const MAX_KERNELS = 8

const module = new WasmModule<Exports>('records.wasm')
let kernelsInUse = 0

/** Nested values that are read. */
export interface NestedValues {
  depth: number
  takesObjects: boolean
}

/** Reads lines of JSON that differ from an example in their values only. */
export class RecordKernel {
  private readonly bytes: Buffer
  private readonly words: Int32Array
  private width = 0
  /** Minimum size of records that a scan takes; undefined for lines. */
  private minBytes: number | undefined
  private valuesEnd = 0
  /** Size of lines that the next scan takes. */
  private pieceBytes = MIN_PIECE_BYTES

  private constructor(
    private readonly exports: Exports,
    memory: ArrayBuffer,
  ) {
    this.bytes = Buffer.from(memory)
    this.words = new Int32Array(memory)
  }

  /** Maximum size of a record, in bytes. */
  static readonly maxRecordBytes = TEXT_BYTES

  /** Acquires a kernel; undefined without WebAssembly, or for a small file. Call `release` after use. */
  static acquire(isLarge: boolean): RecordKernel | undefined {
    const { usage } = Kernel
    if (usage === 'never' || (usage === 'large' && !isLarge) || kernelsInUse >= MAX_KERNELS) return undefined
    const instance = module.createInstance(KERNEL_BYTES)
    if (!instance) return undefined
    kernelsInUse++
    return new RecordKernel(instance.exports, instance.memory)
  }

  release(): void {
    kernelsInUse--
  }

  /**
   * Sets the texts before, between and after the values of a line. `keys`: positions of the values that decide
   * where slices end; none: all. `depth`: maximum depth of lists and, with `takesObjects`, of objects. `separated`: the
   * text between two records instead of a line end, and the size of the example. Returns whether such lines can be read.
   */
  learn(
    example: readonly Buffer[],
    keys: readonly number[],
    { depth, takesObjects }: NestedValues,
    separated?: { by: Buffer; bytes: number },
  ): boolean {
    const parts = separated ? [...example, separated.by] : example
    const size = parts.reduce((sum, part) => sum + part.length + 8, 0)
    const width = example.length - 1
    this.width = 0
    this.minBytes = separated && MIN_PIECE_RECORDS * separated.bytes
    if (size > PARTS_BYTES || width > MAX_BLOCK_CELLS || keys.length > MAX_KEYS) return false
    let at = PARTS + parts.length * 8
    for (const [k, part] of parts.entries()) {
      this.words[(PARTS >> 2) + 2 * k] = at
      this.words[(PARTS >> 2) + 2 * k + 1] = part.length
      at += part.copy(this.bytes, at)
    }
    this.words.set(keys, KEYS >> 2)
    this.exports.begin(width, depth, takesObjects ? 1 : 0, separated ? 1 : 0)
    this.exports.keyed(keys.length)
    this.width = width
    return true
  }

  /**
   * Finds the first lines that are like the example. Returns their number and size, and whether more lines may
   * be like it: few lines are copied at first, more as long as all are.
   */
  scan(lines: Buffer): { rows: number; bytes: number; mayContinue: boolean } {
    const { width } = this
    const size = this.pieceSizeOf(lines)
    if (width === 0 || size > TEXT_BYTES) return { rows: 0, bytes: 0, mayContinue: false }
    lines.copy(this.bytes, TEXT, 0, size)
    // No value continues behind a piece.
    this.bytes.fill(0, TEXT + size, TEXT + size + PADDING_BYTES)
    const maxRows = Math.min(MAX_BLOCK_ROWS, Math.floor(MAX_BLOCK_CELLS / width))
    const bytes = this.exports.scan(TEXT, TEXT + size, maxRows) - TEXT
    // A piece of records ends within one.
    const isLike = this.minBytes === undefined ? this.exports.odd.value === 0 : this.exports.rows.value > 0
    this.pieceBytes = isLike ? Math.min(TEXT_BYTES, this.pieceBytes * PIECE_GROWTH) : MIN_PIECE_BYTES
    return { rows: this.exports.rows.value, bytes, mayContinue: isLike && bytes < lines.length }
  }

  /** Returns how many bytes of lines or records to scan at once: at least one line. */
  private pieceSizeOf(lines: Buffer): number {
    const most = Math.min(TEXT_BYTES, Math.max(this.pieceBytes, this.minBytes ?? 0))
    if (lines.length <= most || this.minBytes !== undefined) return Math.min(lines.length, most)
    const cut = lines.lastIndexOf(LF, most - 1) + 1
    return cut > 0 ? cut : lines.indexOf(LF) + 1
  }

  /** Returns the first of rows [from, to) after which slices end, as `Kernel.findEnd`. Sets `size`. */
  findEnd(from: number, to: number, before: number): number {
    return this.exports.cutRecords(from, to, before)
  }

  get size(): number {
    return this.exports.size.value
  }

  /** Returns the values of a column of rows [from, to), comma-separated; valid until the next call. */
  values(column: number, from: number, to: number): Buffer {
    this.valuesEnd = this.exports.values(column, from, to)
    return this.bytes.subarray(OUT, this.valuesEnd - 1)
  }

  /** Scans the first values of the last call of `values` that are ISO 8601 days, times or null. `bytes`: their size. */
  scanMoments(): ScannedMoments {
    const { moments, numbers, times } = this.exports
    const bytes = moments(OUT, this.valuesEnd) - OUT
    return { bytes, days: numbers.value, times: times.value }
  }

  /** Returns the row of the first value of a kind in the last call of `values`; −1 without one. */
  firstOf(kind: (typeof VALUE_KINDS)[number]): number {
    return this.words[(FIRSTS >> 2) + VALUE_KINDS.indexOf(kind)]
  }
}

const LF = 0x0a
