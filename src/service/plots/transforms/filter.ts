/** Transform `filter`: keeps points by a condition. */
import { type Attributes, keyOf, type Transform, takeRows, targetOf } from './attributes.ts'
import type { Axes } from './axes.ts'

type Test = (value: number | undefined) => boolean
type Bound = number | undefined

const isBelow = (a: Bound, b: Bound): boolean => (a as number) < (b as number)
const isAtMost = (a: Bound, b: Bound): boolean => (a as number) <= (b as number)

/** Operations with one bound. */
const comparisons: Readonly<Record<string, (bound: Bound) => Test>> = {
  '=': (bound) => (value) => value === bound,
  '!=': (bound) => (value) => value !== bound,
  '<': (bound) => (value) => isBelow(value, bound),
  '<=': (bound) => (value) => isAtMost(value, bound),
  '>': (bound) => (value) => isBelow(bound, value),
  '>=': (bound) => (value) => isAtMost(bound, value),
}

/** Operations with two bounds: inside an interval, then outside of one. */
const intervals: Readonly<Record<string, (low: Bound, high: Bound) => Test>> = {
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
export function filter(trace: Attributes, transform: Transform, axes: Axes): void {
  const { target = 'x', operation = '=', value: operand = 0, preservegaps = false } = transform
  const values = targetOf(trace, target)
  if (!values) return
  const { toNumber } = axes.conversionOf(trace, target, Array.isArray(target) ? target : values)
  const test = testOf(keyOf(operation), operand, toNumber)
  if (!test) return
  const rows = values.map((value, k) => (test(toNumber(value)) ? k : -1))
  takeRows(trace, preservegaps === true ? rows : rows.filter((k) => k >= 0))
}

/** Creates the test of an operation; undefined for unknown ones. */
function testOf(operation: string, operand: unknown, toNumber: (value: unknown) => Bound): Test | undefined {
  const bounds: Bound[] = Array.isArray(operand)
    ? operand.map(toNumber)
    : [toNumber(operand), toNumber(operand)]
  if (Object.hasOwn(comparisons, operation)) return comparisons[operation](bounds[0])
  if (Object.hasOwn(intervals, operation)) return intervals[operation](bounds[0], bounds[1])
  if (operation === '{}') return (value) => bounds.includes(value)
  return operation === '}{' ? (value) => !bounds.includes(value) : undefined
}
