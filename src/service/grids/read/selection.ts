import { Problem } from '../../../contract/errors.ts'
import type { Bytes, Work } from '../../../json/index.ts'
import {
  columnNamed,
  columnsOf,
  parseSort,
  parseWhere,
  type RowTest,
  type SortKey,
} from '../../../query/index.ts'
import type { ColumnRow } from '../../store/aggregates/grids.ts'
import type { Snapshot } from '../column/content.ts'
import { RowSet } from '../column/row-set.ts'
import type { RowOrders } from './order.ts'
import { chosenRowsAs, orderedRowsAs, type RowWriter, rowsAs } from './rows.ts'
import { matchingRows, testOf } from './where.ts'

/** Which rows a request asks for: see docs/filtering.md. */
export interface RowQuery {
  where?: string
  sort?: string
  /** Rows to leave out at the start. */
  offset?: number
  /** Rows at most, from the first, or from the last with `tail`, or at random with `sample`. */
  head?: number
  tail?: number
  sample?: number
}

/** Rows of a random sample at most. */
const MAX_SAMPLED = 100_000

/** Rows of a grid: the first ones, chosen ones in their order, or any in an order of their own, of `most` bytes. */
export type Selected = { head: number | undefined } | { rows: RowSet } | { order: Uint32Array; most: number }

/**
 * A selection of rows in three steps: `new` reads the expressions, `columns` says which columns a snapshot needs and
 * checks the expressions against them, and `select` reads the values. Throws `invalid_query`, `unknown_column` and
 * `invalid_request`.
 */
export class Selection {
  private readonly where: ReturnType<typeof parseWhere> | undefined
  private readonly sort: readonly SortKey[]
  private test: RowTest | undefined
  private printed = 0

  constructor(private readonly query: RowQuery) {
    const { where, sort, offset, head, tail, sample } = query
    if ([offset, tail, sample].filter((one) => one !== undefined).length > 1)
      throw new Problem('invalid_request', 'use only one of offset, tail and sample', { field: 'offset' })
    if (tail !== undefined && head !== undefined)
      throw new Problem('invalid_request', 'use only one of head and tail', { field: 'tail' })
    if (sample !== undefined && head !== undefined)
      throw new Problem('invalid_request', 'use only one of head and sample', { field: 'sample' })
    if (sample !== undefined && sample > MAX_SAMPLED)
      throw new Problem('invalid_request', `sample: at most ${MAX_SAMPLED} rows`, { field: 'sample' })
    this.where = where === undefined ? undefined : parseWhere(where)
    this.sort = sort === undefined ? [] : parseSort(sort)
  }

  /** Whether values must be read to know the rows. */
  get readsValues(): boolean {
    return this.where !== undefined || this.sort.length > 0
  }

  get isSorted(): boolean {
    return this.sort.length > 0
  }

  /** The printed columns, and after them those that rows are chosen and sorted by. */
  columns(all: ColumnRow[], printed: ColumnRow[]): ColumnRow[] {
    this.test = this.where && testOf(this.where, all)
    this.printed = printed.length
    const more = new Set([
      ...(this.where ? columnsOf(this.where.expression) : []).map((name) => columnNamed(name, all)),
      ...this.sort.map(({ name }) => columnNamed(name, all, 'sort')),
    ])
    return [...printed, ...[...more].filter((column) => !printed.includes(column))]
  }

  /** The snapshot without the columns that are not printed. */
  printedOf(snap: Snapshot): Snapshot {
    return { ...snap, columns: snap.columns.slice(0, this.printed) }
  }

  /**
   * Reads what decides. `snap` has the columns that `columns` returned. `state` identifies the data of the grid: with it,
   * the order by one column is kept. Throws `too_large` and `aborted`.
   */
  async select(orders: RowOrders, snap: Snapshot, work: Work, state?: string): Promise<Selected> {
    const { head, offset = 0, tail, sample } = this.query
    const isFirst = !this.isSorted && tail === undefined && sample === undefined && head !== undefined
    let rows = this.test && (await matchingRows(snap, this.test, work, isFirst ? offset + head : undefined))
    const count = rows?.count ?? snap.rows
    if (sample !== undefined) rows = sampleOf(snap.rows, rows, sample)
    if (!this.isSorted) {
      const from = tail === undefined ? offset : Math.max(0, count - tail)
      if (rows)
        return { rows: rows.part(from, tail === undefined && sample === undefined ? head : undefined) }
      if (from === 0) return { head }
      const last = Math.min(count, from + (head ?? count))
      return { rows: RowSet.of(snap.rows, numbers(from, last)) }
    }
    const by = this.sort.map(({ name, descending }) => ({
      column: snap.columns.find((column) => column.name === name)!,
      descending,
    }))
    const order =
      state === undefined || rows || by.length > 1
        ? await orders.orderBy(snap, by, work, rows)
        : await orders.orderByOne(state, snap, by[0], work)
    const from = tail === undefined ? offset : Math.max(0, order.length - tail)
    const part = order.subarray(from, head === undefined ? undefined : from + head)
    return { order: part, most: orders.mostBytes }
  }
}

/** Streams the selected rows. */
export function selectedAs(snap: Snapshot, writer: RowWriter, selected: Selected): Bytes {
  if ('rows' in selected) return chosenRowsAs(snap, writer, selected.rows)
  if ('order' in selected) return orderedRowsAs(snap, writer, selected.order, selected.most)
  return rowsAs(snap, writer, selected.head)
}

function* numbers(from: number, to: number): Generator<number> {
  for (let k = from; k < to; k++) yield k
}

/** `count` of the rows at random (Floyd's algorithm). */
function sampleOf(all: number, of: RowSet | undefined, count: number): RowSet {
  const most = of?.count ?? all
  const chosen = new Set<number>()
  for (let k = Math.max(0, most - count); k < most; k++) {
    const one = Math.floor(Math.random() * (k + 1))
    chosen.add(chosen.has(one) ? k : one)
  }
  if (!of) return RowSet.of(all, chosen)
  const rows = new RowSet(all)
  let at = 0
  for (const row of of) if (chosen.has(at++)) rows.add(row)
  return rows
}
