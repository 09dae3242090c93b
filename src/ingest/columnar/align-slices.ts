// Ends slices at the same row in all columns.
import { findValueEnd, joinValues, nextValue, skipWhitespace, yieldToEventLoop } from '../../json/index.ts'
import { ColumnKernel } from '../kernel/columns.ts'
import { findSliceEnds, SliceEnds } from '../values/slice-ends.ts'
import type { SliceSink } from '../values/table.ts'

/** Number of rows that all columns must have before slices are cut. */
const MIN_CUT_ROWS = 65_536
/** Maximum size of buffered text. Beyond it, columns are sliced independently. */
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024

/** Comma-separated JSON of some values of a column. */
interface Values {
  text: Buffer
  rows: number
}

/** Values of a column that are not in a slice yet. */
interface BufferedValues {
  parts: Values[]
  rows: number
}

/** Cuts columns whose values arrive independently into slices that end at the same rows. */
export class AlignedSlices {
  /** Hashed rows since the last end of a slice. */
  private readonly open: BufferedValues[]
  private readonly next: BufferedValues[]
  private readonly ends = new SliceEnds()
  /** Number of columns with fewer than `MIN_CUT_ROWS` rows in `next`. */
  private shortColumns: number
  private bufferedBytes = 0
  private isAligned = true

  constructor(
    private readonly sink: SliceSink,
    columns: number,
    /** Columns whose values decide where slices end. */
    private readonly keys?: readonly number[],
  ) {
    const none = (): BufferedValues => ({ parts: [], rows: 0 })
    this.shortColumns = columns
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
    const wasShort = pending.rows < MIN_CUT_ROWS
    addPart(pending, { text, rows })
    this.bufferedBytes += text.length
    if (wasShort && pending.rows >= MIN_CUT_ROWS) this.shortColumns--
    if (this.shortColumns === 0) await this.cutSlices()
    if (this.bufferedBytes <= MAX_BUFFERED_BYTES) return
    await this.flushOpen(false)
    this.isAligned = false
    for (const [k, values] of this.next.entries()) await this.sendSlice(k, values, false)
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
    const taken: Buffer[] = []
    for (const values of this.next) {
      taken.push(takeRows(values, rows))
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
        addPart(this.open[k], { text: text.subarray(starts[k], stop), rows: end - from })
        starts[k] = stop + 1
      }
      from = end
      if (this.ends.size === 0 || end < rows) await this.flushOpen(true)
    }
    this.shortColumns = this.next.filter((values) => values.rows < MIN_CUT_ROWS).length
  }

  /** Passes the rows since the last end of a slice to the sink. */
  private async flushOpen(ended: boolean): Promise<void> {
    for (const [k, held] of this.open.entries()) {
      await this.sendSlice(k, held, ended)
      this.open[k] = { parts: [], rows: 0 }
    }
  }

  private async sendSlice(column: number, { parts, rows }: BufferedValues, ended: boolean): Promise<void> {
    if (rows === 0) return
    const text = joinParts(parts)
    this.bufferedBytes -= text.length
    await this.sink.slice({ column, rows, form: 'text', text, ended })
  }
}

function addPart(values: BufferedValues, part: Values): void {
  values.parts.push(part)
  values.rows += part.rows
}

/** Takes the first `rows` values. */
function takeRows(values: BufferedValues, rows: number): Buffer {
  const taken: Values[] = []
  for (let left = rows; left > 0; ) {
    const [part] = values.parts
    if (part.rows <= left) {
      taken.push(values.parts.shift()!)
      left -= part.rows
      continue
    }
    const end = offsetAfter(part.text, left)
    taken.push({ text: part.text.subarray(0, end), rows: left })
    values.parts[0] = { text: part.text.subarray(end + 1), rows: part.rows - left }
    left = 0
  }
  values.rows -= rows
  return joinParts(taken)
}

function joinParts(parts: readonly Values[]): Buffer {
  return joinValues(parts.map(({ text }) => text))
}

/**
 * Returns the offset after the first `count` values of a text, which must have that many. `count`: at least
 * 1.
 */
export function offsetAfter(text: Buffer, count: number): number {
  const found = ColumnKernel.endOfValue(text, count)
  if (found !== undefined) return found
  let i = skipWhitespace(text, 0)
  for (let n = 1; ; n++) {
    const end = findValueEnd(text, i)
    if (n === count) return end
    i = nextValue(text, end)
  }
}
