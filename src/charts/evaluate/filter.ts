/** Transform `filter`: keeps points by a condition. */
import type { Attributes } from '../figure/figure.ts'
import { resolveTarget, selectRows, type Transform, toKey } from './attributes.ts'
import type { AxisTypes } from './axis-types.ts'

type Test = (value: number | undefined) => boolean
type Bound = number | undefined

// Undefined is neither below nor above a number.
const isBelow = (a: Bound, b: Bound): boolean => a !== undefined && b !== undefined && a < b
const isAtMost = (a: Bound, b: Bound): boolean => a !== undefined && b !== undefined && a <= b

/** Operations with one bound. */
const COMPARISONS: Readonly<Record<string, (bound: Bound) => Test>> = {
  '=': (bound) => (value) => value === bound,
  '!=': (bound) => (value) => value !== bound,
  '<': (bound) => (value) => isBelow(value, bound),
  '<=': (bound) => (value) => isAtMost(value, bound),
  '>': (bound) => (value) => isBelow(bound, value),
  '>=': (bound) => (value) => isAtMost(bound, value),
}

/** Operations with two bounds: inside an interval, then outside of one. */
const INTERVALS: Readonly<Record<string, (low: Bound, high: Bound) => Test>> = {
  '[]': (low, high) => (value) => isAtMost(low, value) && isAtMost(value, high),
  '()': (low, high) => (value) => isBelow(low, value) && isBelow(value, high),
  '[)': (low, high) => (value) => isAtMost(low, value) && isBelow(value, high),
  '(]': (low, high) => (value) => isBelow(low, value) && isAtMost(value, high),
  '][': (low, high) => (value) => isAtMost(value, low) || isAtMost(high, value),
  ')(': (low, high) => (value) => isBelow(value, low) || isBelow(high, value),
  '](': (low, high) => (value) => isAtMost(value, low) || isBelow(high, value),
  ')[': (low, high) => (value) => isBelow(value, low) || isAtMost(high, value),
}

/** Keeps the points whose target passes the operation. With `preservegaps`, other points become gaps. */
export function filterPoints(trace: Attributes, transform: Transform, axes: AxisTypes): void {
  const { target = 'x', operation = '=', value: operand = 0, preservegaps = false } = transform
  const values = resolveTarget(trace, target)
  if (!values) return
  const { toNumber } = axes.getConversion(trace, target, Array.isArray(target) ? target : values)
  const test = createTest(toKey(operation), operand, toNumber)
  if (!test) return
  const rows = values.map((value, k) => (test(toNumber(value)) ? k : -1))
  selectRows(trace, preservegaps === true ? rows : rows.filter((k) => k >= 0))
}

/** Creates the test of an operation; undefined for unknown ones. */
function createTest(
  operation: string,
  operand: unknown,
  toNumber: (value: unknown) => Bound,
): Test | undefined {
  const bounds: Bound[] = Array.isArray(operand)
    ? operand.map(toNumber)
    : [toNumber(operand), toNumber(operand)]
  if (Object.hasOwn(COMPARISONS, operation)) return COMPARISONS[operation](bounds[0])
  if (Object.hasOwn(INTERVALS, operation)) return INTERVALS[operation](bounds[0], bounds[1])
  const listed = new Set(bounds)
  if (operation === '{}') return (value) => listed.has(value)
  return operation === '}{' ? (value) => !listed.has(value) : undefined
}
