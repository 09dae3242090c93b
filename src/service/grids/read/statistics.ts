// Statistics of a column, in constant memory.
import { createHash } from 'node:crypto'
import type { ColumnDescription } from '../../../contract/resources/index.ts'
import { jsonKindOf, parseInstantBytes } from '../../../json/index.ts'
import { parseNumberLiteral } from '../../../query/index.ts'
import { DistinctDoubles } from './distinct-doubles.ts'
import { DistinctValues } from './distinct-values.ts'

/** Maximum number of distinct values that are counted. */
const MAX_DISTINCT_VALUES = 100_000
/** Maximum size of a value in the set of distinct values, in bytes. Longer values are hashed. */
const MAX_KEPT_VALUE_BYTES = 200
/** Maximum number of values in the sample for quantiles: even. */
const MAX_SAMPLE_VALUES = 10_000
/** Number of row ranges in the trend. */
const TREND_RANGES = 24

/** Lowest or highest number or time of a column, and how the grid has it. */
interface Extreme {
  value: number
  written: () => string
}

/** Running statistics of the values of a column. */
export class Statistics {
  private nulls = 0
  /** Finite numbers or times. */
  private numbers = 0
  private hasTexts = false
  private sum = 0
  private row = 0
  private lowest: Extreme = { value: Number.POSITIVE_INFINITY, written: () => '' }
  private highest: Extreme = { value: Number.NEGATIVE_INFINITY, written: () => '' }
  private firstText: string | undefined
  private lastText: string | undefined
  /** First and last text if they are ASCII. */
  private bounds: readonly [Buffer, Buffer] | undefined
  private readonly distinctDoubles = new DistinctDoubles()
  /** Other values than doubles. */
  private readonly distinctOthers = new DistinctValues()
  private isExact = true
  /** True if numbers or times never decrease. */
  private isAscending = true
  private last = Number.NEGATIVE_INFINITY
  private seed = 1
  private readonly sample: number[] = []
  /** Number of the next value of the sample, among those of the column. */
  private nextSample = 0
  /** How many numbers of the column each value of the sample stands for, and all of them. */
  private stride = 1
  private sampled = 0
  private readonly ranges: { sum: number; count: number }[]
  private readonly rangeRows: number

  constructor(
    rows: number,
    private readonly isMoments: boolean,
  ) {
    const count = Math.min(TREND_RANGES, rows)
    this.ranges = Array.from({ length: count }, () => ({ sum: 0, count: 0 }))
    this.rangeRows = rows / Math.max(1, count)
  }

  /** Adds nulls. */
  addNulls(count: number): void {
    this.nulls += count
    this.row += count
  }

  /**
   * Adds numbers, or times in ms since 1970; NaN is null. `writtenAt` returns a value as the grid has it,
   * without quotes; it can be called later.
   */
  addDoubles(values: Float64Array, writtenAt: (k: number) => string): void {
    if (this.isExact) {
      this.distinctDoubles.addAll(values, MAX_DISTINCT_VALUES - this.distinctOthers.size)
      this.limitDistinct()
    }
    for (let from = 0; from < values.length; ) {
      const to = Math.min(values.length, from + this.rowsOfRange())
      this.addRun(values, from, to, writtenAt)
      from = to
    }
  }

  /** Adds the JSON value buf[start, end). */
  add(buf: Buffer, start: number, end: number): void {
    const kind = jsonKindOf(buf[start])
    if (kind === 'null') this.addNulls(1)
    else if (kind === 'number') this.addNumber(buf, start, end)
    else if (kind === 'string' && this.isMoments) {
      const time = parseInstantBytes(buf, start + 1, end - 1)
      this.addDoubles(Float64Array.of(time), () => buf.toString('latin1', start + 1, end - 1))
    } else {
      this.row++
      this.addDistinct(buf, start, end)
      if (kind !== 'string') return
      this.hasTexts = true
      if (!this.isBetweenBounds(buf, start + 1, end - 1)) this.addText(decodeTextStart(buf, start, end))
    }
  }

  private addNumber(buf: Buffer, start: number, end: number): void {
    const written = buf.toString('latin1', start, end)
    const number = parseNumberLiteral(written)
    if (typeof number === 'number') {
      this.addDoubles(Float64Array.of(number), () => written)
      return
    }
    this.addDistinct(buf, start, end)
    this.addRun(Float64Array.of(Number(number)), 0, 1, () => written)
  }

  private addDistinct(buf: Buffer, start: number, end: number): void {
    if (!this.isExact) return
    if (end - start <= MAX_KEPT_VALUE_BYTES) this.distinctOthers.add(buf, start, end)
    else {
      const hash = createHash('sha256').update(buf.subarray(start, end)).digest()
      this.distinctOthers.add(hash, 0, hash.length)
    }
    this.limitDistinct()
  }

  private limitDistinct(): void {
    if (this.distinct >= MAX_DISTINCT_VALUES) this.isExact = false
  }

  private get distinct(): number {
    return this.distinctDoubles.size + this.distinctOthers.size
  }

  /** Number of the range of the trend that a row is in. */
  private rangeOf(row: number): number {
    return Math.min(this.ranges.length - 1, Math.floor(row / this.rangeRows))
  }

  /** Returns the number of rows from here to the end of their range. */
  private rowsOfRange(): number {
    const range = this.rangeOf(this.row)
    if (range === this.ranges.length - 1) return Number.POSITIVE_INFINITY
    let end = Math.ceil((range + 1) * this.rangeRows)
    // Rounding can be off by one.
    while (this.rangeOf(end) === range) end++
    while (end > this.row + 1 && this.rangeOf(end - 1) > range) end--
    return end - this.row
  }

  /** Adds values [from, to) of one range, except to the distinct values. */
  private addRun(values: Float64Array, from: number, to: number, writtenAt: (k: number) => string): void {
    let { sum, numbers, last, isAscending, nextSample } = this
    let [min, max] = [this.lowest.value, this.highest.value]
    let [low, high] = [-1, -1]
    const range = this.ranges[this.rangeOf(this.row)]
    let sumOfRange = range.sum
    const before = numbers
    for (let k = from; k < to; k++) {
      const value = values[k]
      // Null, or a number that exceeds the range of a double.
      if (value - value !== 0) {
        if (Number.isNaN(value)) this.nulls++
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
      sumOfRange += value
      if (numbers++ === nextSample) nextSample = this.takeSample(value)
    }
    Object.assign(this, { sum, numbers, last, isAscending, nextSample })
    range.sum = sumOfRange
    range.count += numbers - before
    this.row += to - from
    if (low >= 0) this.lowest = { value: min, written: () => writtenAt(low) }
    if (high >= 0) this.highest = { value: max, written: () => writtenAt(high) }
  }

  /**
   * Takes a number of the column into the sample, and returns which one to take next. The sample has a
   * random one of each `stride` numbers; it is halved when it is full.
   */
  private takeSample(value: number): number {
    const { sample, stride } = this
    if (sample.length === MAX_SAMPLE_VALUES) {
      for (let n = 0; 2 * n < MAX_SAMPLE_VALUES; n++) sample[n] = sample[2 * n + this.randomBelow(2)]
      sample.length = MAX_SAMPLE_VALUES / 2
      this.stride = 2 * stride
      // The numbers that this one stands for are half as many as others stand for now.
      if (this.randomBelow(2) === 0) return this.sampled + stride + this.randomBelow(stride)
    }
    sample.push(value)
    this.sampled += this.stride
    return this.sampled + this.randomBelow(this.stride)
  }

  /** Returns a pseudorandom integer below `end`. Always the same sequence, so that statistics can be reproduced. */
  private randomBelow(end: number): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.seed / 2 ** 32) * end)
  }

  private addText(text: string): void {
    if (this.firstText === undefined || text < this.firstText) this.firstText = text
    if (this.lastText === undefined || this.lastText < text) this.lastText = text
    const areAscii = ASCII.test(this.firstText) && ASCII.test(this.lastText)
    this.bounds = areAscii ? [Buffer.from(this.firstText), Buffer.from(this.lastText)] : undefined
  }

  /** Returns whether the text buf[start, end) lies between the first and the last; false if unsure. */
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

  summarize(): Omit<ColumnDescription, 'name' | 'type' | 'rows'> {
    const { lowest, highest } = this
    const numbers = this.isMoments ? 0 : this.numbers
    const sorted = Float64Array.from(this.sample).sort()
    // Linear interpolation between two values.
    const quantile = (share: number): number => {
      const at = share * (sorted.length - 1)
      const below = sorted[Math.floor(at)]
      return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at))
    }
    const printed = ({ value, written }: Extreme): number | string | null => {
      if (!Number.isFinite(value)) return null
      return this.isMoments ? written() : exactNumber(value, written())
    }
    return {
      nulls: this.nulls,
      distinct: this.distinct,
      distinct_is_exact: this.isExact,
      // Numbers are less than texts.
      min: printed(lowest) ?? this.firstText ?? null,
      max: this.lastText ?? printed(highest),
      mean: numbers === 0 ? null : finiteOrNull(this.sum / numbers),
      // With more values than the sample, quantiles are estimates.
      quantiles_are_exact: numbers <= MAX_SAMPLE_VALUES,
      quantiles: numbers === 0 ? null : [quantile(0.25), quantile(0.5), quantile(0.75)],
      ascending: this.last === Number.NEGATIVE_INFINITY || this.hasTexts ? null : this.isAscending,
      trend:
        numbers === 0
          ? []
          : this.ranges.map(({ sum, count }) => (count === 0 ? null : finiteOrNull(sum / count))),
    }
  }
}

/** Texts whose bytes sort as their characters. */
const ASCII = /^[ -~]*$/
/** Returns a number, or its text if it has more digits than a double can represent. */
function exactNumber(value: number, written: string): number | string {
  // Trailing zeros of a fraction do not count as digits.
  const plain = written.includes('.') && !/e/i.test(written) ? written.replace(/\.?0+$/, '') : written
  const digits = plain.replace(/e.*$/i, '').replace(/^-?0*\.?0*|[.]/g, '')
  return digits.length > 15 && String(value) !== plain ? written : value
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
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
