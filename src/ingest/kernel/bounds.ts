// Finds bounds of columns with the WebAssembly of bounds.as.ts.
import { WasmModule } from '../../contract/wasm.ts'

/** Exports of bounds.as.ts. */
interface Exports {
  bounds(from: number, to: number): number
  nulls: { value: number }
  low: { value: number }
  lowEnd: { value: number }
  high: { value: number }
  highEnd: { value: number }
}

/** Memory layout, as in bounds.as.ts. */
const TEXT = 2048
/** Commas after the text: they end the last value, and allow reads of 16 bytes. */
const PADDING = Buffer.alloc(48, ',')
/** Sizes of texts for which the kernel is worth its start, in bytes. */
const MIN_TEXT_BYTES = 32 * 1024
const MAX_TEXT_BYTES = 4 * 1024 * 1024
/** Results of the kernel: see bounds.as.ts. */
const ORDERED = 0
const UNKNOWN = 2

const module = new WasmModule<Exports>('bounds.wasm')

/** Offsets of the lowest and highest value of a column JSON, without if they have no order. */
export interface FoundBounds {
  nulls: number
  low?: readonly [start: number, end: number]
  high?: readonly [start: number, end: number]
}

/** Finds bounds of large texts. There is one instance per process: no call yields. */
export class BoundsKernel {
  /** Minimum size of texts, in bytes. Tests set it. */
  static minBytes = MIN_TEXT_BYTES
  private static instance: { exports: Exports; bytes: Buffer } | undefined

  /** Returns the bounds of a column JSON; undefined if this is left to TypeScript code. */
  static find(text: Buffer): FoundBounds | undefined {
    if (text.length < BoundsKernel.minBytes || text.length > MAX_TEXT_BYTES) return undefined
    BoundsKernel.instance ??= BoundsKernel.create()
    if (!BoundsKernel.instance) return undefined
    const { exports, bytes } = BoundsKernel.instance
    text.copy(bytes, TEXT)
    PADDING.copy(bytes, TEXT + text.length)
    const result = exports.bounds(TEXT, TEXT + text.length)
    const nulls = exports.nulls.value
    if (result === UNKNOWN) return undefined
    if (result !== ORDERED) return { nulls }
    return {
      nulls,
      low: [exports.low.value - TEXT, exports.lowEnd.value - TEXT],
      high: [exports.high.value - TEXT, exports.highEnd.value - TEXT],
    }
  }

  private static create(): { exports: Exports; bytes: Buffer } | undefined {
    const instance = module.createInstance(TEXT + MAX_TEXT_BYTES + PADDING.length)
    return instance && { exports: instance.exports, bytes: Buffer.from(instance.memory) }
  }
}
