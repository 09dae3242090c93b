import { Problem } from '../../../contract/errors.ts'
import { Work } from '../../../json/index.ts'
import { boundWhere, type RowTest, type Scalar, type Where } from '../../../query/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import type { Snapshot } from '../column/content.ts'
import { RowSet } from '../column/row-set.ts'
import { type Chunk, scalarsOf } from '../column/scalars.ts'

/** The test of a `where` on the columns of a grid. Throws `unknown_column` and `invalid_query`. */
export function testOf(where: Where, columns: readonly { name: string; type: ColumnType }[]): RowTest {
  return boundWhere(
    where,
    columns.map(({ name, type }) => ({ name, type: familyOf(type) })),
  )
}

/** Characters of a text that count as one step. */
const SHORT = 64
/** Rows of which all columns are loaded together. */
const RUN_ROWS = 256

/**
 * The rows of a grid that pass a test, the first `most` of them. Reads the columns of the test only, in constant memory
 * but for one bit per row.
 */
export async function matchingRows(
  snap: Snapshot,
  { columns, test, steps, reads }: RowTest,
  work = new Work(),
  most = Number.POSITIVE_INFINITY,
): Promise<RowSet> {
  const readers = columns.map((name) => {
    const column = snap.columns.find((one) => one.name === name)!
    return new Values(scalarsOf(snap, column))
  })
  const found = new RowSet(snap.rows)
  const { row_work } = work.limits
  const hasTexts = columns.some((name) =>
    ['text', 'json'].includes(familyOf(snap.columns.find((one) => one.name === name)!.type)),
  )
  const row: Scalar[] = readers.map(() => null)
  try {
    for (let first = 0; first < snap.rows && found.count < most; ) {
      let count = Math.min(snap.rows - first, RUN_ROWS)
      for (const reader of readers) {
        if (reader.left === 0) await reader.fill()
        count = Math.min(count, reader.left)
      }
      for (let k = 0; k < count && found.count < most; k++) {
        for (let c = 0; c < readers.length; c++) row[c] = readers[c].next()
        if (hasTexts) {
          const characters = longTexts(row, reads)
          if (characters > row_work) throw tooMuch(first + k, characters, row_work)
          if (characters > 0 && work.spend(characters)) await work.pause()
        }
        if (test(row)) found.add(first + k)
      }
      first += count
      if (work.spend(count * steps)) await work.pause()
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.close()))
  }
  return found
}

/** Characters of the long texts of a row, each as often as it is read. */
function longTexts(row: readonly Scalar[], reads: readonly number[]): number {
  let characters = 0
  for (let c = 0; c < row.length; c++) {
    const value = row[c]
    if (typeof value === 'string' && value.length > SHORT) characters += value.length * reads[c]
  }
  return characters
}

function tooMuch(row: number, units: number, most: number): Problem {
  return new Problem(
    'too_large',
    `row ${row + 1}: its conditions take ${units} steps; the limit is ${most} (row_work)`,
    { field: 'where', hint: 'Use fewer conditions on long texts.' },
  )
}

/** Goes through the values of a column. A column shorter than the others is null from its end on. */
class Values {
  private chunk: Chunk = []
  private at = 0
  private isOver = false

  constructor(private readonly chunks: AsyncGenerator<Chunk>) {}

  /** How many values can be read before `fill` must be called. */
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
