// Groups rows by texts, or all of them, and combines numbers that are decoded by a kernel.
import type { WorkBudget } from '../../../json/index.ts'
import type { Scalar } from '../../../query/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { RowSequence } from '../column/cursor.ts'
import { RowSet } from '../column/row-set.ts'
import { ScalarCursor } from '../column/scalars.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { COLLECTOR_BYTES, type Collector } from './aggregates.ts'
import { ENTRY_BYTES, type KeptMemory } from './kept-memory.ts'

/** A group of rows. */
export interface Group {
  /** JSON of the grouping values. */
  keys: readonly string[]
  /** Collectors of the results, for one value of the pivot after the other. */
  collectors: readonly (Collector | undefined)[]
}

/** A function of a column, by its position; undefined if it needs none. */
export interface Result {
  at: number | undefined
  create: () => Collector
}

/** A column whose values make groups, by its position. `period`: converts the JSON of a date to that of its period. */
export interface Key {
  at: number
  period?: (json: string) => string
}

/** Number of rows that are grouped without yielding to the event loop. */
const BATCH_ROWS = 4096
/** Minimum share of the rows that are chosen: slices without a chosen row are read, too. */
const MIN_SHARE = 1 / 4

/** Returns whether groups are by a text and a period at most, and results can be combined from decoded numbers. */
export function areOfNumbers(
  { columns, rows: all }: Snapshot,
  keys: readonly Key[],
  results: readonly Result[],
  rows: RowSequence,
): boolean {
  if (rows instanceof RowSet && rows.count < all * MIN_SHARE) return false
  const texts = keys.filter(({ period }) => !period)
  if (texts.length > 1 || keys.length - texts.length > 1) return false
  if (texts.some(({ at }) => familyOf(columns[at].type) !== 'text')) return false
  return results.every(
    ({ at, create }) =>
      create().addNumber !== undefined && (at === undefined || familyOf(columns[at].type) === 'number'),
  )
}

/** Groups rows by keys, or all of them, in the order in which groups begin. See `areOfNumbers`. */
export async function groupNumbers(
  snap: Snapshot,
  keys: readonly Key[],
  results: readonly Result[],
  { rows, kept, work }: { rows: RowSequence; kept: KeptMemory; work: WorkBudget },
): Promise<Iterable<Group>> {
  const cursors: ScalarCursor[] = []
  const places = new Map<number, number>()
  const placeOf = (at: number | undefined, asText: boolean): number => {
    if (at === undefined) return -1
    let place = places.get(at)
    if (place === undefined) {
      place = cursors.length
      places.set(at, place)
      const column = snap.columns[at]
      cursors.push(new ScalarCursor(snap, asText ? { ...column, type: 'text' } : column))
    }
    return place
  }
  const byPeriod = keys.find(({ period }) => period)
  const byText = keys.find(({ period }) => !period)
  const batch = new Batch(
    cursors,
    { text: placeOf(byText?.at, true), date: placeOf(byPeriod?.at, true), period: byPeriod?.period },
    results.map(({ at, create }) => ({ place: placeOf(at, false), create })),
    kept,
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
  return batch.list(keys)
}

/** The place of the grouping columns among the cursors; −1 without one. */
interface KeyPlaces {
  text: number
  date: number
  period: ((json: string) => string) | undefined
}

/** Adds rows to groups. */
class Batch {
  /** Groups by what their rows have in common. `text`: null if it is missing; `start`: JSON of the period. */
  private readonly groups = new Map<Scalar, { text: Scalar; start: string; collectors: Collector[] }>()
  private readonly values: Scalar[]

  constructor(
    private readonly cursors: readonly ScalarCursor[],
    private readonly keys: KeyPlaces,
    private readonly results: readonly { place: number; create: () => Collector }[],
    private readonly kept: KeptMemory,
  ) {
    this.values = cursors.map(() => null)
    // All rows are one group, even without any.
    if (cursors.length === 0 || (keys.text < 0 && keys.date < 0)) this.find(null, '')
  }

  /** Returns the collectors of a group. */
  private find(text: Scalar, start: string): Collector[] {
    const id = this.keys.date < 0 ? text : text === null ? start : `${start}\n${text as string}`
    let group = this.groups.get(id)
    if (!group) {
      group = { text, start, collectors: this.results.map(({ create }) => create()) }
      this.groups.set(id, group)
      const size = typeof id === 'string' ? id.length : 0
      this.kept.add(2 * ENTRY_BYTES + 2 * size + this.results.length * COLLECTOR_BYTES)
    }
    return group.collectors
  }

  *list(keys: readonly Key[]): Generator<Group> {
    for (const { text, start, collectors } of this.groups.values())
      yield { keys: keys.map(({ period }) => (period ? start : JSON.stringify(text))), collectors }
  }

  /** Adds those of the next `count` rows that are chosen. Returns the number of work units. */
  add(rows: RowSequence, from: number, count: number): number {
    const { cursors, values, keys, results } = this
    let units = count * (cursors.length + results.length)
    let grown = 0
    let chosen = rows.next(from)
    for (let row = from; row < from + count; row++) {
      for (let c = 0; c < cursors.length; c++) values[c] = cursors[c].next()
      if (row !== chosen) continue
      chosen = rows.next(row + 1)
      const text = keys.text < 0 ? null : values[keys.text]
      if (typeof text === 'string') units += text.length
      const date = keys.date < 0 ? null : values[keys.date]
      const start = keys.period ? keys.period(date === null ? 'null' : `"${date as string}"`) : ''
      const collectors = this.find(text, start)
      for (let k = 0; k < results.length; k++) {
        const { place } = results[k]
        const value = place < 0 ? 1 : values[place]
        if (value !== null) grown += collectors[k].addNumber!(Number(value))
      }
    }
    this.kept.add(grown)
    return units
  }
}
