/** What is compared, and the values of some of its rows. */
import type { Work } from '../../../json/index.ts'
import type { Snapshot, SnapshotColumn } from '../column/content.ts'
import { type CellReader, RowHashes } from '../column/kernel/cells.ts'
import { mergeSort } from '../read/order.ts'
import type { ChunkedTable } from './chunks.ts'

/** A table, and how messages call it. */
export interface Side {
  name: string
  snap: Snapshot
}

/** A column of both tables. */
export interface Pair {
  before: SnapshotColumn
  after: SnapshotColumn
  /** Values are compared by their texts: the column has numbers in one table, and texts in the other. */
  asText: boolean
  isKey: boolean
}

/** Two tables with the columns that are compared. */
export interface Tables {
  before: Side
  after: Side
  left: ChunkedTable
  right: ChunkedTable
  pairs: readonly Pair[]
  reader: CellReader
  work: Work
}

/** A row that differs, by its numbers in both tables from 0; −1 in a table that lacks it. */
export interface RowChange {
  before: number
  after: number
}

/** Rows of both tables that may differ, by their numbers among those that are read. */
export interface RowPairs {
  before: Int32Array
  after: Int32Array
}

/** Rows of a table that are wanted, by ascending number: the places that they have in a list. */
export class Wanted {
  private constructor(
    private readonly rows: Int32Array,
    private readonly order: Uint32Array,
  ) {}

  static async of(rows: Int32Array, work: Work): Promise<Wanted> {
    const order = new Uint32Array(rows.length)
    let isAscending = true
    for (let k = 0; k < rows.length; k++) {
      order[k] = k
      if (k > 0 && rows[k] < rows[k - 1]) isAscending = false
      if (work.spend(1)) await work.pause()
    }
    return new Wanted(rows, isAscending ? order : await mergeSort(order, (a, b) => rows[a] - rows[b], work))
  }

  get length(): number {
    return this.rows.length
  }

  row(k: number): number {
    return this.rows[k]
  }

  /** Places of the list whose rows are among some, by ascending row. */
  within(from: number, count: number): number[] {
    const found: number[] = []
    for (let n = this.first(from); n < this.order.length && this.rows[this.order[n]] < from + count; n++)
      found.push(this.order[n])
    return found
  }

  /** Whether a row among some is wanted that is not known to be the same. */
  some(from: number, count: number, same?: Uint8Array): boolean {
    for (let n = this.first(from); n < this.order.length && this.rows[this.order[n]] < from + count; n++)
      if (same?.[this.order[n]] !== 1) return true
    return false
  }

  private first(row: number): number {
    let [low, high] = [0, this.order.length]
    while (low < high) {
      const half = (low + high) >> 1
      if (this.rows[this.order[half]] < row) low = half + 1
      else high = half
    }
    return low
  }
}

/** The hashes of the values of wanted rows, in their order, but for those that are known to be the same. */
export async function pickHashes(
  { left, right, pairs, reader }: Tables,
  side: 'left' | 'right',
  column: number,
  wanted: Wanted,
  same?: Uint8Array,
): Promise<RowHashes> {
  const table = side === 'left' ? left : right
  const picked = new RowHashes(wanted.length)
  const isNeeded = (part: { rows: number }, index: number): boolean => wanted.some(index, part.rows, same)
  for await (const { text, index, rows } of table.texts(column, isNeeded)) {
    const found = new RowHashes(rows)
    reader.hash(text, found, 0, pairs[column].asText)
    for (const k of wanted.within(index, rows)) {
      const row = wanted.row(k) - index
      picked.low[k] = found.low[row]
      picked.high[k] = found.high[row]
    }
  }
  return picked
}
