// Updates and removes rows in the slices of columns.
import { type Bounds, boundsOf, mergeBounds } from '../../../ingest/slices.ts'
import { joinValues, loadAhead, nextValue, yieldToEventLoop } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { loadDecompressed, type NewSlice, storeSlices } from '../../store/aggregates/slice-json.ts'
import type { Blobs } from '../../store/objects/blobs.ts'
import { type Comparison, comparisonOf } from '../../store/schema/column-types.ts'
import { batchChunks, columnChunksOf, readCells } from '../column/chunks.ts'
import { type Cell, type CellReader, RowHashes } from '../column/kernel/cells.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import type { MatchedRows } from './match-rows.ts'

/** Size of slices that are edited together, in bytes. */
const BATCH_BYTES = 32 * 1024 * 1024

/** A change of one row of a slice. */
interface RowEdit {
  /** Row of the slice, from 0. */
  row: number
  /** New value; undefined if the row is removed. */
  value: Buffer | undefined
  /** Row of the table that has the new value; -1 if the row is removed. */
  from: number
}

/**
 * Applies edits to a column JSON of `rows` values. `edits` ascend by row; `cells` are their current values.
 */
function applyEdits(text: Buffer, rows: number, edits: readonly RowEdit[], cells: readonly Cell[]): Buffer {
  const added = edits.reduce((sum, { value }) => sum + (value ? value.length + 1 : 0), 0)
  const out = Buffer.allocUnsafe(text.length + added)
  // Offset and number of the next row that is kept; end of the output.
  let [at, next, to] = [0, 0, 0]
  for (let k = 0; k < edits.length; k++) {
    const { row, value } = edits[k]
    const { start, end } = cells[k]
    if (row > next) to += text.copy(out, to, at, commaBefore(text, start) + 1)
    if (value) {
      to += value.copy(out, to)
      out[to++] = COMMA
    }
    at = nextValue(text, end)
    next = row + 1
  }
  // Without a row after the last edit, the last comma separates nothing.
  if (next < rows) to += text.copy(out, to, at)
  else to--
  return out.subarray(0, to)
}

const COMMA = 0x2c
const LETTER_N = 0x6e

/** Joins values to a column JSON. */
function joinCells(cells: readonly Cell[]): Buffer {
  return joinValues(cells.map(({ buf, start, end }) => buf.subarray(start, end)))
}

/** Returns the index of the comma before a value. */
function commaBefore(text: Buffer, start: number): number {
  let end = start
  while (text[end - 1] !== COMMA) end--
  return end - 1
}

/** Returns how many nulls the edits add; negative if they remove nulls. */
function countNewNulls(edits: readonly RowEdit[], cells: readonly Cell[]): number {
  let count = 0
  for (let k = 0; k < edits.length; k++) {
    const { value } = edits[k]
    if (cells[k].buf[cells[k].start] === LETTER_N) count--
    if (value && value[0] === LETTER_N) count++
  }
  return count
}

/** A slice with its edits. `at`: position among the slices of the column. */
interface EditedSlice {
  at: number
  slice: SliceRef
  text: Buffer
  edits: RowEdit[]
}

/** A slice that may change. `matched`: range of its matched rows; `removed`: its removed rows of the grid. */
interface TouchedSlice {
  at: number
  slice: SliceRef
  /** Row of the grid that is the first of the slice. */
  from: number
  matched: [number, number]
  removed: Int32Array
}

interface LoadedSlice extends TouchedSlice {
  text: Buffer
}

/** Edits columns one at a time: matched rows get the values of the table, and missing rows can be removed. */
export class ColumnEditor {
  /** 1 for each matched row with a changed value. */
  private readonly isChangedRow: Uint8Array

  constructor(
    private readonly target: { blobs: Blobs; owner: string },
    private readonly reader: CellReader,
    private readonly rows: MatchedRows,
    /** Rows of the grid that are removed. */
    private readonly removed: Int32Array,
    /** Number of rows of the table. */
    private readonly sourceRows: number,
  ) {
    this.isChangedRow = new Uint8Array(rows.matched.length)
  }

  /** Number of matched rows with a changed value in the columns edited so far. */
  get changedRows(): number {
    return this.isChangedRow.reduce((sum, isChanged) => sum + isChanged, 0)
  }

  /** Returns the slices of a column after the change. Slices without changed rows are kept. */
  async edit(column: SnapshotColumn, source: SnapshotColumn | undefined): Promise<SliceRef[]> {
    const parts =
      source && columnChunksOf({ blobs: this.target.blobs, columns: [], rows: this.sourceRows }, source)
    // 5 and "5" are different cells, but a date in another form is no change.
    const areMoments = source !== undefined && comparisonOf(column.type, source.type) === 'moment'
    const comparison = areMoments ? 'moment' : 'value'
    const hashes = parts && (await this.hashValues(parts, comparison))
    const slices: (SliceRef | undefined)[] = [...column.slices]
    let batch: EditedSlice[] = []
    const flush = async (): Promise<void> => {
      if (parts) await this.loadValues(parts, batch)
      for (const [at, slice] of await this.store(batch)) slices[at] = slice
      batch = []
    }
    const touched = this.listTouched(column.slices, hashes !== undefined)
    const blobs = batchChunks(this.target.blobs, touched)
    const loaded = loadAhead(touched, async (one) => ({
      ...one,
      text: await loadDecompressed(blobs, one.slice),
    }))
    for await (const one of loaded) {
      const { at, slice, from, text, removed } = one
      const edits = hashes ? this.findChanges(one, hashes, comparison) : []
      for (const row of removed) edits.push({ row: row - from, value: undefined, from: -1 })
      if (edits.length === 0) continue
      edits.sort((a, b) => a.row - b.row)
      batch.push({ at, slice, text, edits })
      if (batch.reduce((sum, one) => sum + one.text.length, 0) > BATCH_BYTES) await flush()
    }
    await flush()
    return slices.filter((slice) => slice !== undefined)
  }

  /** Returns the slices that may change: those with removed rows and, with `hasValues`, with matched rows. */
  private listTouched(slices: readonly SliceRef[], hasValues: boolean): TouchedSlice[] {
    const { matched } = this.rows
    const touched: TouchedSlice[] = []
    let [from, nextMatched, nextRemoved] = [0, 0, 0]
    for (const [at, slice] of slices.entries()) {
      const end = from + slice.rows
      const [firstMatched, firstRemoved] = [nextMatched, nextRemoved]
      while (nextMatched < matched.length && matched[nextMatched].row < end) nextMatched++
      while (nextRemoved < this.removed.length && this.removed[nextRemoved] < end) nextRemoved++
      if ((hasValues && nextMatched > firstMatched) || nextRemoved > firstRemoved)
        touched.push({
          at,
          slice,
          from,
          matched: [firstMatched, nextMatched],
          removed: this.removed.subarray(firstRemoved, nextRemoved),
        })
      from = end
    }
    return touched
  }

  /** Loads the new values of edits from the table, and sets them. */
  private async loadValues(
    parts: ReturnType<typeof columnChunksOf>,
    batch: readonly EditedSlice[],
  ): Promise<void> {
    const edits = batch.flatMap((slice) => slice.edits).filter(({ from }) => from >= 0)
    edits.sort((a, b) => a.from - b.from)
    const rows = edits.map(({ from }) => from)
    const values = await readCells(this.reader, parts, rows)
    for (const [k, edit] of edits.entries()) edit.value = Buffer.from(values[k])
  }

  /** Stores edited slices. Returns each with its position; undefined if all of its rows are removed. */
  private async store(batch: readonly EditedSlice[]): Promise<[number, SliceRef | undefined][]> {
    const texts: (NewSlice | undefined)[] = []
    for (const slice of batch) {
      texts.push(this.editText(slice))
      await yieldToEventLoop()
    }
    const filled = texts.filter((text) => text !== undefined)
    const refs = await storeSlices(this.target.blobs, this.target.owner, filled)
    return batch.map(({ at }, k) => [at, texts[k] && refs.shift()])
  }

  private async hashValues(
    parts: ReturnType<typeof columnChunksOf>,
    comparison: Comparison,
  ): Promise<RowHashes> {
    const hashes = new RowHashes(this.sourceRows)
    for (const part of parts) this.reader.addHashes(await part.load(), hashes, part.from, comparison)
    return hashes
  }

  /** Returns edits of the matched rows of a slice whose values differ. */
  private findChanges(
    { text, slice: { rows }, from: first, matched: [from, to] }: LoadedSlice,
    hashes: RowHashes,
    comparison: Comparison,
  ): RowEdit[] {
    const { matched } = this.rows
    const inSlice = matched.slice(from, to).map(({ row }) => row - first)
    const sliceHashes = this.hashCells(text, rows, inSlice, comparison)
    const edits: RowEdit[] = []
    for (let k = from; k < to; k++) {
      const { row, from: source } = matched[k]
      if (sliceHashes.isSame(k - from, hashes, source)) continue
      this.isChangedRow[k] = 1
      edits.push({ row: row - first, value: undefined, from: source })
    }
    return edits
  }

  /** Returns the hashes of chosen values of a slice, which ascend by row. */
  private hashCells(
    text: Buffer,
    rows: number,
    chosen: readonly number[],
    comparison: Comparison,
  ): RowHashes {
    // Most values: finding them takes as long as hashing all.
    const areMost = chosen.length * 4 > rows
    const values = areMost ? text : joinCells(this.reader.findCells(text, chosen))
    const hashes = new RowHashes(areMost ? rows : chosen.length)
    this.reader.addHashes(values, hashes, 0, comparison)
    return areMost ? hashes.pick(chosen) : hashes
  }

  /** Returns the new content of a slice; undefined if all of its rows are removed. */
  private editText({ slice, text, edits }: EditedSlice): NewSlice | undefined {
    const cells = this.reader.findCells(
      text,
      edits.map(({ row }) => row),
    )
    const removedCount = edits.filter(({ value }) => value === undefined).length
    const rows = slice.rows - removedCount
    if (rows === 0) return undefined
    const spliced = applyEdits(text, slice.rows, edits, cells)
    return { rows, text: spliced, ended: slice.ended, bounds: widenBounds(slice, edits, cells) }
  }
}

/** Widens the bounds of a slice by the new values of edits. Undefined if the slice has no bounds. */
function widenBounds(
  { bounds, rows }: SliceRef,
  edits: readonly RowEdit[],
  cells: readonly Cell[],
): Bounds | undefined {
  if (!bounds) return undefined
  const values = edits.flatMap(({ value }) => value ?? [])
  const nulls = bounds.nulls + countNewNulls(edits, cells)
  if (values.length === 0) return { ...bounds, nulls }
  const widened = mergeBounds(bounds, boundsOf(joinValues(values)), [rows, values.length])
  return { ...widened, nulls }
}
