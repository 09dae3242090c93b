// Reads column JSON with the WebAssembly of columns.as.ts.
import { WasmModule } from '../../contract/wasm.ts'

/** Exports of columns.as.ts. */
interface Exports {
  bounds(from: number, to: number): number
  nulls: { value: number }
  low: { value: number }
  lowEnd: { value: number }
  high: { value: number }
  highEnd: { value: number }
  beginRows(count: number): void
  addColumn(from: number, to: number, isKey: number): number
  endOfValue(from: number, count: number): number
  moments(from: number, to: number): number
  numbers: { value: number }
  times: { value: number }
  findEnds(rows: number, before: number): number
  size: { value: number }
}

/** Memory layout, as in columns.as.ts. */
const MAX_ROWS = 131_072
const HASHES = 2048
const SIZES = HASHES + MAX_ROWS * 4
const MAX_ENDS = 1024
const LIST = SIZES + MAX_ROWS * 4
const TEXT = LIST + MAX_ENDS * 4
/** Commas after the text: they end the last value, and allow reads of 16 bytes. */
const PADDING = Buffer.alloc(48, ',')
/** Sizes of texts for which the kernel is worth its start, in bytes. */
const MIN_TEXT_BYTES = 32 * 1024
const MAX_TEXT_BYTES = 4 * 1024 * 1024
/** Results of the kernel: see columns.as.ts. */
const ORDERED = 0
const UNKNOWN = 2

const module = new WasmModule<Exports>('columns.wasm')

/** Offsets of the lowest and highest value of a column JSON, without if they have no order. */
export interface FoundBounds {
  nulls: number
  low?: readonly [start: number, end: number]
  high?: readonly [start: number, end: number]
}

/** Values at the start of a column JSON that are ISO 8601 days, times without zone, or null; their size in bytes. */
export interface ScannedMoments {
  bytes: number
  days: number
  times: number
}

/** A WebAssembly instance and its memory. */
interface Instance {
  exports: Exports
  bytes: Buffer
}

/** Reads large column JSON. There is one instance per process, since no call yields. */
export class ColumnKernel {
  /** Minimum size of texts, in bytes. Tests set it. */
  static minBytes = MIN_TEXT_BYTES
  private static instance: Instance | undefined

  /** Returns the bounds of a column JSON; undefined if this is left to TypeScript code. */
  static findBounds(text: Buffer): FoundBounds | undefined {
    const instance = ColumnKernel.open(text.length, text.length)
    if (!instance) return undefined
    const { exports } = instance
    const result = exports.bounds(TEXT, putText(instance, text))
    const nulls = exports.nulls.value
    if (result === UNKNOWN) return undefined
    if (result !== ORDERED) return { nulls }
    return {
      nulls,
      low: [exports.low.value - TEXT, exports.lowEnd.value - TEXT],
      high: [exports.high.value - TEXT, exports.highEnd.value - TEXT],
    }
  }

  /**
   * Returns the rows, from 1, after which slices of columns end, and the weight of the rows after the last end;
   * undefined if this is left to TypeScript code. `before`: weight of earlier rows.
   */
  static findEnds(
    columns: readonly Uint8Array[],
    isKey: readonly boolean[],
    before: number,
  ): { rows: number[]; weight: number } | undefined {
    const sizes = columns.map(({ length }) => length)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    const instance = ColumnKernel.open(total, Math.max(0, ...sizes))
    if (!instance) return undefined
    const { exports, bytes } = instance
    exports.beginRows(MAX_ROWS)
    let count = 0
    for (const [k, text] of columns.entries()) {
      const values = exports.addColumn(TEXT, putText(instance, text), isKey[k] ? 1 : 0)
      if (values > MAX_ROWS) return undefined
      count = Math.max(count, values)
    }
    const found = exports.findEnds(count, before)
    if (found === MAX_ENDS) return undefined
    const rows = Array.from({ length: found }, (_, k) => bytes.readInt32LE(LIST + 4 * k))
    return { rows, weight: exports.size.value }
  }

  /** Returns the end of value `count`, from 1, of a column JSON; undefined if this is left to TypeScript code. */
  static endOfValue(text: Buffer, count: number): number | undefined {
    const instance = ColumnKernel.open(text.length, text.length)
    if (!instance) return undefined
    putText(instance, text)
    return instance.exports.endOfValue(TEXT, count) - TEXT
  }

  /** Scans the ISO 8601 days and times at the start of a column JSON; undefined if this is left to TypeScript code. */
  static scanMoments(text: Uint8Array): ScannedMoments | undefined {
    const instance = ColumnKernel.open(text.length, text.length)
    if (!instance) return undefined
    const { exports } = instance
    // The comma after the last value is counted.
    const end = exports.moments(TEXT, putText(instance, text) + 1) - TEXT
    return { bytes: Math.min(end, text.length), days: exports.numbers.value, times: exports.times.value }
  }

  private static open(totalBytes: number, largestBytes: number): Instance | undefined {
    if (totalBytes < ColumnKernel.minBytes || largestBytes > MAX_TEXT_BYTES) return undefined
    if (ColumnKernel.instance) return ColumnKernel.instance
    const made = module.createInstance(TEXT + MAX_TEXT_BYTES + PADDING.length)
    ColumnKernel.instance = made && { exports: made.exports, bytes: Buffer.from(made.memory) }
    return ColumnKernel.instance
  }
}

/** Copies a text to the memory of an instance. Returns its end. */
function putText({ bytes }: Instance, text: Uint8Array): number {
  bytes.set(text, TEXT)
  PADDING.copy(bytes, TEXT + text.length)
  return TEXT + text.length
}
