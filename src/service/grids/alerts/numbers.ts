// Measures columns of numbers, at the speed of reading them: an append to a watched grid waits for it.
import type { WorkBudget } from '../../../json/index.ts'
import { streamScalars } from '../column/scalars.ts'
import { type Snapshot, type SnapshotColumn, skipRows } from '../column/snapshot.ts'
import type { Measure } from './condition.ts'

/** Number of numbers that are added without yielding to the event loop. */
const BATCH_ROWS = 32_768

/**
 * Measures a column of numbers, as JSON; `null` without any. Returns undefined if it cannot: for other columns, other
 * functions, and numbers that no double represents.
 */
export async function measureNumbers(
  snap: Snapshot,
  column: SnapshotColumn,
  name: Measure['function'],
  work: WorkBudget,
): Promise<string | undefined> {
  if (column.type !== 'number') return undefined
  if (name === 'min' || name === 'max') {
    const bound = boundOf(column, name)
    if (bound !== undefined) return bound
  }
  if (name === 'last') return measureLast(snap, column, work)
  if (!['sum', 'mean', 'min', 'max', 'median'].includes(name)) return undefined
  const doubles = await readDoubles(snap, column, work)
  if (!doubles) return undefined
  const value = doubles.length === 0 ? Number.NaN : FUNCTIONS[name as keyof typeof FUNCTIONS](doubles)
  return Number.isFinite(value) ? String(value) : 'null'
}

const sum = (doubles: Float64Array): number => {
  let total = 0
  for (let k = 0; k < doubles.length; k++) total += doubles[k]
  return total
}

const FUNCTIONS = {
  sum,
  mean: (doubles: Float64Array) => sum(doubles) / doubles.length,
  min: (doubles: Float64Array) => doubles.reduce((a, b) => (b < a ? b : a)),
  max: (doubles: Float64Array) => doubles.reduce((a, b) => (b > a ? b : a)),
  median: (doubles: Float64Array) => {
    const sorted = doubles.sort()
    const middle = (sorted.length - 1) / 2
    return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
  },
} as const

/** Returns the lowest or highest number from the bounds of the slices; undefined if one has none. */
function boundOf({ slices, tail, skip = 0 }: SnapshotColumn, name: 'min' | 'max'): string | undefined {
  if (tail.length > 0 || skip > 0) return undefined
  let found: number | undefined
  for (const { bounds, rows } of slices) {
    if (bounds?.nulls === rows) continue
    const text = name === 'min' ? bounds?.low : bounds?.high
    const value = text === undefined ? Number.NaN : Number(text)
    if (Number.isNaN(value)) return undefined
    if (found === undefined || (name === 'min' ? value < found : value > found)) found = value
  }
  return found === undefined ? 'null' : String(found)
}

/** Measures the last number, from as few of the last rows as have one. */
async function measureLast(
  snap: Snapshot,
  column: SnapshotColumn,
  work: WorkBudget,
): Promise<string | undefined> {
  for (let rows = 1; ; rows *= 64) {
    const end = skipRows({ ...snap, columns: [column] }, Math.max(0, snap.rows - rows))
    const doubles = await readDoubles(end, end.columns[0], work)
    if (!doubles) return undefined
    if (doubles.length > 0) return String(doubles.at(-1))
    if (rows >= snap.rows) return 'null'
  }
}

/** Reads the numbers of a column, without missing ones; undefined if one is no double. */
async function readDoubles(
  snap: Snapshot,
  column: SnapshotColumn,
  work: WorkBudget,
): Promise<Float64Array | undefined> {
  const doubles = new Float64Array(column.rows)
  let count = 0
  for await (const batch of streamScalars(snap, column)) {
    if (!(batch instanceof Float64Array)) return undefined
    for (let from = 0; from < batch.length; from += BATCH_ROWS) {
      const to = Math.min(from + BATCH_ROWS, batch.length)
      for (let k = from; k < to; k++) if (!Number.isNaN(batch[k])) doubles[count++] = batch[k]
      await work.spendAndPause(to - from)
    }
  }
  return doubles.subarray(0, count)
}
