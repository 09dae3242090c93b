// Inputs of a diff, and hashes of chosen rows.
import { Problem } from '../../../contract/errors.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { mergeSort } from '../../../query/merge-sort.ts'
import type { Comparison } from '../../store/schema/column-types.ts'
import { findFirst } from '../column/find-first.ts'
import { type CellReader, RowHashes } from '../column/kernel/cells.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import type { GroupedTable } from './row-groups.ts'

/** A table to compare, and its name in messages. */
export interface DiffInput {
  name: string
  snap: Snapshot
}

export interface DiffOptions {
  /** Columns to match rows by. Without a key, rows are compared in order. */
  key: readonly string[]
  /** Columns to compare; default: all. */
  columns?: readonly string[]
  ignore?: readonly string[]
  /** Numbers that differ by no more are equal. */
  tolerance?: number
  /** True if columns are matched by uid, and only then by name. */
  isSameGrid?: boolean
  work?: WorkBudget
  /** True if people read the diff: without a key, finds a column that helps to recognize rows. */
  context?: boolean
}

/** A column of both tables. */
export interface ColumnPair {
  before: SnapshotColumn
  after: SnapshotColumn
  comparison: Comparison
  isKey: boolean
}

/** Two tables with their compared columns. */
export interface ComparedTables {
  before: DiffInput
  after: DiffInput
  left: GroupedTable
  right: GroupedTable
  pairs: readonly ColumnPair[]
  reader: CellReader
  work: WorkBudget
}

/** A changed row: its row numbers in both tables, from 0; −1 in a table that lacks it. */
export interface RowChange {
  before: number
  after: number
}

/** Pairs of rows that may differ: the row `before[k]` has become `after[k]`. Indexes: see `GroupedTable`. */
export interface RowPairs {
  before: Int32Array
  after: Int32Array
}

/** List of rows that can be searched by row number. Positions are those in the list. */
export class RowList {
  private constructor(
    private readonly rows: Int32Array,
    private readonly order: Uint32Array,
  ) {}

  static async create(rows: Int32Array, work: WorkBudget): Promise<RowList> {
    const order = new Uint32Array(rows.length)
    let isAscending = true
    for (let k = 0; k < rows.length; k++) {
      order[k] = k
      if (k > 0 && rows[k] < rows[k - 1]) isAscending = false
      if (work.spend(1)) await work.pause()
    }
    return new RowList(rows, isAscending ? order : await mergeSort(order, (a, b) => rows[a] - rows[b], work))
  }

  get length(): number {
    return this.rows.length
  }

  rowAt(k: number): number {
    return this.rows[k]
  }

  /** Returns the positions of the rows from..from + count, by ascending row. */
  positionsWithin(from: number, count: number): number[] {
    const positions: number[] = []
    for (let n = this.firstIndex(from); n < this.order.length && this.rows[this.order[n]] < from + count; n++)
      positions.push(this.order[n])
    return positions
  }

  /**
   * Returns whether the list has a row in [from, from + count). Ignores entries of the list that are 1 in `same`.
   */
  hasRowWithin(from: number, count: number, same?: Uint8Array): boolean {
    for (let n = this.firstIndex(from); n < this.order.length && this.rows[this.order[n]] < from + count; n++)
      if (same?.[this.order[n]] !== 1) return true
    return false
  }

  /** Returns the index in `order` of the first row that is at least `row`. */
  private firstIndex(row: number): number {
    return findFirst(this.order.length, (k) => this.rows[this.order[k]] >= row)
  }
}

/**
 * Hashes the values of a list of rows, in list order. Chunks are skipped if `same` marks all of their rows.
 */
export async function hashRows(
  { left, right, pairs, reader }: ComparedTables,
  side: 'left' | 'right',
  column: number,
  wanted: RowList,
  same?: Uint8Array,
): Promise<RowHashes> {
  const table = side === 'left' ? left : right
  const picked = new RowHashes(wanted.length)
  const isNeeded = (part: { rows: number }, index: number): boolean =>
    wanted.hasRowWithin(index, part.rows, same)
  for await (const { text, index, rows } of table.loadChunks(column, isNeeded)) {
    const partHashes = new RowHashes(rows)
    reader.addHashes(text, partHashes, 0, pairs[column].comparison)
    for (const k of wanted.positionsWithin(index, rows)) {
      const row = wanted.rowAt(k) - index
      picked.low[k] = partHashes.low[row]
      picked.high[k] = partHashes.high[row]
    }
  }
  return picked
}

/** Matched rows. `single`: rows of one table only; `pairs`: rows of both that may differ. */
export interface MatchedRows {
  single: RowChange[]
  pairs: RowPairs
  /** With a key: whether the rows of both tables have different orders. */
  isReordered?: boolean
}

/** Maximum number of rows per table in row groups that differ. */
export const MAX_DIFF_ROWS = 20_000_000

/** Throws `too_large` if more than `MAX_DIFF_ROWS` rows must be read. */
export function checkRowLimit(a: number, b: number): void {
  if (Math.max(a, b) <= MAX_DIFF_ROWS) return
  throw new Problem(
    'too_large',
    `${Math.max(a, b)} rows differ in their slices; the limit is ${MAX_DIFF_ROWS}`,
  )
}
