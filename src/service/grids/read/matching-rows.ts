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
/** Number of rows that are tested per batch. */
const BATCH_ROWS = 256

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
  const matches = new RowSet(snap.rows)
  const { row_work } = work.limits
  const hasTexts = columns.some((name) =>
    ['text', 'json'].includes(familyOf(snap.columns.find((column) => column.name === name)!.type)),
  )
  const row: Scalar[] = readers.map(() => null)
  try {
    for (let first = 0; first < snap.rows && matches.count < maxRows; ) {
      let count = Math.min(snap.rows - first, BATCH_ROWS)
      for (const reader of readers) {
        if (reader.left === 0) await reader.fill()
        count = Math.min(count, reader.left)
      }
      for (let k = 0; k < count && matches.count < maxRows; k++) {
        for (let c = 0; c < readers.length; c++) row[c] = readers[c].next()
        if (hasTexts) {
          const characters = countLongCharacters(row, reads)
          if (characters > row_work) throw tooManyStepsError(first + k, characters, row_work)
          if (characters > 0 && work.spend(characters)) await work.pause()
        }
        if (test(row)) matches.add(first + k)
      }
      first += count
      if (work.spend(count * steps)) await work.pause()
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.close()))
  }
  return matches
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
