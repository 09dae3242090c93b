// Finds the rows that match a condition.
import { Problem } from '../../../contract/errors.ts'
import { WorkBudget } from '../../../json/index.ts'
import { bindWhere, type RowTest, type Scalar, type Where } from '../../../query/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { RowSet } from '../column/row-set.ts'
import { type ScalarBatch, streamScalars } from '../column/scalars.ts'
import type { Snapshot } from '../column/snapshot.ts'

/** Binds a condition to the columns of a grid. Throws `unknown_column` and `invalid_query`. */
export function bindCondition(where: Where, columns: readonly { name: string; type: ColumnType }[]): RowTest {
  return bindWhere(
    where,
    columns.map(({ name, type }) => ({ name, type: familyOf(type) })),
  )
}

/** Maximum length of a text that counts as one work unit, in characters. */
const SHORT_CHARACTERS = 64
/** Maximum number of rows, and of steps of their tests, per batch: then the event loop may run. */
const BATCH_ROWS = 1024
const BATCH_STEPS = 16_384

/**
 * Finds the first `maxRows` rows that pass a test. Reads only its columns; needs one bit of memory per row.
 */
export async function findMatchingRows(
  snap: Snapshot,
  { columns, test, steps, reads }: RowTest,
  work = new WorkBudget(),
  maxRows = Number.POSITIVE_INFINITY,
): Promise<RowSet> {
  const readers = columns.map((name) => {
    const column = snap.columns.find((column) => column.name === name)!
    return new ScalarCursor(streamScalars(snap, column))
  })
  const hasTexts = columns.some((name) =>
    ['text', 'json'].includes(familyOf(snap.columns.find((column) => column.name === name)!.type)),
  )
  const tester = new RowTester(
    readers,
    test,
    hasTexts ? reads : undefined,
    work,
    new RowSet(snap.rows),
    maxRows,
  )
  const batchRows = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_STEPS / Math.max(1, steps))))
  try {
    while (tester.row < snap.rows && !tester.isDone) {
      let count = Math.min(snap.rows - tester.row, batchRows)
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
  return tester.matches
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

/** Cursor over the values of a column. After its last value, it returns nulls. */
class ScalarCursor {
  private chunk: ScalarBatch = []
  private at = 0
  private isOver = false

  constructor(private readonly chunks: AsyncGenerator<ScalarBatch>) {}

  /** Number of values that can be read before `fill` must be called. */
  get left(): number {
    return this.isOver ? Number.POSITIVE_INFINITY : this.chunk.length - this.at
  }

  async fill(): Promise<void> {
    while (this.left === 0) {
      const { value, done } = await this.chunks.next()
      this.at = 0
      this.chunk = done ? [] : value
      this.isOver = done === true
    }
  }

  next(): Scalar {
    const value = this.chunk[this.at++]
    return value === undefined || Number.isNaN(value) ? null : value
  }

  async close(): Promise<void> {
    await this.chunks.return(undefined)
  }
}
