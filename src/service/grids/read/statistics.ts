// Statistics of a column, in constant memory.
import { createHash } from 'node:crypto'
import type { ColumnDescription } from '../../../contract/resources/index.ts'
import { hasEscapes, jsonKindOf, parseInstantBytes } from '../../../json/index.ts'
import { parseNumberLiteral } from '../../../query/index.ts'
import { identifyBy, withoutLastZeros } from '../column/identify.ts'
import { orderTexts } from '../column/value-order.ts'
import { DistinctDoubles } from './distinct-doubles.ts'
import { DistinctValues } from './distinct-values.ts'
import { type Extreme, NumberStatistics } from './number-statistics.ts'

/** Maximum number of distinct values that are counted. */
const MAX_DISTINCT_VALUES = 100_000
/** Maximum size of a value in the set of distinct values, in bytes. Longer values are hashed. */
const MAX_KEPT_VALUE_BYTES = 200

/** Running statistics of the values of a column. */
export class Statistics {
  private readonly numbers: NumberStatistics
  private hasTexts = false
  private firstText: string | undefined
  private lastText: string | undefined
  /** First and last text if they are ASCII. */
  private bounds: readonly [Buffer, Buffer] | undefined
  private readonly distinctDoubles = new DistinctDoubles()
  /** Other values than doubles. */
  private readonly distinctOthers = new DistinctValues()
  private isExact = true

  constructor(
    rows: number,
    private readonly isMoments: boolean,
  ) {
    this.numbers = new NumberStatistics(rows)
  }

  /** Adds nulls. */
  addNulls(count: number): void {
    this.numbers.addNulls(count)
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
    this.numbers.addAll(values, writtenAt)
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
      this.numbers.skip(1)
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
    this.numbers.addAll(Float64Array.of(Number(number)), () => written)
  }

  private addDistinct(buf: Buffer, start: number, end: number): void {
    if (!this.isExact) return
    if (hasEscapes(buf, start, end)) {
      // The same text can be written without escapes.
      const text = Buffer.from(identifyBy.value(buf.toString('utf8', start, end)))
      this.addDistinctBytes(text, 0, text.length)
    } else this.addDistinctBytes(buf, start, end)
  }

  private addDistinctBytes(buf: Buffer, start: number, end: number): void {
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

  private addText(text: string): void {
    if (this.firstText === undefined || orderTexts(text, this.firstText) < 0) this.firstText = text
    if (this.lastText === undefined || orderTexts(this.lastText, text) < 0) this.lastText = text
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
    const { numbers, isMoments } = this
    const hasNumbers = numbers.count > 0 && !isMoments
    const printed = ({ value, written }: Extreme): number | string =>
      isMoments ? written() : exactNumber(value, written())
    return {
      nulls: numbers.nulls,
      distinct: this.distinct,
      distinct_is_exact: this.isExact,
      // Numbers are less than texts.
      min: (numbers.lowest && printed(numbers.lowest)) ?? this.firstText ?? null,
      max: this.lastText ?? (numbers.highest && printed(numbers.highest)) ?? null,
      mean: hasNumbers ? numbers.mean : null,
      quantiles_are_exact: !hasNumbers || numbers.areQuantilesExact,
      quantiles: hasNumbers ? numbers.quantiles : null,
      ascending: numbers.count === 0 || this.hasTexts ? null : numbers.isAscending,
      trend: hasNumbers ? numbers.trend : [],
    }
  }
}

/** Texts whose bytes sort as their characters. */
const ASCII = /^[ -~]*$/
/** Returns a number, or its text if it has more digits than a double can represent. */
function exactNumber(value: number, written: string): number | string {
  // Trailing zeros of a fraction do not count as digits.
  const isFraction = written.includes('.') && !/e/i.test(written)
  const plain = isFraction ? withoutLastZeros(written).replace(/\.$/, '') : written
  const digits = plain.split(/e/i, 1)[0].replace(/^-?0*\.?0*|[.]/g, '')
  return digits.length > 15 && String(value) !== plain ? written : value
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
