// Updates and removes rows in the slices of columns.
import { type Bounds, boundsOf, boundsTogether } from '../../../ingest/index.ts'
import { breathe, nextValue } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { loadDecompressed, type NewSlice, storeSlices } from '../../store/aggregates/slice-json.ts'
import type { Blobs } from '../../store/objects/blobs.ts'
import { detectValueType } from '../../store/schema/column-types.ts'
import type { SnapshotColumn } from '../column/content.ts'
import { type Cell, type CellReader, RowHashes } from '../column/kernel/cells.ts'
import { partsOf, readCells } from '../column/parts.ts'
import type { MatchedRows } from './match-rows.ts'

/** Bytes of texts that are edited together. */
const BATCH_BYTES = 32 * 1024 * 1024

/** A change of one row of a slice, counted from 0. */
interface RowEdit {
  row: number
  /** The new value; undefined: the row is removed. */
  value: Buffer | undefined
  /** The row of the table that has the value; -1 for a removed row. */
  from: number
}

/**
 * Returns a text of `rows` values with some changed or removed. `edits` are in the order of rows; `cells` are their
 * values in the text.
 */
function spliceRows(text: Buffer, rows: number, edits: readonly RowEdit[], cells: readonly Cell[]): Buffer {
  const parts: Buffer[] = []
  // Where the next row that stays begins, and its number.
  let [at, next] = [0, 0]
  for (const [k, { row, value }] of edits.entries()) {
    const { start, end } = cells[k]
    if (row > next) parts.push(text.subarray(at, beforeComma(text, start)), COMMA)
    if (value) parts.push(value, COMMA)
    at = nextValue(text, end)
    next = row + 1
  }
  if (next < rows) parts.push(text.subarray(at))
  else parts.pop()
  return Buffer.concat(parts)
}

const COMMA = Buffer.from(',')

/** Returns the index of the comma before a value. */
function beforeComma(text: Buffer, start: number): number {
  let end = start
  while (text[end - 1] !== 0x2c) end--
  return end - 1
}

/** Returns by how many nulls edits increase the number of nulls. */
function countNewNulls(edits: readonly RowEdit[], cells: readonly Cell[]): number {
  let more = 0
  for (const [k, { value }] of edits.entries()) {
    const { buf, start, end } = cells[k]
    if (detectValueType(buf, start, end) === 'empty') more--
    if (value && value[0] === 0x6e) more++
  }
  return more
}

/** A slice that changes, with its position among the slices of the column. */
interface EditedSlice {
  at: number
  slice: SliceRef
  text: Buffer
  edits: RowEdit[]
}

/** Edits columns one by one: matched rows get the values of the table, and missing rows are removed. */
export class ColumnEditor {
  private readonly removed: Int32Array
  /** 1 for each matched row of which a value has changed. */
  private readonly changed: Uint8Array

  constructor(
    private readonly blobs: Blobs,
    private readonly owner: string,
    private readonly reader: CellReader,
    private readonly rows: MatchedRows,
    /** Rows of the table. */
    private readonly sourceRows: number,
    isRemoving: boolean,
  ) {
    this.removed = isRemoving ? rows.missing : new Int32Array(0)
    this.changed = new Uint8Array(rows.matched.length)
  }

  /** Number of matched rows that have changed in the columns edited so far. */
  get changedRows(): number {
    return this.changed.reduce((sum, one) => sum + one, 0)
  }

  /** Returns the slices of a column after the change. Slices in which no row changes stay as they are. */
  async edit(column: SnapshotColumn, source: SnapshotColumn | undefined): Promise<SliceRef[]> {
    const { blobs } = this
    const parts = source && partsOf({ blobs, columns: [], rows: this.sourceRows }, source)
    const hashes = parts && (await this.hashValues(parts))
    const slices: (SliceRef | undefined)[] = [...column.slices]
    let batch: EditedSlice[] = []
    const flush = async (): Promise<void> => {
      if (parts) await this.loadValues(parts, batch)
      for (const [at, slice] of await this.store(batch)) slices[at] = slice
      batch = []
    }
    let [from, nextMatched, nextRemoved] = [0, 0, 0]
    for (const [at, slice] of column.slices.entries()) {
      const end = from + slice.rows
      const [firstMatched, firstRemoved] = [nextMatched, nextRemoved]
      const { matched } = this.rows
      while (nextMatched < matched.length && matched[nextMatched].row < end) nextMatched++
      while (nextRemoved < this.removed.length && this.removed[nextRemoved] < end) nextRemoved++
      const mayChange = (hashes && nextMatched > firstMatched) || nextRemoved > firstRemoved
      if (mayChange) {
        const text = await loadDecompressed(blobs, slice)
        const range: [number, number] = [firstMatched, nextMatched]
        const edits = hashes ? this.findChanges(text, slice.rows, from, range, hashes) : []
        for (let k = firstRemoved; k < nextRemoved; k++)
          edits.push({ row: this.removed[k] - from, value: undefined, from: -1 })
        if (edits.length > 0) {
          edits.sort((a, b) => a.row - b.row)
          batch.push({ at, slice, text, edits })
          if (batch.reduce((sum, one) => sum + one.text.length, 0) > BATCH_BYTES) await flush()
        }
      }
      from = end
    }
    await flush()
    return slices.filter((slice) => slice !== undefined)
  }

  /** Loads the new values of edits from the table, in the order of its rows. */
  private async loadValues(parts: ReturnType<typeof partsOf>, batch: readonly EditedSlice[]): Promise<void> {
    const edits = batch.flatMap((one) => one.edits).filter(({ from }) => from >= 0)
    edits.sort((a, b) => a.from - b.from)
    const rows = edits.map(({ from }) => from)
    const values = await readCells(this.reader, parts, rows)
    for (const [k, edit] of edits.entries()) edit.value = Buffer.from(values[k])
  }

  /** Stores edited slices. Returns each with its position; undefined if no row is left of it. */
  private async store(batch: readonly EditedSlice[]): Promise<[number, SliceRef | undefined][]> {
    const texts: (NewSlice | undefined)[] = []
    for (const one of batch) {
      texts.push(this.editedText(one))
      await breathe()
    }
    const filled = texts.filter((text) => text !== undefined)
    const refs = await storeSlices(this.blobs, this.owner, filled)
    return batch.map(({ at }, k) => [at, texts[k] && refs.shift()])
  }

  private async hashValues(parts: ReturnType<typeof partsOf>): Promise<RowHashes> {
    const hashes = new RowHashes(this.sourceRows)
    for (const part of parts) this.reader.hash(await part.load(), hashes, part.from, false)
    return hashes
  }

  /** Returns edits of the matched rows from..to whose values differ from the table. `first`: row of the grid of the first value. */
  private findChanges(
    text: Buffer,
    rows: number,
    first: number,
    [from, to]: [number, number],
    hashes: RowHashes,
  ): RowEdit[] {
    const own = new RowHashes(rows)
    this.reader.hash(text, own, 0, false)
    const edits: RowEdit[] = []
    for (let k = from; k < to; k++) {
      const { row, from: source } = this.rows.matched[k]
      if (own.isSame(row - first, hashes, source)) continue
      this.changed[k] = 1
      edits.push({ row: row - first, value: undefined, from: source })
    }
    return edits
  }

  /** Returns the values of an edited slice; undefined if no row is left. */
  private editedText({ slice, text, edits }: EditedSlice): NewSlice | undefined {
    const cells = this.reader.find(
      text,
      edits.map(({ row }) => row),
    )
    const gone = edits.filter(({ value }) => value === undefined).length
    const rows = slice.rows - gone
    if (rows === 0) return undefined
    const spliced = spliceRows(text, slice.rows, edits, cells)
    return { rows, text: spliced, ended: slice.ended, bounds: boundsAfter(slice, edits, cells) }
  }
}

/** Returns bounds of a slice after edits: those before, widened by the new values. Undefined if they are not known. */
function boundsAfter(
  { bounds, rows }: SliceRef,
  edits: readonly RowEdit[],
  cells: readonly Cell[],
): Bounds | undefined {
  if (!bounds) return undefined
  const values = edits.flatMap(({ value }) => (value ? [value, COMMA] : []))
  if (values.length === 0) return { ...bounds, nulls: bounds.nulls + countNewNulls(edits, cells) }
  const more = boundsOf(Buffer.concat(values.slice(0, -1)))
  const together = boundsTogether(bounds, more, [rows, values.length / 2])
  return { ...together, nulls: bounds.nulls + countNewNulls(edits, cells) }
}
