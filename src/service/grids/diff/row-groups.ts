// Splits a table into the row groups of its compared columns.
import { loadAhead, type WorkBudget } from '../../../json/index.ts'
import type { Comparison } from '../../store/schema/column-types.ts'
import { batchChunks, type ColumnChunk, columnChunksOf } from '../column/chunks.ts'
import { findFirst } from '../column/find-first.ts'
import type { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { chunksWithin, type RowGroup, splitRows } from '../column/row-groups.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'

/** A row group that can be compared with others. */
export interface ComparedGroup extends RowGroup {
  /** Row groups with the same id have the same rows. Undefined if some rows are in the tail. */
  id: string | undefined
}

/**
 * Columns of a table that are compared, in row groups. `choose` sets the row groups to read; their rows are
 * then numbered consecutively from 0 (the index of a row).
 */
export class GroupedTable {
  readonly rowGroups: ComparedGroup[]
  readonly chunks: ColumnChunk[][]
  readonly rows: number
  /** Number of rows to read. */
  chosenRows = 0
  /** Row groups to read, each with the index of its first row. */
  private chosen: { chunk: ComparedGroup; at: number }[] = []

  constructor(
    private readonly snap: Snapshot,
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
  choose(chunks: readonly ComparedGroup[]): number {
    this.chosenRows = 0
    this.chosen = chunks.map((chunk) => {
      this.chosenRows += chunk.rows
      return { chunk, at: this.chosenRows - chunk.rows }
    })
    return this.chosenRows
  }

  /** Returns the row of the table for an index. */
  rowOf(index: number): number {
    const { chunk, at } = this.chosen[findFirst(this.chosen.length, (k) => this.chosen[k].at > index) - 1]
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
    const blobs = batchChunks(
      this.snap.blobs,
      needed.map(({ part }) => part),
    )
    for await (const loaded of loadAhead(needed, async (placed) => ({
      ...placed,
      text: await placed.part.load(blobs),
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
    comparison: Comparison,
    each?: (text: Buffer) => void,
  ): Promise<number | undefined> {
    let firstNull: number | undefined
    for await (const { text, index } of this.loadChunks(column)) {
      each?.(text)
      const nullIndex = reader.addHashes(text, target, index, comparison)
      firstNull ??= nullIndex
    }
    return firstNull
  }
}

/** Splits rows into groups, and identifies each by its content. */
function rowGroupsOf(columns: readonly (readonly ColumnChunk[])[], rows: number): ComparedGroup[] {
  return splitRows(columns, rows).map((range) => ({ ...range, id: contentIdOf(columns, range) }))
}

function contentIdOf(columns: readonly (readonly ColumnChunk[])[], range: RowGroup): string | undefined {
  if (columns.length === 0) return undefined
  const parts = columns.map((own) => chunksWithin(own, range))
  if (parts.flat().some(({ contentKey }) => contentKey === undefined)) return undefined
  return parts.map((own) => own.map(({ contentKey, rows }) => `${contentKey}:${rows}`).join()).join('|')
}
