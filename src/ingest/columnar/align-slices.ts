// Ends slices at the same row in all columns.
import { findValueEnd, nextValue, skipWhitespace, yieldToEventLoop } from '../../json/index.ts'
import { findSliceEnds, SliceEnds } from '../values/slice-ends.ts'
import type { SliceSink } from '../values/table.ts'

/** Number of rows that all columns must have before slices are cut. */
const MIN_CUT_ROWS = 65_536
/** Maximum size of buffered text. Beyond it, columns are sliced independently. */
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024

/** Values of a column that are not in a slice yet. */
interface BufferedValues {
  texts: Buffer[]
  rows: number
}

const COMMA = Buffer.from(',')

/** Cuts columns whose values arrive independently into slices that end at the same rows. */
export class AlignedSlices {
  /** Hashed rows since the last end of a slice. */
  private readonly open: BufferedValues[]
  private readonly next: BufferedValues[]
  private readonly ends = new SliceEnds()
  private bufferedBytes = 0
  private isAligned = true

  constructor(
    private readonly sink: SliceSink,
    columns: number,
    /** Columns whose values decide where slices end. */
    private readonly keys?: readonly number[],
  ) {
    const none = (): BufferedValues => ({ texts: [], rows: 0 })
    this.open = Array.from({ length: columns }, none)
    this.next = Array.from({ length: columns }, none)
  }

  /** Adds the next `rows` values of a column, as comma-separated JSON. */
  async add(column: number, rows: number, text: Buffer): Promise<void> {
    if (!this.isAligned) {
      await this.sink.slice({ column, rows, form: 'text', text })
      return
    }
    const pending = this.next[column]
    pending.texts.push(text)
    pending.rows += rows
    this.bufferedBytes += text.length
    if (this.commonRows >= MIN_CUT_ROWS) await this.cutSlices()
    if (this.bufferedBytes <= MAX_BUFFERED_BYTES) return
    await this.flushOpen(false)
    this.isAligned = false
    for (const [k, { texts }] of this.next.entries())
      await this.sendSlice(k, { texts, rows: this.next[k].rows }, false)
  }

  /** Passes all remaining rows to the sink. */
  async end(): Promise<void> {
    if (!this.isAligned) return
    await this.cutSlices()
    await this.flushOpen(false)
  }

  private get commonRows(): number {
    return this.next.reduce((least, { rows }) => Math.min(least, rows), Number.POSITIVE_INFINITY)
  }

  /** Cuts slices from the rows that all columns have. */
  private async cutSlices(): Promise<void> {
    const rows = this.commonRows
    if (rows === 0) return
    const texts = this.next.map((held) => joinValues(held.texts))
    const taken: Buffer[] = []
    for (const [k, text] of texts.entries()) {
      const rest = this.next[k].rows - rows
      const at = rest > 0 ? offsetAfter(text, rows) : text.length
      taken.push(text.subarray(0, at))
      this.next[k] = { texts: rest > 0 ? [text.subarray(at + 1)] : [], rows: rest }
      await yieldToEventLoop()
    }
    const ends = await findSliceEnds(taken, this.keys, this.ends)
    let from = 0
    const starts = taken.map(() => 0)
    for (const end of [...ends, rows]) {
      for (const [k, text] of taken.entries()) {
        if (end === from) continue
        const stop =
          end === rows ? text.length : starts[k] + offsetAfter(text.subarray(starts[k]), end - from)
        this.open[k].texts.push(text.subarray(starts[k], stop))
        this.open[k].rows += end - from
        starts[k] = stop + 1
      }
      from = end
      if (this.ends.size === 0 || end < rows) await this.flushOpen(true)
    }
  }

  /** Passes the rows since the last end of a slice to the sink. */
  private async flushOpen(ended: boolean): Promise<void> {
    for (const [k, held] of this.open.entries()) {
      await this.sendSlice(k, held, ended)
      this.open[k] = { texts: [], rows: 0 }
    }
  }

  private async sendSlice(column: number, { texts, rows }: BufferedValues, ended: boolean): Promise<void> {
    if (rows === 0) return
    const text = joinValues(texts)
    this.bufferedBytes -= text.length
    await this.sink.slice({ column, rows, form: 'text', text, ended })
  }
}

function joinValues(texts: readonly Buffer[]): Buffer {
  return texts.length === 1
    ? texts[0]
    : Buffer.concat(texts.flatMap((text, k) => (k > 0 ? [COMMA, text] : [text])))
}

/**
 * Returns the offset after the first `count` values of a text, which must have that many. `count`: at least
 * 1.
 */
function offsetAfter(text: Buffer, count: number): number {
  let i = skipWhitespace(text, 0)
  for (let n = 1; ; n++) {
    const end = findValueEnd(text, i)
    if (n === count) return end
    i = nextValue(text, end)
  }
}
