// Measures columns of numbers, at the speed of reading them: an append to a watched grid waits for it.
import type { WorkBudget } from '../../../json/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { streamScalars } from '../column/scalars.ts'
import { type Snapshot, type SnapshotColumn, skipRows } from '../column/snapshot.ts'
import { medianOf, RunningTotal, roundSum } from '../reshape/aggregates.ts'
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
  if (name === 'min' || name === 'max') return measureExtreme(snap, column, name, work)
  if (name === 'last') return measureLast(snap, column, work)
  if (!Object.hasOwn(FUNCTIONS, name)) return undefined
  const doubles = await readDoubles(snap, column, work)
  if (!doubles) return undefined
  const value = doubles.length === 0 ? Number.NaN : FUNCTIONS[name as keyof typeof FUNCTIONS](doubles)
  return Number.isFinite(value) ? String(roundSum(value)) : 'null'
}

const addUp = (doubles: Float64Array): RunningTotal => {
  const running = new RunningTotal()
  for (let k = 0; k < doubles.length; k++) running.addNumber(doubles[k])
  return running
}

/** The same numbers as those of groups of rows. */
const FUNCTIONS = {
  sum: (doubles: Float64Array) => addUp(doubles).roundedTotal,
  mean: (doubles: Float64Array) => addUp(doubles).mean,
  median: medianOf,
} as const

/**
 * Measures the lowest or highest number. Bounds of slices are at least as wide as their numbers, so only slices whose
 * bound exceeds the number found so far are read: mostly one.
 */
async function measureExtreme(
  snap: Snapshot,
  column: SnapshotColumn,
  name: 'min' | 'max',
  work: WorkBudget,
): Promise<string | undefined> {
  const sign = name === 'max' ? 1 : -1
  const parts: Part[] = column.slices.map((slice) => {
    const text = name === 'max' ? slice.bounds?.high : slice.bounds?.low
    const bound = text === undefined ? Number.NaN : Number(text) * sign
    const { rows } = slice
    return {
      bound: Number.isNaN(bound) ? Number.POSITIVE_INFINITY : bound,
      slices: [slice],
      rows,
      tail: EMPTY,
    }
  })
  const { tail } = column
  const rows = column.rows - parts.reduce((sum, part) => sum + part.rows, 0)
  if (tail.length > 0) parts.push({ bound: Number.POSITIVE_INFINITY, slices: [], rows, tail })
  parts.sort((a, b) => b.bound - a.bound)
  let best = Number.NEGATIVE_INFINITY
  for (const { bound, ...part } of parts) {
    if (bound <= best) break
    const read = { ...column, ...part, skip: undefined }
    const doubles = await readDoubles({ ...snap, columns: [read], rows: part.rows }, read, work)
    if (!doubles) return undefined
    for (let k = 0; k < doubles.length; k++) if (doubles[k] * sign > best) best = doubles[k] * sign
  }
  return best === Number.NEGATIVE_INFINITY ? 'null' : String(best * sign)
}

/** A part of a column, and the number that none of its numbers exceeds. */
interface Part {
  bound: number
  slices: SliceRef[]
  rows: number
  tail: Buffer
}

const EMPTY = Buffer.alloc(0)

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
