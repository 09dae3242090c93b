/** Transform `aggregate`, and our transforms `number` and `cells`: combine the points of groups. */

import { listDataAttributes } from '../figure/data-attributes.ts'
import { type Attributes, isObject } from '../figure/figure.ts'
import {
  getArrayAt,
  groupRows,
  keyOfLabel,
  listPointArrays,
  resolveTarget,
  selectRows,
  setAtPath,
  type Transform,
  toKey,
} from './attributes.ts'
import type { AxisTypes, Conversion } from './axis-types.ts'

/** Combines the values of a group. `numbers` has only valid numbers; `all` has undefined for other values. */
type Aggregate = (numbers: readonly number[], all: readonly (number | undefined)[]) => number | undefined

const sumOf = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0)
const minOf = (numbers: readonly number[]): number =>
  numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const maxOf = (numbers: readonly number[]): number =>
  numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
const undefinedIfEmpty =
  (aggregate: Aggregate): Aggregate =>
  (numbers, all) =>
    numbers.length === 0 ? undefined : aggregate(numbers, all)

/** Aggregate functions of numbers. `first`, `last` and `count` accept any values. */
const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  sum: sumOf,
  avg: undefinedIfEmpty((numbers) => sumOf(numbers) / numbers.length),
  min: undefinedIfEmpty(minOf),
  max: undefinedIfEmpty(maxOf),
  range: undefinedIfEmpty((numbers) => maxOf(numbers) - minOf(numbers)),
  change: (_, all) => {
    const [first, last] = [all[0], all.at(-1)]
    return first === undefined || last === undefined ? undefined : last - first
  },
  median: undefinedIfEmpty((numbers) => {
    const sorted = [...numbers].sort((a, b) => a - b)
    const middle = (sorted.length - 1) / 2
    return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
  }),
  mode: (numbers) => {
    const counts = new Map<number, number>()
    let highestCount = 0
    let mode: number | undefined
    for (const number of numbers) {
      const count = (counts.get(number) ?? 0) + 1
      counts.set(number, count)
      if (count > highestCount) [highestCount, mode] = [count, number]
    }
    return mode
  },
  rms: undefinedIfEmpty((numbers) =>
    Math.sqrt(sumOf(numbers.map((value) => value * value)) / numbers.length),
  ),
}

/** Computes the standard deviation of a sample or a population; undefined without numbers. */
function standardDeviation(numbers: readonly number[], isPopulation: boolean): number | undefined {
  if (numbers.length === 0) return undefined
  const count = isPopulation ? numbers.length : numbers.length - 1
  if (count === 0) return 0
  // Relative to the first value, to lose fewer digits.
  const differences = numbers.map((value) => value - numbers[0])
  const total = sumOf(differences)
  return Math.sqrt(
    (sumOf(differences.map((value) => value * value)) - (total * total) / numbers.length) / count,
  )
}

/** Combines the points of each group. Arrays without an aggregation keep the first value of the group. */
export function aggregate(trace: Attributes, transform: Transform, axes: AxisTypes): void {
  const { groups = 'x', aggregations } = transform
  const groupValues = resolveTarget(trace, groups)
  const specs = Array.isArray(aggregations) ? aggregations.filter(isObject) : []
  if (!groupValues) return
  // Rows without a label are a separate group from those with the text `null`.
  const isGridlineAggregation = specs.some(({ empty }) => empty === 'none')
  const keys = isGridlineAggregation
    ? groupValues.map((key) => axes.timeOnDateAxis(trace, groups, key) ?? keyOfLabel(key))
    : groupValues
  const groupings = [...groupRows(keys).values()]
  // Arrays of later transforms keep all their values.
  const index = trace.transforms.indexOf(transform)
  const isLater = (path: string): boolean => Number(/^transforms\.(\d+)/.exec(path)?.[1] ?? -1) >= index
  const paths = new Set(listPointArrays(trace).filter((path) => !isLater(path)))
  const aggregated = new Set<string>()
  for (const aggregation of specs) {
    const { target, func = 'first', enabled, funcmode, empty } = aggregation
    // The grouping column keeps the value of the group.
    if (enabled === false || typeof target !== 'string' || aggregated.has(target) || target === groups)
      continue
    if (!paths.has(target) && !(func === 'count' && isDataAttribute(trace, target))) continue
    aggregated.add(target)
    const values = getArrayAt(trace, target)
    const options = { func: toKey(func), funcmode, isEmptyNone: empty === 'none' }
    const getConversion = () => axes.getConversion(trace, target, values)
    setAtPath(trace, target, aggregateValues(values, groupings, options, getConversion))
  }
  const firsts = groupings.map(([first]) => first)
  selectRows(
    trace,
    firsts,
    trace,
    [...paths].filter((path) => !aggregated.has(path)),
  )
}

/** Aggregates a column to the value of an indicator. */
export function aggregateToNumber(
  trace: Attributes,
  { func = 'last', of }: Transform,
  axes: AxisTypes,
): void {
  const { customdata: values } = trace
  if (trace.type !== 'indicator' || !Array.isArray(values)) return
  const present = of === 'rows' ? values : values.filter((value) => value !== null && value !== undefined)
  const getConversion = () => axes.getConversion(trace, 'customdata', present)
  const [value] =
    present.length === 0
      ? [func === 'count' ? 0 : undefined]
      : aggregateValues(present, [[...present.keys()]], { func: toKey(func) }, getConversion)
  if (typeof value === 'number') trace.value = value
  delete trace.customdata
  delete trace.customdatasrc
}

/** Combines all points with the same `x` and `y` into one cell of a heatmap. */
export function aggregateToCells(trace: Attributes, transform: Transform, axes: AxisTypes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y) || typeof transform.func !== 'string') return
  const placeOf = (axis: 'x' | 'y', value: unknown): unknown =>
    axes.timeOnDateAxis(trace, axis, value) ?? keyOfLabel(value)
  transform.groups = x.map((value, k) => JSON.stringify([placeOf('x', value), placeOf('y', y[k])]))
  transform.aggregations = [{ target: 'z', func: transform.func, empty: 'none' }]
  aggregate(trace, transform, axes)
}

function isDataAttribute({ type = 'scatter' }: Attributes, path: string): boolean {
  return listDataAttributes(toKey(type)).has(path)
}

/** Aggregates values by group. Unknown functions take the first value. */
function aggregateValues(
  values: readonly unknown[],
  groupings: readonly number[][],
  { func, funcmode, isEmptyNone = false }: { func: string; funcmode?: unknown; isEmptyNone?: boolean },
  getConversion: () => Conversion,
): unknown[] {
  if (func === 'count') return groupings.map((rows) => rows.length)
  // Missing values are left out.
  const isPresent = (k: number): boolean => !isEmptyNone || (values[k] ?? '') !== ''
  if (func === 'last')
    return groupings.map((rows) => values[rows.findLast(isPresent) ?? rows[rows.length - 1]])
  const isDeviation = func === 'stddev'
  if (!isDeviation && !Object.hasOwn(AGGREGATES, func))
    return groupings.map((rows) => values[rows.find(isPresent) ?? rows[0]])
  const { toNumber, toValue } = getConversion()
  return groupings.map((rows) => {
    const all = rows.map((k) => toNumber(values[k]))
    const numbers = all.filter((value): value is number => value !== undefined)
    // In plotly.js, an empty sum is 0, which looks like a value.
    if (isEmptyNone && numbers.length === 0) return undefined
    if (isDeviation) return standardDeviation(numbers, funcmode === 'population')
    const result = AGGREGATES[func](numbers, all)
    return result === undefined ? undefined : toValue(result)
  })
}
