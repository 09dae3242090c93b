// Statistics of the numbers of a column, in constant memory.
import { Sample } from './sample.ts'

/** Number of row ranges in the trend. */
const TREND_RANGES = 24
/** Maximum number of values of a call of `sumUp`: V8 compiles a function that is called often better than a long loop. */
const MAX_RUN_VALUES = 2048

/** Lowest or highest number or time of a column, and how the grid has it. */
export interface Extreme {
  value: number
  written: () => string
}

/** Places in `totals`. */
const SUM = 0
const RANGE_SUM = 1
const LAST = 2
const MIN = 3
const MAX = 4
/** Places of the lowest and of the highest value in the last run; −1 if it lies before. */
const LOW = 5
const HIGH = 6
/** 1 if numbers never decrease. */
const IS_ASCENDING = 7
const NULLS = 8
/** Number of finite numbers. */
const COUNT = 9

/** Running statistics of numbers, or of times in ms since 1970. */
export class NumberStatistics {
  /** One array, since V8 compiles again what uses an object whose fields change their kind of number. */
  private readonly totals = new Float64Array(COUNT + 1)
  private writtenLowest: () => string = () => ''
  private writtenHighest: () => string = () => ''
  private readonly sample: Sample
  /** Sum and number of the values of each range of the trend. */
  private readonly rangeSums: Float64Array
  private readonly rangeCounts: Float64Array
  private readonly rangeRows: number
  /** Row of the next value. */
  private row = 0

  constructor(rows: number) {
    const ranges = Math.min(TREND_RANGES, rows)
    this.rangeSums = new Float64Array(ranges)
    this.rangeCounts = new Float64Array(ranges)
    this.rangeRows = rows / Math.max(1, ranges)
    this.sample = new Sample(rows)
    this.totals[LAST] = Number.NEGATIVE_INFINITY
    this.totals[MIN] = Number.POSITIVE_INFINITY
    this.totals[MAX] = Number.NEGATIVE_INFINITY
    this.totals[IS_ASCENDING] = 1
  }

  addNulls(rows: number): void {
    this.totals[NULLS] += rows
    this.row += rows
  }

  /** Passes rows with other values than numbers. */
  skip(rows: number): void {
    this.row += rows
  }

  /** Adds the values of the next rows: NaN is null. `writtenAt` returns one as the grid has it; it can be called later. */
  addAll(values: Float64Array, writtenAt: (k: number) => string): void {
    for (let from = 0; from < values.length; ) {
      const to = Math.min(values.length, from + MAX_RUN_VALUES, from + this.rowsOfRange())
      this.addRun(values.subarray(from, to), from, writtenAt)
      from = to
    }
  }

  /** Adds values of one range, which begin at `offset` of those of `writtenAt`. */
  private addRun(values: Float64Array, offset: number, writtenAt: (k: number) => string): void {
    const { totals } = this
    const range = this.rangeOf(this.row)
    const before = totals[COUNT]
    totals[RANGE_SUM] = this.rangeSums[range]
    sumUp(values, totals)
    this.rangeSums[range] = totals[RANGE_SUM]
    this.rangeCounts[range] += totals[COUNT] - before
    this.row += values.length
    const [low, high] = [totals[LOW], totals[HIGH]]
    if (low >= 0) this.writtenLowest = () => writtenAt(offset + low)
    if (high >= 0) this.writtenHighest = () => writtenAt(offset + high)
    this.takeSample(values, before)
  }

  /** Takes the values of the sample among `values`; `before` is the number of finite numbers before them. */
  private takeSample(values: Float64Array, before: number): void {
    const { sample } = this
    const count = this.totals[COUNT]
    if (count - before === values.length) {
      while (sample.next < count) sample.take(values[sample.next - before])
      return
    }
    for (let k = 0, number = before; sample.next < count; k++) {
      if (Number.isFinite(values[k]) && number++ === sample.next) sample.take(values[k])
    }
  }

  /** Number of the range of the trend that a row is in. */
  private rangeOf(row: number): number {
    return Math.min(this.rangeSums.length - 1, Math.floor(row / this.rangeRows))
  }

  /** Returns the number of rows from here to the end of their range. */
  private rowsOfRange(): number {
    const range = this.rangeOf(this.row)
    if (range === this.rangeSums.length - 1) return Number.POSITIVE_INFINITY
    let end = Math.ceil((range + 1) * this.rangeRows)
    // Rounding can be off by one.
    while (this.rangeOf(end) === range) end++
    while (end > this.row + 1 && this.rangeOf(end - 1) > range) end--
    return end - this.row
  }

  get nulls(): number {
    return this.totals[NULLS]
  }

  /** Number of finite numbers. */
  get count(): number {
    return this.totals[COUNT]
  }

  get isAscending(): boolean {
    return this.totals[IS_ASCENDING] === 1
  }

  /** Undefined if there is no number. */
  get lowest(): Extreme | undefined {
    return this.count === 0 ? undefined : { value: this.totals[MIN], written: this.writtenLowest }
  }

  /** Undefined if there is no number. */
  get highest(): Extreme | undefined {
    return this.count === 0 ? undefined : { value: this.totals[MAX], written: this.writtenHighest }
  }

  get mean(): number | null {
    return finiteOrNull(this.totals[SUM] / this.count)
  }

  /** Quartiles; estimates unless `areQuantilesExact`. */
  get quantiles(): number[] {
    return [0.25, 0.5, 0.75].map(this.sample.sortForQuantiles())
  }

  get areQuantilesExact(): boolean {
    return this.sample.isWhole
  }

  /** Means of the ranges of rows; null without a number. */
  get trend(): (number | null)[] {
    return Array.from(this.rangeSums, (sum, k) => finiteOrNull(sum / this.rangeCounts[k]))
  }
}

/** Adds values to totals. Its own function, without closures, so that V8 compiles it once. */
function sumUp(values: Float64Array, totals: Float64Array): void {
  let sum = totals[SUM]
  let rangeSum = totals[RANGE_SUM]
  let last = totals[LAST]
  let min = totals[MIN]
  let max = totals[MAX]
  let [low, high, nulls, odd] = [-1, -1, 0, 0]
  let isAscending = totals[IS_ASCENDING] === 1
  for (let k = 0; k < values.length; k++) {
    const value = values[k]
    // Null, or a number that exceeds the range of a double.
    if (value - value !== 0) {
      if (Number.isNaN(value)) nulls++
      else odd++
      continue
    }
    if (value < min) {
      min = value
      low = k
    }
    if (value > max) {
      max = value
      high = k
    }
    if (isAscending && value < last) isAscending = false
    last = value
    sum += value
    rangeSum += value
  }
  totals[SUM] = sum
  totals[RANGE_SUM] = rangeSum
  totals[LAST] = last
  totals[MIN] = min
  totals[MAX] = max
  totals[LOW] = low
  totals[HIGH] = high
  totals[IS_ASCENDING] = isAscending ? 1 : 0
  totals[NULLS] += nulls
  totals[COUNT] += values.length - nulls - odd
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
