// Groups rows by texts, or all of them, and combines numbers that are decoded by a kernel.
import type { WorkBudget } from '../../../json/index.ts'
import type { Scalar } from '../../../query/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { RowSequence } from '../column/cursor.ts'
import { RowSet } from '../column/row-set.ts'
import { ScalarCursor } from '../column/scalars.ts'
import type { Snapshot } from '../column/snapshot.ts'
import type { Collector } from './aggregates.ts'

/** A group of rows. */
export interface Group {
  /** JSON of the grouping values; undefined for the only one, if the group is found by it. */
  keys: string[] | undefined
  /** Collectors of the results, for one value of the pivot after the other. */
  collectors: (Collector | undefined)[]
}

/** A function of a column, by its position; undefined if it needs none. */
interface Result {
  at: number | undefined
  create: () => Collector
}

/** Number of rows that are grouped without yielding to the event loop. */
const BATCH_ROWS = 4096
/** Minimum share of the rows that are chosen: slices without a chosen row are read, too. */
const MIN_SHARE = 1 / 4

/** Returns whether results can be combined from decoded numbers. `keys`: positions of the columns that make the groups. */
export function areOfNumbers(
  { columns, rows: all }: Snapshot,
  keys: readonly number[],
  results: readonly Result[],
  rows: RowSequence,
): boolean {
  if (rows instanceof RowSet && rows.count < all * MIN_SHARE) return false
  if (keys.length > 1 || keys.some((at) => familyOf(columns[at].type) !== 'text')) return false
  return results.every(
    ({ at, create }) =>
      create().addNumber !== undefined && (at === undefined || familyOf(columns[at].type) === 'number'),
  )
}

/** Groups rows by the column at `keyAt`, or all of them, in the order in which groups begin. */
export async function groupNumbers(
  snap: Snapshot,
  keyAt: number | undefined,
  results: readonly Result[],
  rows: RowSequence,
  work: WorkBudget,
): Promise<Map<string, Group>> {
  const positions = [...new Set([keyAt, ...results.map(({ at }) => at)])].filter((at) => at !== undefined)
  const cursors = positions.map((at) => new ScalarCursor(snap, snap.columns[at]))
  const batch = new Batch(
    cursors,
    keyAt === undefined ? -1 : 0,
    results.map(({ at, create }) => ({ place: at === undefined ? -1 : positions.indexOf(at), create })),
  )
  try {
    for (let row = 0; row < snap.rows; ) {
      let count = Math.min(BATCH_ROWS, snap.rows - row)
      for (const cursor of cursors) {
        if (cursor.left === 0) await cursor.fill()
        count = Math.min(count, cursor.left)
      }
      await work.spendAndPause(batch.add(rows, row, count))
      row += count
    }
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()))
  }
  return new Map(
    [...batch.groups].map(([text, collectors]) => {
      const json = JSON.stringify(text)
      return [json, { keys: keyAt === undefined ? [] : [json], collectors }]
    }),
  )
}

/** Adds rows to groups. */
class Batch {
  /** Collectors by the text that the rows of a group have; null if it is missing. */
  readonly groups = new Map<Scalar, Collector[]>()
  private readonly values: Scalar[]

  constructor(
    private readonly cursors: readonly ScalarCursor[],
    /** Place of the grouping column among the cursors, and of the column of each result; −1 without one. */
    private readonly keyPlace: number,
    private readonly results: readonly { place: number; create: () => Collector }[],
  ) {
    this.values = cursors.map(() => null)
    // All rows are one group, even without any.
    if (keyPlace < 0) this.open(null)
  }

  private open(key: Scalar): Collector[] {
    const collectors = this.results.map(({ create }) => create())
    this.groups.set(key, collectors)
    return collectors
  }

  /** Adds those of the next `count` rows that are chosen. Returns the number of work units. */
  add(rows: RowSequence, from: number, count: number): number {
    const { cursors, values, keyPlace, results } = this
    let units = count * cursors.length
    let chosen = rows.next(from)
    for (let row = from; row < from + count; row++) {
      for (let c = 0; c < cursors.length; c++) values[c] = cursors[c].next()
      if (row !== chosen) continue
      chosen = rows.next(row + 1)
      const key = keyPlace < 0 ? null : values[keyPlace]
      if (typeof key === 'string') units += key.length
      const collectors = this.groups.get(key) ?? this.open(key)
      for (let k = 0; k < results.length; k++) {
        const { place } = results[k]
        const value = place < 0 ? 1 : values[place]
        if (value !== null) collectors[k].addNumber!(Number(value))
      }
    }
    return units
  }
}
