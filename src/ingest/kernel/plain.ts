// Writes plain values of columnar files as column JSON, with the WebAssembly of plain.as.ts.
import { isUtf8 } from 'node:buffer'
import { WasmModule } from '../../contract/wasm.ts'

/** Exports of plain.as.ts. */
interface Exports {
  begin(kind: number, size: number, decimals: number, separator: number, mark: number): void
  write(at: number, to: number, count: number, leveled: number): number
  writeWords(at: number, count: number, leveled: number, words: number): number
  rows: { value: number }
  next: { value: number }
  odd: { value: number }
  wide: { value: number }
}

/** Memory layout, as in plain.as.ts. */
const MAX_ROWS = 8192
const LEVELS = 2048
const INDEXES = LEVELS + MAX_ROWS
const MAX_WORDS = 262_144
const WORD_ENDS = INDEXES + MAX_ROWS * 4
const WORDS = WORD_ENDS + (MAX_WORDS + 1) * 4
const WORDS_BYTES = 4_194_304
const SLACK = 16
const VALUES = WORDS + WORDS_BYTES + SLACK
const VALUES_BYTES = 262_144
const OUT = VALUES + VALUES_BYTES + SLACK
const OUT_BYTES = 524_288

/** Kinds of plain values, by their number in the kernel. */
const PLAIN_KINDS = ['integer', 'double', 'single', 'day', 'time', 'text'] as const

/** How plain values are stored, and written. */
export type PlainForm =
  /** `scale`: number of decimals. `isQuoted`: written as strings. */
  | { kind: 'integer'; bytes: 4 | 8; scale: number; isQuoted: boolean }
  | { kind: 'double' | 'single' | 'day' | 'text' }
  /** `digits`: those of a tick in seconds, as 3 of milliseconds. `separator`: between day and time. */
  | { kind: 'time'; digits: number; separator: 'T' | ' '; isUtc: boolean }

/** Rows that the kernel has written. The JSON, whose values all end with commas, is valid until the next call. */
export interface WrittenRows {
  rows: number
  json: Uint8Array
  /** Bytes or indexes of the values. */
  taken: number
  /** Whether there are no rows because one of the texts is not UTF-8: fewer rows may be. */
  isInvalid?: boolean
}

const NO_ROWS: WrittenRows = { rows: 0, json: new Uint8Array(), taken: 0 }
const INVALID_ROWS: WrittenRows = { ...NO_ROWS, isInvalid: true }

/** Maximum number of rows of a call. */
export const MAX_KERNEL_ROWS = MAX_ROWS

const module = new WasmModule<Exports>('plain.wasm')

/** Writes plain values as JSON. There is one instance per process, since no call yields. */
export class PlainKernel {
  private static instance: PlainKernel | null | undefined
  /** Part of a page in memory: the page, and the offset of its first byte. */
  private page: Uint8Array | undefined
  private pageOffset = 0
  private words: { text: Uint8Array; count: number } | undefined

  private constructor(
    private readonly exports: Exports,
    private readonly bytes: Uint8Array,
    private readonly integers: Uint32Array,
  ) {}

  /** Returns the kernel; undefined without WebAssembly. */
  static open(): PlainKernel | undefined {
    if (PlainKernel.instance === undefined) {
      const made = module.createInstance(OUT + OUT_BYTES)
      PlainKernel.instance =
        made === undefined
          ? null
          : new PlainKernel(made.exports, new Uint8Array(made.memory), new Uint32Array(made.memory))
    }
    return PlainKernel.instance ?? undefined
  }

  /**
   * Writes up to `count` rows of a page, whose next value is at `offset`. `levels`: which of these rows have a value;
   * undefined: all. No rows: the next value is written by TypeScript code.
   */
  write(
    form: PlainForm,
    page: Uint8Array,
    offset: number,
    count: number,
    levels: Uint8Array | undefined,
  ): WrittenRows {
    const { exports } = this
    const most = Math.min(count, MAX_ROWS)
    this.begin(form)
    this.loadLevels(levels, most)
    if (page !== this.page || offset < this.pageOffset || offset > this.pageOffset + VALUES_BYTES)
      this.loadPage(page, offset)
    for (;;) {
      const { pageOffset } = this
      const at = VALUES + offset - pageOffset
      const end = VALUES + Math.min(VALUES_BYTES, page.length - pageOffset)
      const out = exports.write(at, end, most, levels ? 1 : 0)
      const rows = exports.rows.value
      if (rows > 0) return this.take(rows, out, exports.next.value - at)
      if (exports.odd.value === 1 || offset === pageOffset) return NO_ROWS
      // The value ends after the part in memory.
      this.loadPage(page, offset)
    }
  }

  /**
   * Writes up to `count` rows of words, by their indexes; word k is `text[ends[k], ends[k + 1])`, with a comma. Undefined if there are
   * too many words for the kernel. No rows: the next index is too large.
   */
  writeWords(
    { text, ends }: { text: Uint8Array; ends: Uint32Array },
    indexes: Uint32Array,
    count: number,
    levels: Uint8Array | undefined,
  ): WrittenRows | undefined {
    if (ends.length > MAX_WORDS || text.length > WORDS_BYTES) return undefined
    const { exports } = this
    const most = Math.min(count, MAX_ROWS)
    if (this.words?.text !== text) {
      this.bytes.set(text, WORDS)
      this.integers.set(
        ends.map((end) => end + WORDS),
        WORD_ENDS / 4,
      )
      this.words = { text, count: ends.length - 1 }
    }
    this.loadLevels(levels, most)
    this.integers.set(indexes.subarray(0, most), INDEXES / 4)
    const out = exports.writeWords(INDEXES, most, levels ? 1 : 0, this.words.count)
    return this.take(exports.rows.value, out, (exports.next.value - INDEXES) / 4)
  }

  private begin(form: PlainForm): void {
    const { begin } = this.exports
    const kind = PLAIN_KINDS.indexOf(form.kind)
    if (form.kind === 'integer') begin(kind, form.bytes, form.scale, 0, form.isQuoted ? codeOf('"') : 0)
    else if (form.kind === 'time')
      begin(kind, form.digits, 0, codeOf(form.separator), form.isUtc ? codeOf('Z') : 0)
    else begin(kind, 0, 0, 0, 0)
  }

  private loadLevels(levels: Uint8Array | undefined, count: number): void {
    if (levels) this.bytes.set(levels.subarray(0, count), LEVELS)
  }

  private loadPage(page: Uint8Array, offset: number): void {
    this.page = page
    this.pageOffset = offset
    this.bytes.set(page.subarray(offset, offset + VALUES_BYTES), VALUES)
  }

  private take(rows: number, out: number, taken: number): WrittenRows {
    const json = this.bytes.subarray(OUT, out)
    // Quotes and commas are ASCII, so the texts are UTF-8 if all together are.
    return this.exports.wide.value === 1 && !isUtf8(json) ? INVALID_ROWS : { rows, json, taken }
  }
}

function codeOf(character: string): number {
  return character.charCodeAt(0)
}
