// Aggregate functions of groups of rows. Their names are those of charts.
import type { AGGREGATE_FUNCTIONS } from '../../../contract/row-options.ts'
import { jsonKindOf, parseShortNumber } from '../../../json/index.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { type Cell, jsonOf } from '../column/cursor.ts'
import { compareBytes, compareRanks, type Rank, rankOf } from '../column/value-order.ts'

/** Collects the values of a group. Missing values are left out. */
export interface Collector {
  /** Adds a value. Returns by how many bytes the collector has grown. */
  add(cell: Cell): number
  /** Adds a number that is decoded. Without it, the function needs cells. Returns by how many bytes it has grown. */
  addNumber?(value: number): number
  /** Returns the JSON of the result; `null` without values. */
  result(): string
}

/** A function of values of a type, and the type of its result. */
interface AggregateFunction {
  create(type: ColumnType): Collector
  typeOf(type: ColumnType): ColumnType
}

const numberOf = ({ buf, start, end }: Cell): number => {
  const short = parseShortNumber(buf, start, end)
  return Number.isNaN(short) ? Number(buf.toString('latin1', start, end)) : short
}
const isNumber = ({ buf, start }: Cell): boolean => jsonKindOf(buf[start]) === 'number'
const isMissing = ({ buf, start }: Cell): boolean => buf[start] === 0x6e
const formatNumber = (value: number): string => (Number.isFinite(value) ? String(value) : 'null')

const NUMBER_BYTES = 8
/** Size of a collector without values, and of a text or a buffer beside its characters, in bytes. */
export const COLLECTOR_BYTES = 80

/** Keeps numbers. A class, since there can be a million groups: closures would be several objects for each. */
class Numbers implements Collector {
  private readonly numbers: number[] = []

  constructor(private readonly finish: (numbers: readonly number[]) => number) {}

  add(cell: Cell): number {
    return isNumber(cell) ? this.addNumber(numberOf(cell)) : 0
  }

  addNumber(value: number): number {
    // With what the array has in reserve.
    return this.numbers.push(value) === 1 ? 17 * NUMBER_BYTES : 1.5 * NUMBER_BYTES
  }

  result(): string {
    return this.numbers.length === 0 ? 'null' : formatNumber(this.finish(this.numbers))
  }
}

/** Digits of a sum: more show the error of doubles, 366.84999999999997. */
const SUM_DIGITS = 15

/** A running total, with the error of each addition (Neumaier). */
export class RunningTotal {
  private sum = 0
  private error = 0
  count = 0

  addNumber(value: number): number {
    const next = this.sum + value
    this.error += Math.abs(this.sum) >= Math.abs(value) ? this.sum - next + value : value - next + this.sum
    this.sum = next
    this.count++
    return 0
  }

  private get total(): number {
    // Infinite numbers have no error.
    return Number.isFinite(this.sum) ? this.sum + this.error : this.sum
  }

  get roundedTotal(): number {
    return roundSum(this.total)
  }

  get mean(): number {
    return this.total / this.count
  }
}

/** Returns the median of numbers, which it sorts; NaN without numbers. */
export function medianOf(numbers: Float64Array): number {
  const sorted = numbers.sort()
  const middle = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  // The sum of two numbers above 8.9e307 is not finite.
  return Number.isFinite(low + high) ? (low + high) / 2 : low / 2 + high / 2
}

/** Rounds a sum, or a mean, to the digits that have no error of doubles. */
export function roundSum(sum: number): number {
  return Number.isInteger(sum) ? sum : Number(sum.toPrecision(SUM_DIGITS))
}

/** Keeps a running total, and no values. */
class Total extends RunningTotal implements Collector {
  constructor(private readonly finish: (running: RunningTotal) => number) {
    super()
  }

  add(cell: Cell): number {
    return isNumber(cell) ? this.addNumber(numberOf(cell)) : 0
  }

  result(): string {
    return this.count === 0 ? 'null' : formatNumber(this.finish(this))
  }
}

/** Counts values. */
class Count implements Collector {
  private count = 0

  add(cell: Cell): number {
    if (!isMissing(cell)) this.count++
    return 0
  }

  addNumber(): number {
    this.count++
    return 0
  }

  result(): string {
    return String(this.count)
  }
}

/** Keeps the first or the last value as it is written. */
class OneValue implements Collector {
  private kept: string | undefined

  constructor(private readonly isLast: boolean) {}

  add(cell: Cell): number {
    if (isMissing(cell) || (!this.isLast && this.kept !== undefined)) return 0
    const before = this.kept?.length ?? -COLLECTOR_BYTES
    this.kept = jsonOf(cell)
    return this.kept.length - before
  }

  result(): string {
    return this.kept ?? 'null'
  }
}

/** Keeps the lowest or the highest value as it is written: the first of equal ones. `sign`: 1 for the highest. */
class Extreme implements Collector {
  private kept: { buf: Buffer; start: number; end: number } | undefined
  /** Rank of `kept`, if it was needed. */
  private keptRank: Rank | undefined
  private readonly areDates: boolean

  constructor(
    private readonly sign: 1 | -1,
    private readonly type: ColumnType,
  ) {
    this.areDates = isDateType(type)
  }

  add(cell: Cell): number {
    if (isMissing(cell)) return 0
    const order = this.kept && this.compare(cell, this.kept)
    if (order !== undefined && order * this.sign <= 0) return 0
    const { buf, start, end } = cell
    const size = end - start
    const before = this.kept?.buf.length ?? -2 * COLLECTOR_BYTES
    // The buffer of the cell is used again. In a column in order, each value replaces the one before.
    if (!this.kept || this.kept.buf.length < size)
      this.kept = { buf: Buffer.allocUnsafe(size), start: 0, end: 0 }
    const bytes = this.kept.buf
    for (let k = 0; k < size; k++) bytes[k] = buf[start + k]
    this.kept.end = size
    this.keptRank = undefined
    return this.kept.buf.length - before
  }

  private compare(cell: Cell, kept: Cell): number {
    const { type } = this
    const order = compareBytes(cell, kept, this.areDates)
    if (order !== undefined) return order
    this.keptRank ??= rankOf(jsonOf(kept), type)
    return compareRanks(rankOf(jsonOf(cell), type), this.keptRank)
  }

  result(): string {
    return this.kept ? jsonOf(this.kept) : 'null'
  }
}

/** Creates a function of numbers. */
function ofNumbers(finish: (numbers: readonly number[]) => number): AggregateFunction {
  return { typeOf: () => 'number', create: () => new Numbers(finish) }
}

/** Creates a function of a running total. */
function ofTotal(finish: (running: RunningTotal) => number): AggregateFunction {
  return { typeOf: () => 'number', create: () => new Total(finish) }
}

/** Creates a function that keeps one value. */
function ofOneValue(create: (type: ColumnType) => Collector): AggregateFunction {
  return { typeOf: (type) => type, create }
}

export const AGGREGATES = {
  sum: ofTotal(({ roundedTotal }) => roundedTotal),
  mean: ofTotal(({ mean }) => mean),
  median: ofNumbers((numbers) => medianOf(Float64Array.from(numbers))),
  min: ofOneValue((type) => new Extreme(-1, type)),
  max: ofOneValue((type) => new Extreme(1, type)),
  first: ofOneValue(() => new OneValue(false)),
  last: ofOneValue(() => new OneValue(true)),
  count: { typeOf: () => 'number', create: () => new Count() },
} as const satisfies Record<(typeof AGGREGATE_FUNCTIONS)[number], AggregateFunction>

export type AggregateName = keyof typeof AGGREGATES
