// Describes columns by statistics.
import type { ColumnDescription } from '../../../contract/resources/index.ts'
import { asBuffer, findValueEnd, nextValue, skipWhitespace, WorkBudget } from '../../../json/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import { ValueKernel } from '../column/kernel/values.ts'
import type { RowSet } from '../column/row-set.ts'
import { decodeDoubles } from '../column/scalars.ts'
import {
  largestChunkBytes,
  type Snapshot,
  type SnapshotColumn,
  skipValues,
  streamColumn,
} from '../column/snapshot.ts'
import { Statistics } from './statistics.ts'

/** Computes statistics of a column, or of chosen rows, while its values are streamed, in constant memory. */
export async function describeColumn(
  snap: Snapshot,
  column: SnapshotColumn,
  work = new WorkBudget(),
  rows?: RowSet,
): Promise<ColumnDescription> {
  const count = rows?.count ?? column.rows
  const kernel = ValueKernel.acquire(column.rows, largestChunkBytes(column))
  const reader = new ColumnReader(column, new Statistics(count, isDateType(column.type)), work, kernel, rows)
  try {
    for await (const text of streamColumn(snap, column)) {
      const buf = asBuffer(text)
      // The comma between two slices is a separate chunk.
      if (buf.length !== 1 || buf[0] !== 0x2c) await reader.read(buf)
      await work.pause()
    }
  } finally {
    kernel?.release()
  }
  return {
    name: column.name,
    type: familyOf(column.type),
    rows: reader.added,
    ...reader.statistics.summarize(),
  }
}

/** Reads chunks of a column, in order, into its statistics. */
class ColumnReader {
  private readonly isNumeric: boolean
  /** True if statistics depend on the distinct values and the number of nulls alone. */
  private readonly areDistinctEnough: boolean
  /** Known distinct texts, for the kernel. */
  private readonly known: number[] = []
  /** Row of the next value. */
  private row = 0

  constructor(
    column: SnapshotColumn,
    readonly statistics: Statistics,
    private readonly work: WorkBudget,
    private readonly kernel: ValueKernel | undefined,
    private readonly rows: RowSet | undefined,
  ) {
    this.isNumeric = column.type === 'number' || isDateType(column.type)
    this.areDistinctEnough = familyOf(column.type) === 'text' && !rows
  }

  /** Number of values in the statistics. */
  get added(): number {
    return this.rows?.count ?? this.row
  }

  async read(text: Buffer): Promise<void> {
    const { kernel } = this
    if (this.isNumeric) {
      const doubles = decodeDoubles(text, kernel)
      if (doubles) return this.addDoubles(text, doubles)
    }
    if (!kernel || !this.areDistinctEnough) return this.addOneByOne(text)
    const add = (buf: Buffer, start: number, end: number): number => {
      this.statistics.add(buf, start, end)
      return 1
    }
    // Texts that were added before are not added again.
    for (const isText of kernel.numberValues(text, this.known, add, 0)) {
      this.statistics.addNulls(isText.length - sumOf(isText))
      this.row += isText.length
      await this.work.spendAndPause(isText.length)
    }
    this.work.spend(text.length)
  }

  private async addDoubles(text: Buffer, doubles: Float64Array): Promise<void> {
    const { rows, work } = this
    for (let from = 0; from < doubles.length; from += BATCH_ROWS) {
      const batch = doubles.subarray(from, from + BATCH_ROWS)
      const chosen = rows && [...batch.keys()].filter((k) => rows.has(this.row + k))
      this.statistics.addDoubles(chosen ? Float64Array.from(chosen, (k) => batch[k]) : batch, (k) =>
        valueAt(text, from + (chosen ? chosen[k] : k)),
      )
      this.row += batch.length
      await work.spendAndPause((text.length / doubles.length) * batch.length)
    }
  }

  private async addOneByOne(text: Buffer): Promise<void> {
    const { rows, statistics, work } = this
    for (let i = skipWhitespace(text, 0); i < text.length; this.row++) {
      const end = findValueEnd(text, i)
      if (!rows || rows.has(this.row)) statistics.add(text, i, end)
      if (work.spend(end - i)) await work.pause()
      i = nextValue(text, end)
    }
  }
}

/** Number of numbers that are added without yielding to the event loop. */
const BATCH_ROWS = 32_768

function sumOf(numbers: Uint32Array): number {
  let sum = 0
  for (let k = 0; k < numbers.length; k++) sum += numbers[k]
  return sum
}

/** Returns a value of a column JSON of numbers or times, without quotes. */
function valueAt(text: Buffer, row: number): string {
  const start = skipWhitespace(text, skipValues(text, 0, row))
  const value = text.toString('latin1', start, findValueEnd(text, start))
  return value[0] === '"' ? value.slice(1, -1) : value
}
