// Compares row groups with the same rows in both tables. Only columns whose slices differ are read, once.
import { loadAhead } from '../../../json/index.ts'
import { batchChunks, type ColumnChunk } from '../column/chunks.ts'
import { RowHashes } from '../column/kernel/cells.ts'
import { chunksWithin } from '../column/row-groups.ts'
import { isNear } from './changed-cells.ts'
import type { RowRange } from './common-subsequence.ts'
import type { ComparedTables, RowChange } from './diff-inputs.ts'
import type { ComparedGroup } from './row-groups.ts'

/** A row group of each table, with the same number of rows. */
export interface RowGroupPair {
  a: ComparedGroup
  b: ComparedGroup
}

/**
 * Maximum share of changed rows, without a key. Above it, rows have probably moved: they are aligned instead.
 */
const MAX_CHANGED_SHARE = 0.25

/** Row groups of up to this many rows are always aligned, without a key: it is cheap. */
const MIN_PAIRED_ROWS = 4096

/** Compares pairs of row groups row by row, and collects changes. */
export class PairedRowGroups {
  readonly changes: RowChange[] = []
  /** Number of changed cells, by column pair. */
  readonly cells: number[]
  /** Hashes of the chunks that are being compared. */
  private hashes: HashPair = { before: new RowHashes(0), after: new RowHashes(0) }

  constructor(
    private readonly tables: ComparedTables,
    private readonly tolerance: number,
    /** True if the rows of a pair have equal keys, so that they are the same rows. */
    private readonly isKeyed: boolean,
  ) {
    this.cells = tables.pairs.map(() => 0)
  }

  /** Compares pairs. Returns those whose rows are not at the same positions; nothing is recorded for them. */
  async compare(pairs: readonly RowGroupPair[]): Promise<RowGroupPair[]> {
    const unaligned: RowGroupPair[] = []
    const work = pairs.map((pair) => ({ pair, columns: this.differingColumnsOf(pair) }))
    const all = work.flatMap(({ columns }) => columns.flatMap(({ parts }) => parts))
    const { before, after } = this.tables
    const [left, right] = [before, after].map(({ snap }, side) =>
      batchChunks(
        snap.blobs,
        all.map((parts) => parts[side]),
      ),
    )
    const texts = loadAhead(all, ([x, y]) => Promise.all([x.load(left), y.load(right)]))
    for (const { pair, columns } of work) {
      const rows = new ChangedRows(pair.a.rows, this.tables.pairs.length)
      for (const { column, parts } of columns) {
        for (const [a] of parts) {
          const [textA, textB] = (await texts.next()).value!
          /**
           * Returns the rows, of the first `count`, in which two chunks of a column differ by more than the
           * tolerance, and sets `hashes` to their hashes.
           */
          const different = this.compareTexts(column, textA, textB, a.rows)
          const from = a.from - pair.a.from
          rows.add(column, { from, to: from + a.rows }, different, this.hashes)
          await this.tables.work.spendAndPause(textA.length + textB.length)
        }
      }
      if (this.isKeyed || rows.areInPlace()) this.record(pair, rows)
      else unaligned.push(pair)
    }
    return unaligned
  }

  /** Returns the columns whose chunks differ, with these chunks in both tables. */
  private differingColumnsOf({
    a,
    b,
  }: RowGroupPair): { column: number; parts: [ColumnChunk, ColumnChunk][] }[] {
    const { left, right, pairs } = this.tables
    return pairs.flatMap((_, column) => {
      const partsAfter = chunksWithin(right.chunks[column], b)
      const parts = chunksWithin(left.chunks[column], a).map((part, k): [ColumnChunk, ColumnChunk] => [
        part,
        partsAfter[k],
      ])
      const different = parts.filter(([x, y]) => x.contentKey === undefined || x.contentKey !== y.contentKey)
      return different.length > 0 ? [{ column, parts: different }] : []
    })
  }

  /** Returns the rows, among `count`, in which two chunks of a column differ. Sets `hashes`. */
  private compareTexts(column: number, a: Buffer, b: Buffer, count: number): number[] {
    const { reader, pairs } = this.tables
    const { comparison } = pairs[column]
    const before = clearHashes(this.hashes.before, count)
    const after = clearHashes(this.hashes.after, count)
    this.hashes = { before, after }
    reader.addHashes(a, before, 0, comparison)
    reader.addHashes(b, after, 0, comparison)
    const different: number[] = []
    for (let row = 0; row < count; row++) if (!before.isSame(row, after, row)) different.push(row)
    if (this.tolerance === 0 || comparison !== 'value' || different.length === 0) return different
    const textsA = reader
      .findCells(a, different)
      .map(({ buf, start, end }) => buf.toString('utf8', start, end))
    const cellsB = reader.findCells(b, different)
    return different.filter((_, k) => {
      const { buf, start, end } = cellsB[k]
      return !isNear(textsA[k], buf.toString('utf8', start, end), this.tolerance)
    })
  }

  private record({ a, b }: RowGroupPair, rows: ChangedRows): void {
    for (const row of rows.list()) this.changes.push({ before: a.from + row, after: b.from + row })
    for (const [column, count] of rows.cells.entries()) this.cells[column] += count
  }
}

/** Returns cleared hashes of at least `rows` rows. Reuses `hashes` if they are long enough. */
function clearHashes(hashes: RowHashes, rows: number): RowHashes {
  if (hashes.low.length < rows) return new RowHashes(rows * 2)
  hashes.low.fill(0, 0, rows)
  hashes.high.fill(0, 0, rows)
  return hashes
}

/** Hashes of the same rows in both tables. */
interface HashPair {
  before: RowHashes
  after: RowHashes
}

/** Changed rows of a pair of row groups, with hashes of each row over the columns that differ. */
class ChangedRows {
  readonly cells: number[]
  private readonly isChanged: Uint8Array
  private readonly before: RowHashes
  private readonly after: RowHashes

  constructor(
    private readonly rows: number,
    columns: number,
  ) {
    this.cells = new Array(columns).fill(0)
    this.isChanged = new Uint8Array(rows)
    this.before = new RowHashes(rows)
    this.after = new RowHashes(rows)
  }

  /** Adds the hashes of a column in a range of rows. `different`: changed rows, from the start of the range. */
  add(column: number, { from, to }: RowRange, different: readonly number[], hashes: HashPair): void {
    this.before.combine(from, hashes.before, to - from)
    this.after.combine(from, hashes.after, to - from)
    this.cells[column] += different.length
    for (const row of different) this.isChanged[from + row] = 1
  }

  list(): number[] {
    const rows: number[] = []
    for (let row = 0; row < this.rows; row++) if (this.isChanged[row] === 1) rows.push(row)
    return rows
  }

  /**
   * Returns whether cells have changed and not the positions of rows: no row equals one that was next to it.
   */
  areInPlace(): boolean {
    const rows = this.list()
    if (this.rows <= MIN_PAIRED_ROWS || rows.length > this.rows * MAX_CHANGED_SHARE) return false
    for (let from = 0; from < rows.length; ) {
      let to = from + 1
      while (to < rows.length && rows[to] === rows[to - 1] + 1) to++
      if (to - from > 1 && !this.areNew(rows.slice(from, to))) return false
      from = to
    }
    return true
  }

  /** Returns whether none of these rows now equals what one of them was. */
  private areNew(rows: readonly number[]): boolean {
    const before = new Set(rows.map((row) => this.before.low[row]))
    return !rows.some((row) => before.has(this.after.low[row]))
  }
}
