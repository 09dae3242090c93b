// Splits a table into row groups: ranges of rows that end where the slices of all columns end.
import { loadAhead, type WorkBudget } from '../../../json/index.ts'
import { type ColumnChunk, columnChunksOf } from '../column/chunks.ts'
import type { CellReader, RowHashes } from '../column/kernel/cells.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'

/** Range of rows that consists of whole chunks of every column. */
export interface RowGroup {
  from: number
  rows: number
  /** Row groups with the same id have the same rows. Undefined if some rows are in the tail. */
  id: string | undefined
}

/**
 * Columns of a table that are compared, in row groups. `choose` sets the row groups to read; their rows are
 * then numbered consecutively from 0 (the index of a row).
 */
export class GroupedTable {
  readonly rowGroups: RowGroup[]
  readonly chunks: ColumnChunk[][]
  readonly rows: number
  /** Number of rows to read. */
  chosenRows = 0
  /** Row groups to read, each with the index of its first row. */
  private chosen: { chunk: RowGroup; at: number }[] = []

  constructor(
    snap: Snapshot,
    columns: readonly SnapshotColumn[],
    private readonly work: WorkBudget,
  ) {
    this.rows = snap.rows
    this.chunks = columns.map((column) => columnChunksOf(snap, column))
    this.rowGroups = rowGroupsOf(this.chunks, this.rows)
  }

  /** Size of the largest chunk, in bytes. */
  get largestChunkBytes(): number {
    return Math.max(0, ...this.chunks.flat().map(({ bytes }) => bytes))
  }

  /** Sets the row groups to read. Returns their number of rows. */
  choose(chunks: readonly RowGroup[]): number {
    this.chosenRows = 0
    this.chosen = chunks.map((chunk) => {
      this.chosenRows += chunk.rows
      return { chunk, at: this.chosenRows - chunk.rows }
    })
    return this.chosenRows
  }

  /** Returns the row of the table for an index. */
  rowOf(index: number): number {
    let [low, high] = [0, this.chosen.length - 1]
    while (low < high) {
      const half = (low + high + 1) >> 1
      if (this.chosen[half].at <= index) low = half
      else high = half - 1
    }
    const { chunk, at } = this.chosen[low]
    return chunk.from + index - at
  }

  /** Returns the chunks of a column to read, with the index of their first rows. */
  listChunks(column: number): { part: ColumnChunk; index: number }[] {
    const parts = this.chunks[column]
    return this.chosen.flatMap(({ chunk, at }) =>
      chunksWithin(parts, chunk).map((part) => ({ part, index: at + part.from - chunk.from })),
    )
  }

  /** Loads the chunks of a column to read, with the index of their first rows. `isNeeded` can skip chunks. */
  async *loadChunks(
    column: number,
    isNeeded: (part: ColumnChunk, index: number) => boolean = () => true,
  ): AsyncGenerator<{ text: Buffer; part: ColumnChunk; index: number; rows: number }> {
    const needed = this.listChunks(column).filter(({ part, index }) => isNeeded(part, index))
    for await (const loaded of loadAhead(needed, async (placed) => ({
      ...placed,
      text: await placed.part.load(),
    }))) {
      yield { ...loaded, rows: loaded.part.rows }
      this.work.spend(loaded.part.bytes)
      await this.work.pause()
    }
  }

  /**
   * Adds a column to the hashes of all rows to read. Returns the index of the first null; undefined without
   * one. `each` is called with every chunk.
   */
  async hash(
    reader: CellReader,
    column: number,
    target: RowHashes,
    asText: boolean,
    each?: (text: Buffer) => void,
  ): Promise<number | undefined> {
    let firstNull: number | undefined
    for await (const { text, index } of this.loadChunks(column)) {
      each?.(text)
      const nullIndex = reader.addHashes(text, target, index, asText)
      firstNull ??= nullIndex
    }
    return firstNull
  }
}

/** Returns the chunks of a column within a row group. */
export function chunksWithin(parts: readonly ColumnChunk[], { from, rows }: RowGroup): ColumnChunk[] {
  return parts.filter((part) => part.from >= from && part.from < from + rows)
}

/** Splits rows where chunks of all columns end. */
function rowGroupsOf(columns: readonly (readonly ColumnChunk[])[], rows: number): RowGroup[] {
  if (columns.length === 0) return rows > 0 ? [{ from: 0, rows, id: undefined }] : []
  const ends = new Map<number, number>()
  for (const parts of columns)
    for (const { from, rows: count } of parts) ends.set(from + count, (ends.get(from + count) ?? 0) + 1)
  const chunks: RowGroup[] = []
  let from = 0
  const next = columns.map(() => 0)
  for (const [end, count] of [...ends].sort(([a], [b]) => a - b)) {
    if (count < columns.length) continue
    const ids: string[] = []
    let isStored = true
    for (const [k, parts] of columns.entries()) {
      for (; next[k] < parts.length && parts[next[k]].from < end; next[k]++) {
        const { contentKey, rows: partRows } = parts[next[k]]
        if (contentKey === undefined) isStored = false
        ids.push(`${contentKey}:${partRows}`)
      }
      ids.push('|')
    }
    chunks.push({ from, rows: end - from, id: isStored ? ids.join() : undefined })
    from = end
  }
  return chunks
}
