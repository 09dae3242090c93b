// Aggregate functions of groups of rows. Their names are those of charts.
import type { AGGREGATE_FUNCTIONS } from '../../../contract/row-options.ts'
import { jsonKindOf } from '../../../json/index.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { type Cell, jsonOf } from '../column/cursor.ts'

/** Collects the values of a group. Missing values are left out. */
interface Collector {
  add(cell: Cell): void
  /** Returns the JSON of the result; `null` without values. */
  result(): string
}

/** A function, and the type of its result for a type of column. */
interface AggregateFunction {
  create(): Collector
  typeOf(type: ColumnType): ColumnType
}

const numberOf = ({ buf, start, end }: Cell): number => Number(buf.toString('latin1', start, end))
const isNumber = ({ buf, start }: Cell): boolean => jsonKindOf(buf[start]) === 'number'
const isMissing = ({ buf, start }: Cell): boolean => buf[start] === 0x6e
const formatNumber = (value: number): string => (Number.isFinite(value) ? String(value) : 'null')

/** Creates a function of numbers. */
function ofNumbers(finish: (numbers: readonly number[]) => number): AggregateFunction {
  return {
    typeOf: () => 'number',
    create: () => {
      const numbers: number[] = []
      return {
        add: (cell) => {
          if (isNumber(cell)) numbers.push(numberOf(cell))
        },
        result: () => (numbers.length === 0 ? 'null' : formatNumber(finish(numbers))),
      }
    },
  }
}

/** Creates a function of a running total, which keeps no values. */
function ofTotal(finish: (total: number, count: number) => number): AggregateFunction {
  return {
    typeOf: () => 'number',
    create: () => {
      let [total, count] = [0, 0]
      return {
        add: (cell) => {
          if (!isNumber(cell)) return
          total += numberOf(cell)
          count++
        },
        result: () => (count === 0 ? 'null' : formatNumber(finish(total, count))),
      }
    },
  }
}

/** Creates a function that keeps one value as it is written. `replaces`: whether a value takes the place of the last. */
function ofOneValue(replaces: (next: string, kept: string) => boolean): AggregateFunction {
  return {
    typeOf: (type) => type,
    create: () => {
      let kept: string | undefined
      return {
        add: (cell) => {
          if (isMissing(cell)) return
          const next = jsonOf(cell)
          if (kept === undefined || replaces(next, kept)) kept = next
        },
        result: () => kept ?? 'null',
      }
    },
  }
}

/** Compares JSON values: numbers as numbers, everything else as text. */
function isLess(a: string, b: string): boolean {
  const [x, y] = [Number(a), Number(b)]
  return Number.isNaN(x) || Number.isNaN(y) ? a < b : x < y
}

export const AGGREGATES = {
  sum: ofTotal((total) => total),
  mean: ofTotal((total, count) => total / count),
  median: ofNumbers((numbers) => {
    const sorted = Float64Array.from(numbers).sort()
    const middle = (sorted.length - 1) / 2
    return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
  }),
  min: ofOneValue(isLess),
  max: ofOneValue((next, kept) => isLess(kept, next)),
  first: ofOneValue(() => false),
  last: ofOneValue(() => true),
  count: {
    typeOf: () => 'number' as const,
    create: () => {
      let count = 0
      return {
        add: (cell: Cell) => {
          if (!isMissing(cell)) count++
        },
        result: () => String(count),
      }
    },
  },
} as const satisfies Record<(typeof AGGREGATE_FUNCTIONS)[number], AggregateFunction>

export type AggregateName = keyof typeof AGGREGATES
