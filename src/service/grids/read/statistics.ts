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
/** Number of values in the sample for quantiles. */
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
    let [low, high] = [-1, -1]
    let [min, max] = [this.lowest.value, this.highest.value]
    for (let k = 0; k < values.length; k++) {
      const value = values[k]
      if (Number.isNaN(value)) this.addNulls(1)
      else {
        this.addDistinctDouble(value)
        this.addDouble(value)
        // Other numbers exceed the range of a double.
        if (value < min && value !== Number.NEGATIVE_INFINITY) {
          min = value
          low = k
        }
        if (value > max && value !== Number.POSITIVE_INFINITY) {
          max = value
          high = k
        }
      }
    }
    if (low >= 0) this.lowest = { value: min, written: () => writtenAt(low) }
    if (high >= 0) this.highest = { value: max, written: () => writtenAt(high) }
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
    const value = Number(number)
    this.addDistinct(buf, start, end)
    this.addDouble(value)
    if (!Number.isFinite(value)) return
    if (value < this.lowest.value) this.lowest = { value, written: () => written }
    if (value > this.highest.value) this.highest = { value, written: () => written }
  }

  private addDistinctDouble(value: number): void {
    if (!this.isExact) return
    this.distinctDoubles.add(value)
    this.limitDistinct()
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

  /** Adds a number or time, except to the distinct values and the extremes. */
  private addDouble(value: number): void {
    const row = this.row++
    if (!Number.isFinite(value)) return
    if (value < this.last) this.isAscending = false
    this.last = value
    if (this.isMoments) return
    this.sum += value
    const range = this.ranges[Math.min(this.ranges.length - 1, Math.floor(row / this.rangeRows))]
    range.sum += value
    range.count++
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
    const { lowest, highest, numbers } = this
    const sorted = this.sample.sort((a, b) => a - b)
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
