// Computes statistics of columns.
import { createHash } from 'node:crypto'
import type { ColumnDescription } from '../../../contract/resources/index.ts'
import {
  asBuffer,
  findValueEnd,
  nextValue,
  parseInstantBytes,
  skipWhitespace,
  WorkBudget,
} from '../../../json/index.ts'
import { familyOf, isDateType } from '../../store/schema/column-types.ts'
import type { RowSet } from '../column/row-set.ts'
import { type Snapshot, type SnapshotColumn, streamColumn } from '../column/snapshot.ts'
import { DistinctValues } from './distinct-values.ts'

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
    const buf = asBuffer(text)
    // The comma between two slices is a separate chunk.
    if (buf.length === 1 && buf[0] === 0x2c) continue
    for (let i = skipWhitespace(buf, 0); i < buf.length; row++) {
      const end = findValueEnd(buf, i)
      if (!rows || rows.has(row)) {
        statistics.add(buf, i, end)
        added++
      }
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
  /** Minimum and maximum if they are texts of ASCII. */
  private bounds: readonly [Buffer, Buffer] | undefined
  /** Minimum and maximum as written, if they are numbers. */
  private minWritten: string | undefined
  private maxWritten: string | undefined
  private readonly seen = new DistinctValues()
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
      if (!this.isBetweenBounds(buf, start + 1, end - 1)) this.addText(decodeTextStart(buf, start, end))
    } else if (first === 0x2d || (first >= 0x30 && first <= 0x39)) this.addNumber(buf, start, end, row)
  }

  private addDistinct(buf: Buffer, start: number, end: number): void {
    if (!this.isExact) return
    if (end - start <= MAX_KEPT_VALUE_BYTES) this.seen.add(buf, start, end)
    else {
      const hash = createHash('sha256').update(buf.subarray(start, end)).digest()
      this.seen.add(hash, 0, hash.length)
    }
    if (this.seen.size >= MAX_DISTINCT_VALUES) this.isExact = false
  }

  private addNumber(buf: Buffer, start: number, end: number, row: number): void {
    const value = parseShortNumber(buf, start, end) ?? Number(buf.toString('latin1', start, end))
    // The number exceeds the range of a double.
    if (!Number.isFinite(value)) return
    const { min, max } = this
    if (typeof min !== 'number' || typeof max !== 'number' || value < min || value > max)
      this.extendRange(value, buf.toString('latin1', start, end))
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

  private addText(text: string): void {
    this.extendRange(text)
    const { min, max } = this
    const areAscii = typeof min === 'string' && typeof max === 'string' && ASCII.test(min) && ASCII.test(max)
    this.bounds = areAscii ? [Buffer.from(min as string), Buffer.from(max as string)] : undefined
  }

  /** Returns whether the text buf[start, end) lies between minimum and maximum; false if unsure. */
  private isBetweenBounds(buf: Buffer, start: number, end: number): boolean {
    if (!this.bounds) return false
    const [low, high] = this.bounds
    let [equalsLow, equalsHigh] = [true, true]
    for (let i = start; i < end; i++) {
      const c = buf[i]
      // Escapes are not decoded, and other characters than ASCII sort differently in UTF-8 and UTF-16.
      if (c === 0x5c || c >= 0x80) return false
      const k = i - start
      if (equalsLow) {
        if (k >= low.length || c > low[k]) equalsLow = false
        else if (c < low[k]) return false
      }
      if (equalsHigh) {
        if (k >= high.length || c > high[k]) return false
        if (c < high[k]) equalsHigh = false
      }
      if (!equalsLow && !equalsHigh) return true
    }
    return false
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

/** Texts whose bytes sort as their characters. */
const ASCII = /^[ -~]*$/
/** Powers of ten that a double represents exactly, by exponent. */
const POWERS_OF_TEN = Array.from({ length: 16 }, (_, k) => 10 ** k)

/**
 * Parses a JSON number of at most 15 digits without an exponent; undefined for others. The quotient of two
 * integers that a double represents exactly is the nearest double.
 */
function parseShortNumber(buf: Buffer, start: number, end: number): number | undefined {
  if (end - start > 16) return undefined
  const isNegative = buf[start] === 0x2d
  let value = 0
  let digits = 0
  let point = -1
  for (let i = isNegative ? start + 1 : start; i < end; i++) {
    const c = buf[i]
    if (c >= 0x30 && c <= 0x39) {
      value = value * 10 + (c - 0x30)
      digits++
    } else if (c === 0x2e && point < 0) point = i
    else return undefined
  }
  if (digits > 15) return undefined
  if (point >= 0) value /= POWERS_OF_TEN[end - 1 - point]
  return isNegative ? -value : value
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
  if (end - start <= MAX_KEPT_VALUE_BYTES) return JSON.parse(buf.toString('utf8', start, end))
  const whole = buf.toString('utf8', start + 1, Math.min(end - 1, start + MAX_KEPT_VALUE_BYTES * 6))
  // The cut can split an escape or a character.
  const text = whole
    .slice(0, MAX_KEPT_VALUE_BYTES)
    .replace(/(\\u?[0-9a-f]{0,3}|\ufffd|[\ud800-\udbff])$/i, '')
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return text
  }
}
