// Selects rows of a grid by condition, order, range or sample (docs/queries.md).
import { Problem } from '../../../contract/errors.ts'
import type { Bytes, WorkBudget } from '../../../json/index.ts'
import { parseSort, parseWhere, queriedColumns, resolveColumn, type SortKey } from '../../../query/index.ts'
import type { ColumnRow } from '../../store/aggregates/grids.ts'
import { RowSet } from '../column/row-set.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { bindCondition, type Condition, findMatchingRows } from './matching-rows.ts'
import type { RowWriter } from './row-writers.ts'
import { streamChosenRows, streamFirstRows } from './rows.ts'
import type { RowSorter } from './sort.ts'
import { SortedRows } from './sorted-rows.ts'

/** Query parameters that select rows (docs/queries.md). */
export interface RowQuery {
  where?: string
  sort?: string
  /** Number of rows to skip. */
  offset?: number
  /** Maximum number of rows: the first ones, the last ones (`tail`) or a random sample. */
  head?: number
  tail?: number
  sample?: number
}

/** Maximum number of rows in a random sample. */
const MAX_SAMPLE_ROWS = 100_000

/**
 * Selected rows: the first ones, a set in grid order, or a sorted list whose output has up to `most` bytes.
 */
export type Selected = { head: number | undefined } | { rows: RowSet } | { order: Uint32Array; most: number }

/**
 * Selects rows in three steps: the constructor parses the expressions, `bind` binds them to columns and
 * returns the columns that a snapshot needs, and `select` reads their values. Throws `invalid_query`,
 * `unknown_column` and `invalid_request`.
 */
export class Selection {
  private readonly where: ReturnType<typeof parseWhere> | undefined
  private readonly sort: readonly SortKey[]
  private test: Condition | undefined
  private printed = 0

  constructor(private readonly query: RowQuery) {
    const { where, sort, offset, head, tail, sample } = query
    if ([offset, tail, sample].filter((parameter) => parameter !== undefined).length > 1)
      throw new Problem('invalid_request', 'use only one of offset, tail and sample', { field: 'offset' })
    if (tail !== undefined && head !== undefined)
      throw new Problem('invalid_request', 'use only one of head and tail', { field: 'tail' })
    if (sample !== undefined && head !== undefined)
      throw new Problem('invalid_request', 'use only one of head and sample', { field: 'sample' })
    if (sample !== undefined && sample > MAX_SAMPLE_ROWS)
      throw new Problem('invalid_request', `sample: at most ${MAX_SAMPLE_ROWS} rows`, { field: 'sample' })
    this.where = where === undefined ? undefined : parseWhere(where)
    this.sort = sort === undefined ? [] : parseSort(sort)
  }

  /** True if values must be read to select the rows. */
  get needsValues(): boolean {
    return this.where !== undefined || this.sort.length > 0
  }

  get isSorted(): boolean {
    return this.sort.length > 0
  }

  /**
   * Binds the expressions to the columns. Returns the printed columns, then further ones that expressions
   * use.
   */
  bind<C extends Pick<ColumnRow, 'name' | 'type'>>(all: C[], printed: C[]): C[] {
    this.test = this.where && bindCondition(this.where, all)
    this.printed = printed.length
    const queried = new Set([
      ...(this.where ? queriedColumns(this.where.expression) : []).map((name) => resolveColumn(name, all)),
      ...this.sort.map(({ name }) => resolveColumn(name, all, 'sort')),
    ])
    return [...printed, ...[...queried].filter((column) => !printed.includes(column))]
  }

  /** Returns the snapshot with the printed columns only. */
  printedSnapshot(snap: Snapshot): Snapshot {
    return { ...snap, columns: snap.columns.slice(0, this.printed) }
  }

  /**
   * Selects the rows. `snap` must have the columns that `bind` returned. `fingerprint` identifies the data
   * of the grid: with it, an order by one column is cached. Throws `too_large` and `aborted`.
   */
  async select(orders: RowSorter, snap: Snapshot, work: WorkBudget, fingerprint?: string): Promise<Selected> {
    const { head, offset = 0, tail, sample } = this.query
    const isFirst = !this.isSorted && tail === undefined && sample === undefined && head !== undefined
    let rows =
      this.test && (await findMatchingRows(snap, this.test, work, isFirst ? offset + head : undefined))
    const count = rows?.count ?? snap.rows
    if (sample !== undefined) rows = drawSample(snap.rows, rows, sample)
    if (!this.isSorted) {
      const from = tail === undefined ? offset : Math.max(0, count - tail)
      if (rows)
        return { rows: rows.slice(from, tail === undefined && sample === undefined ? head : undefined) }
      if (from === 0) return { head }
      const last = Math.min(count, from + (head ?? count))
      return { rows: RowSet.of(snap.rows, numbersBetween(from, last)) }
    }
    const by = this.sort.map(({ name, descending }) => ({
      column: snap.columns.find((column) => column.name === name)!,
      descending,
    }))
    const order =
      fingerprint === undefined || rows || by.length > 1
        ? await orders.sortBy(snap, by, work, rows)
        : await orders.sortByOne(fingerprint, snap, by[0], work)
    const from = tail === undefined ? offset : Math.max(0, order.length - tail)
    const part = order.subarray(from, head === undefined ? undefined : from + head)
    return { order: part, most: orders.maxBytes }
  }
}

/** Returns the number of selected rows. */
export function countSelected(snap: Snapshot, selected: Selected): number {
  if ('rows' in selected) return selected.rows.count
  if ('order' in selected) return selected.order.length
  return Math.min(snap.rows, selected.head ?? snap.rows)
}

/** Streams the selected rows. */
export function streamSelected(snap: Snapshot, writer: RowWriter, selected: Selected): Bytes {
  if ('rows' in selected) return streamChosenRows(snap, writer, selected.rows)
  if ('order' in selected) return new SortedRows(snap, writer, selected.order, selected.most)
  return streamFirstRows(snap, writer, selected.head)
}

function* numbersBetween(from: number, to: number): Generator<number> {
  for (let k = from; k < to; k++) yield k
}

/** Draws a random sample of `count` rows (Floyd's algorithm) of `candidates`, or of all rows. */
function drawSample(all: number, candidates: RowSet | undefined, count: number): RowSet {
  const available = candidates?.count ?? all
  const chosen = new Set<number>()
  for (let k = Math.max(0, available - count); k < available; k++) {
    const drawn = Math.floor(Math.random() * (k + 1))
    chosen.add(chosen.has(drawn) ? k : drawn)
  }
  if (!candidates) return RowSet.of(all, chosen)
  const rows = new RowSet(all)
  let at = 0
  for (const row of candidates) if (chosen.has(at++)) rows.add(row)
  return rows
}
