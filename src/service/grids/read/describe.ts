// Computes statistics of columns.
import { createHash } from 'node:crypto'
import type { ColumnDescription } from '../../../contract/resources/index.ts'
import {
  findValueEnd,
  nextValue,
  parseInstantBytes,
  skipWhitespace,
  WorkBudget,
} from '../../../json/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import type { RowSet } from '../column/row-set.ts'
import { type Snapshot, type SnapshotColumn, streamColumn } from '../column/snapshot.ts'

/** Maximum number of distinct values that are counted. */
const MAX_DISTINCT_VALUES = 100_000
/** Maximum size of a value in the set of distinct values, in bytes. Longer values are hashed. */
const MAX_KEPT_VALUE_BYTES = 200
/** Number of values in the sample for quantiles. */
const MAX_SAMPLE_VALUES = 10_000
/** Number of row ranges in the trend. */
const TREND_RANGES = 24

/** Computes statistics of a column, or of chosen rows, while its values are streamed, in constant memory. */
export async function describeColumn(
  snap: Snapshot,
  column: SnapshotColumn,
  work = new WorkBudget(),
  rows?: RowSet,
): Promise<ColumnDescription> {
  const count = rows?.count ?? column.rows
  const statistics = new Statistics(count, isDateType(column.type))
  let [row, added] = [0, 0]
  for await (const text of streamColumn(snap, column)) {
    const buf = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
    // The comma between two slices is a separate chunk.
    if (buf.length === 1 && buf[0] === 0x2c) continue
    for (let i = skipWhitespace(buf, 0); i < buf.length; ) {
      const end = findValueEnd(buf, i)
      if (!rows || rows.has(row)) {
        statistics.add(buf, i, end)
        added++
      }
      row++
      if (work.spend(end - i)) await work.pause()
      i = nextValue(buf, end)
    }
    await work.pause()
  }
  return { name: column.name, type: familyOf(column.type), rows: added, ...statistics.summarize() }
}

/** Running statistics of values that are added one by one. */
class Statistics {
  private nulls = 0
  private numbers = 0
  private hasTexts = false
  private sum = 0
  private row = 0
  private min: number | string | null = null
  private max: number | string | null = null
  /** Minimum and maximum as written, if they are numbers. */
  private minWritten: string | undefined
  private maxWritten: string | undefined
  private readonly seen = new Set<string>()
  private isExact = true
  /** True if numbers or times never decrease. */
  private isAscending = true
  private last = Number.NEGATIVE_INFINITY
  private seed = 1
  private readonly sample: number[] = []
  private readonly ranges: { sum: number; count: number }[]
  private readonly rangeRows: number

  /** Earliest and latest time of a column of dates, in ms since 1970. */
  private earliest = Number.POSITIVE_INFINITY
  private latest = Number.NEGATIVE_INFINITY

  constructor(
    rows: number,
    private readonly isMoments: boolean,
  ) {
    const count = Math.min(TREND_RANGES, rows)
    this.ranges = Array.from({ length: count }, () => ({ sum: 0, count: 0 }))
    this.rangeRows = rows / Math.max(1, count)
  }

  /** Adds the JSON value buf[start, end). */
  add(buf: Buffer, start: number, end: number): void {
    const row = this.row++
    const first = buf[start]
    if (first === 0x6e) {
      this.nulls++
      return
    }
    this.addDistinct(buf, start, end)
    if (first === 0x22 && this.isMoments) this.addTime(buf, start + 1, end - 1)
    else if (first === 0x22) {
      this.hasTexts = true
      this.extendRange(decodeTextStart(buf, start, end))
    } else if (first === 0x2d || (first >= 0x30 && first <= 0x39))
      this.addNumber(buf.toString('latin1', start, end), row)
  }

  private addDistinct(buf: Buffer, start: number, end: number): void {
    if (!this.isExact) return
    const length = end - start
    this.seen.add(
      length > MAX_KEPT_VALUE_BYTES
        ? createHash('sha256').update(buf.subarray(start, end)).digest('base64')
        : buf.toString('latin1', start, end),
    )
    if (this.seen.size >= MAX_DISTINCT_VALUES) this.isExact = false
  }

  private addNumber(text: string, row: number): void {
    const value = Number(text)
    // The number exceeds the range of a double.
    if (!Number.isFinite(value)) return
    this.extendRange(value, text)
    this.trackOrder(value)
    this.sum += value
    const run = this.ranges[Math.min(this.ranges.length - 1, Math.floor(row / this.rangeRows))]
    run.sum += value
    run.count++
    // Reservoir sampling (algorithm R): each value has the same chance.
    const k = this.numbers < MAX_SAMPLE_VALUES ? this.numbers : Math.floor(this.random() * (this.numbers + 1))
    if (k < MAX_SAMPLE_VALUES) this.sample[k] = value
    this.numbers++
  }

  /**
   * Returns a pseudorandom number from 0 to 1. Always the same sequence, so that statistics can be
   * reproduced.
   */
  private random(): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0
    return this.seed / 2 ** 32
  }

  private trackOrder(value: number): void {
    if (value < this.last) this.isAscending = false
    this.last = value
  }

  private addTime(buf: Buffer, start: number, end: number): void {
    const instant = parseInstantBytes(buf, start, end)
    this.trackOrder(instant)
    if (instant < this.earliest) {
      this.earliest = instant
      this.min = buf.toString('latin1', start, end)
    }
    if (instant > this.latest) {
      this.latest = instant
      this.max = buf.toString('latin1', start, end)
    }
  }

  /** Extends minimum and maximum. Numbers are less than texts. `written`: the number as the grid has it. */
  private extendRange(value: number | string, written?: string): void {
    if (this.min === null || isLess(value, this.min)) {
      this.min = value
      this.minWritten = written
    }
    if (this.max === null || isLess(this.max, value)) {
      this.max = value
      this.maxWritten = written
    }
  }

  summarize(): Omit<ColumnDescription, 'name' | 'type' | 'rows'> {
    const sorted = this.sample.sort((a, b) => a - b)
    // Linear interpolation between two values.
    const quantile = (share: number): number => {
      const at = share * (sorted.length - 1)
      const below = sorted[Math.floor(at)]
      return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at))
    }
    return {
      nulls: this.nulls,
      distinct: this.seen.size,
      distinct_is_exact: this.isExact,
      min: exactNumber(this.min, this.minWritten),
      max: exactNumber(this.max, this.maxWritten),
      mean: this.numbers === 0 ? null : finiteOrNull(this.sum / this.numbers),
      // With more values than the sample, quantiles are estimates.
      quantiles_are_exact: this.numbers <= MAX_SAMPLE_VALUES,
      quantiles: this.numbers === 0 ? null : [quantile(0.25), quantile(0.5), quantile(0.75)],
      ascending: this.last === Number.NEGATIVE_INFINITY || this.hasTexts ? null : this.isAscending,
      trend:
        this.numbers === 0
          ? []
          : this.ranges.map(({ sum, count }) => (count === 0 ? null : finiteOrNull(sum / count))),
    }
  }
}

/** Returns a number, or its text if it has more digits than a double can represent. */
function exactNumber(value: number | string | null, written: string | undefined): number | string | null {
  if (typeof value !== 'number' || written === undefined) return value
  // Trailing zeros of a fraction do not count as digits.
  const plain = written.includes('.') && !/e/i.test(written) ? written.replace(/\.?0+$/, '') : written
  const digits = plain.replace(/e.*$/i, '').replace(/^-?0*\.?0*|[.]/g, '')
  return digits.length > 15 && String(value) !== plain ? written : value
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function isLess(a: number | string, b: number | string): boolean {
  if (typeof a === typeof b) return a < b
  return typeof a === 'number'
}

/** Decodes the beginning of a JSON string. */
function decodeTextStart(buf: Buffer, start: number, end: number): string {
  if (end - start <= MAX_KEPT_VALUE_BYTES) return JSON.parse(buf.toString('utf8', start, end)) as string
  const whole = buf.toString('utf8', start + 1, Math.min(end - 1, start + MAX_KEPT_VALUE_BYTES * 6))
  // The cut can split an escape or a character.
  const text = whole
    .slice(0, MAX_KEPT_VALUE_BYTES)
    .replace(/(\\u?[0-9a-f]{0,3}|\ufffd|[\ud800-\udbff])$/i, '')
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}
