// Finds the rows that match a condition.
import { Problem } from '../../../contract/errors.ts'
import type { Bounds } from '../../../ingest/slices.ts'
import { parseInstant, WorkBudget } from '../../../json/index.ts'
import {
  bindWhere,
  createOutcomes,
  type OutcomesOf,
  type RowTest,
  type Scalar,
  TRUE,
  type ValueRange,
  type Where,
} from '../../../query/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { limitsOf, outermostDay } from '../column/bounds.ts'
import { type ColumnChunk, columnChunksOf } from '../column/chunks.ts'
import { boundsWithin, chunksWithin, type RowGroup, splitRows } from '../column/row-groups.ts'
import { RowSet } from '../column/row-set.ts'
import { ScalarCursor } from '../column/scalars.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'

/** A condition on the columns of a grid. */
export interface Condition extends RowTest {
  outcomes: OutcomesOf
}

/** Binds a condition to the columns of a grid. Throws `unknown_column` and `invalid_query`. */
export function bindCondition(
  where: Where,
  columns: readonly { name: string; type: ColumnType }[],
): Condition {
  const all = columns.map(({ name, type }) => ({ name, type: familyOf(type) }))
  const test = bindWhere(where, all)
  const read = test.columns.map((name) => all.find((column) => column.name === name)!)
  return { ...test, outcomes: createOutcomes(where, read) }
}

/** Maximum length of a text that counts as one work unit, in characters. */
const SHORT_CHARACTERS = 64
/** Maximum number of rows, and of steps of their tests, per batch: then the event loop may run. */
const BATCH_ROWS = 1024
const BATCH_STEPS = 16_384

/**
 * Finds the first `maxRows` rows that pass a test. Reads only its columns, and only the slices whose bounds leave it open;
 * needs one bit of memory per row.
 */
export async function findMatchingRows(
  snap: Snapshot,
  condition: Condition,
  work = new WorkBudget(),
  maxRows = Number.POSITIVE_INFINITY,
): Promise<RowSet> {
  const columns = condition.columns.map((name) => snap.columns.find((column) => column.name === name)!)
  const matches = new RowSet(snap.rows)
  for (const range of listRanges(snap, columns, condition)) {
    if (matches.count >= maxRows) break
    if (range.isSure) await addRows(range, work, matches, maxRows)
    else await testRows(snap, range, condition, work, matches, maxRows)
  }
  return matches
}

/** Rows that may match. `isSure`: all of them do. `columns`: the columns of the condition in these rows. */
interface OpenRange extends RowGroup {
  isSure: boolean
  columns: readonly SnapshotColumn[]
}

/** Lists the rows that may match, by the bounds of slices. */
function listRanges(
  snap: Snapshot,
  columns: readonly SnapshotColumn[],
  { outcomes }: Condition,
): OpenRange[] {
  // The slices of an earlier version can have later rows, too.
  if (snap.isPast || columns.some(({ skip }) => skip !== undefined))
    return [{ from: 0, rows: snap.rows, isSure: false, columns }]
  const chunks = columns.map((column) => columnChunksOf(snap, column))
  const ranges: (RowGroup & { isSure: boolean })[] = []
  for (const group of splitRows(chunks, snap.rows)) {
    const possible = outcomes(
      columns.map(({ type }, k) => toValueRange(boundsWithin(chunks[k], group), group.rows, type)),
    )
    if ((possible & TRUE) === 0) continue
    const isSure = possible === TRUE
    const last = ranges.at(-1)
    if (last && last.isSure === isSure && last.from + last.rows === group.from) last.rows += group.rows
    else ranges.push({ ...group, isSure })
  }
  return ranges.map((range) => ({
    ...range,
    columns: range.isSure ? [] : columns.map((column, k) => cutColumn(column, chunks[k], range)),
  }))
}

/** Adds the rows of a range. */
async function addRows(
  { from, rows }: RowGroup,
  work: WorkBudget,
  matches: RowSet,
  maxRows: number,
): Promise<void> {
  const end = from + Math.min(rows, maxRows - matches.count)
  for (let row = from; row < end; ) {
    const until = Math.min(end, row + SURE_ROWS)
    await work.spendAndPause(until - row)
    for (; row < until; row++) matches.add(row)
  }
}

/** Number of rows that are added without yielding to the event loop. */
const SURE_ROWS = 65_536

/** Returns what bounds tell of the values of a column; undefined without bounds. */
function toValueRange(bounds: Bounds | undefined, rows: number, type: ColumnType): ValueRange | undefined {
  if (!bounds) return undefined
  const nulls = bounds.nulls === 0 ? 'none' : bounds.nulls === rows ? 'all' : 'some'
  const limits = limitsOf(bounds)
  if (!isDateType(type)) return { limits, nulls }
  const [first, last] = (limits ?? []).map((limit, k) =>
    typeof limit === 'string' ? outermostDay(limit, type, k === 0 ? -1 : 1) : undefined,
  )
  // A text that is not a date is null.
  return {
    limits: first && last ? [parseInstant(first), parseInstant(last)] : undefined,
    nulls: nulls === 'none' ? 'some' : nulls,
  }
}

/** Returns the part of a column in a range of whole chunks. */
function cutColumn(column: SnapshotColumn, parts: readonly ColumnChunk[], range: RowGroup): SnapshotColumn {
  return {
    ...column,
    slices: chunksWithin(parts, range).flatMap(({ slice }) => slice ?? []),
    rows: Math.max(0, Math.min(column.rows - range.from, range.rows)),
  }
}

/** Adds the rows of a range that pass a test to `matches`. */
async function testRows(
  snap: Snapshot,
  { from, rows, columns }: OpenRange,
  { test, steps, reads }: Condition,
  work: WorkBudget,
  matches: RowSet,
  maxRows: number,
): Promise<void> {
  const readers = columns.map((column) => new ScalarCursor(snap, column))
  const hasTexts = columns.some(({ type }) => ['text', 'json'].includes(familyOf(type)))
  const tester = new RowTester(readers, test, hasTexts ? reads : undefined, work, matches, maxRows)
  tester.row = from
  const end = from + rows
  const batchRows = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_STEPS / Math.max(1, steps))))
  try {
    while (tester.row < end && !tester.isDone) {
      let count = Math.min(end - tester.row, batchRows)
      for (const reader of readers) {
        if (reader.left === 0) await reader.fill()
        count = Math.min(count, reader.left)
      }
      const until = tester.row + count
      while (tester.row < until && !tester.isDone) if (tester.testUntil(until)) await work.pause()
      if (work.spend(count * steps)) await work.pause()
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.close()))
  }
}

/** Tests rows one after the other. */
class RowTester {
  /** The next row to test. */
  row = 0
  private readonly values: Scalar[]

  /** `reads`: how often the test reads each column, if one of them has texts. */
  constructor(
    private readonly readers: readonly ScalarCursor[],
    private readonly test: (values: Scalar[]) => boolean,
    private readonly reads: readonly number[] | undefined,
    private readonly work: WorkBudget,
    readonly matches: RowSet,
    private readonly maxRows: number,
  ) {
    this.values = readers.map(() => null)
  }

  /** True if enough rows have passed. */
  get isDone(): boolean {
    return this.matches.count >= this.maxRows
  }

  /** Tests rows up to `until`, exclusive. Returns true if it stopped because the work needs a pause. */
  testUntil(until: number): boolean {
    const { readers, values, reads, matches } = this
    while (this.row < until && !this.isDone) {
      for (let c = 0; c < readers.length; c++) values[c] = readers[c].next()
      const isPauseDue = reads !== undefined && this.spendTexts(reads)
      if (this.test(values)) matches.add(this.row)
      this.row++
      if (isPauseDue) return true
    }
    return false
  }

  /** Counts the work that the long texts of the row cause. Returns whether it needs a pause. Throws `too_large`. */
  private spendTexts(reads: readonly number[]): boolean {
    const { row_work } = this.work.limits
    const characters = countLongCharacters(this.values, reads)
    if (characters > row_work) throw tooManyStepsError(this.row, characters, row_work)
    return characters > 0 && this.work.spend(characters)
  }
}

/** Counts the characters of the long texts of a row. `reads`: how often the test reads each column. */
function countLongCharacters(row: readonly Scalar[], reads: readonly number[]): number {
  let characters = 0
  for (let c = 0; c < row.length; c++) {
    const value = row[c]
    if (typeof value === 'string' && value.length > SHORT_CHARACTERS) characters += value.length * reads[c]
  }
  return characters
}

/** Creates the error for a row whose conditions take too many steps. */
function tooManyStepsError(row: number, units: number, maxUnits: number): Problem {
  return new Problem(
    'too_large',
    `row ${row + 1}: its conditions take ${units} steps; the limit is ${maxUnits} (row_work)`,
    { field: 'where', hint: 'Use fewer conditions on long texts.' },
  )
}
