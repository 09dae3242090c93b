import { dataAttributes } from '../data-attributes.ts'
import {
  type Attributes,
  arraysOf,
  isObject,
  keyOf,
  MISSING,
  rowsByKey,
  setAt,
  type Transform,
  takeRows,
  targetOf,
  valueAt,
} from './attributes.ts'
import type { Axes } from './axes.ts'

/** Values that are numbers. */
type Aggregate = (numbers: readonly number[], all: readonly (number | undefined)[]) => number | undefined

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
const least = (numbers: readonly number[]): number =>
  numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const greatest = (numbers: readonly number[]): number =>
  numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
const ofSome =
  (aggregate: Aggregate): Aggregate =>
  (numbers, all) =>
    numbers.length === 0 ? undefined : aggregate(numbers, all)

/** Functions of numbers. `first`, `last` and `count` take any values. */
const functions: Readonly<Record<string, Aggregate>> = {
  sum,
  avg: ofSome((numbers) => sum(numbers) / numbers.length),
  min: ofSome(least),
  max: ofSome(greatest),
  range: ofSome((numbers) => greatest(numbers) - least(numbers)),
  change: (_, all) => {
    const [first, last] = [all[0], all.at(-1)]
    return first === undefined || last === undefined ? undefined : last - first
  },
  median: ofSome((numbers) => {
    const sorted = [...numbers].sort((a, b) => a - b)
    const middle = (sorted.length - 1) / 2
    return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
  }),
  mode: (numbers) => {
    const counts = new Map<number, number>()
    let most = 0
    let found: number | undefined
    for (const number of numbers) {
      const count = (counts.get(number) ?? 0) + 1
      counts.set(number, count)
      if (count > most) [most, found] = [count, number]
    }
    return found
  },
  rms: ofSome((numbers) => Math.sqrt(sum(numbers.map((one) => one * one)) / numbers.length)),
}

/** The deviation of a sample, or of a population. */
function deviation(numbers: readonly number[], isPopulation: boolean): number | undefined {
  if (numbers.length === 0) return undefined
  const count = isPopulation ? numbers.length : numbers.length - 1
  if (count === 0) return 0
  // Relative to the first value, which loses fewer digits.
  const shifted = numbers.map((one) => one - numbers[0])
  const total = sum(shifted)
  return Math.sqrt((sum(shifted.map((one) => one * one)) - (total * total) / numbers.length) / count)
}

/** Makes one point of all points of a group. Arrays without an aggregation of their own have their first values. */
export function aggregate(trace: Attributes, transform: Transform, axes: Axes): void {
  const { groups = 'x', aggregations } = transform
  const given = targetOf(trace, groups)
  const listed = Array.isArray(aggregations) ? aggregations.filter(isObject) : []
  if (!given) return
  // Rows without a label are a group of their own, and not one with the text `null`.
  const isOurs = listed.some(({ empty }) => empty === 'none')
  const keys = isOurs ? given.map((key) => axes.momentOf(trace, groups, key) ?? key ?? MISSING) : given
  const groupings = [...rowsByKey(keys).values()]
  // Arrays of transforms that follow keep their values, also those for which there are no points any more.
  const index = (trace.transforms as unknown[]).indexOf(transform)
  const isLater = (path: string): boolean => Number(/^transforms\.(\d+)/.exec(path)?.[1] ?? -1) >= index
  const paths = new Set(arraysOf(trace).filter((path) => !isLater(path)))
  const done = new Set<string>()
  for (const aggregation of listed) {
    const { target, func = 'first', enabled, funcmode, empty } = aggregation
    // The values by which points are grouped stay those of the group.
    if (enabled === false || typeof target !== 'string' || done.has(target) || target === groups) continue
    if (!paths.has(target) && !(func === 'count' && isAttribute(trace, target))) continue
    done.add(target)
    const array = valueAt(trace, target)
    const values = Array.isArray(array) ? array : []
    const asked = { func: keyOf(func), funcmode, isEmptyNone: empty === 'none' }
    setAt(trace, target, reduced(trace, target, values, groupings, asked, axes))
  }
  const firsts = groupings.map(([first]) => first)
  takeRows(
    trace,
    firsts,
    trace,
    [...paths].filter((path) => !done.has(path)),
  )
}

/** The number of an indicator: what a function makes of all values of its column. */
export function number(trace: Attributes, { func = 'last' }: Transform, axes: Axes): void {
  const { customdata: values } = trace
  if (trace.type !== 'indicator' || !Array.isArray(values)) return
  const given = values.filter((value) => value !== null && value !== undefined)
  const [value] =
    given.length === 0
      ? [func === 'count' ? 0 : undefined]
      : reduced(trace, 'customdata', given, [[...given.keys()]], { func: keyOf(func) }, axes)
  if (typeof value === 'number') trace.value = value
  delete trace.customdata
  delete trace.customdatasrc
}

/** Makes one cell of a map of all points with the same `x` and `y`. */
export function cells(trace: Attributes, transform: Transform, axes: Axes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y) || typeof transform.func !== 'string') return
  transform.groups = x.map((value, k) => JSON.stringify([value, y[k]]))
  transform.aggregations = [{ target: 'z', func: transform.func, empty: 'none' }]
  aggregate(trace, transform, axes)
}

function isAttribute({ type = 'scatter' }: Attributes, path: string): boolean {
  return dataAttributes(keyOf(type)).has(path)
}

function reduced(
  trace: Attributes,
  target: string,
  values: readonly unknown[],
  groupings: readonly number[][],
  { func, funcmode, isEmptyNone = false }: { func: string; funcmode?: unknown; isEmptyNone?: boolean },
  axes: Axes,
): unknown[] {
  if (func === 'count') return groupings.map((rows) => rows.length)
  if (func === 'last') return groupings.map((rows) => values[rows[rows.length - 1]])
  const isDeviation = func === 'stddev'
  if (!isDeviation && !Object.hasOwn(functions, func)) return groupings.map(([first]) => values[first])
  const { toNumber, toValue } = axes.conversionOf(trace, target, values)
  return groupings.map((rows) => {
    const all = rows.map((k) => toNumber(values[k]))
    const numbers = all.filter((one): one is number => one !== undefined)
    // plotly.js has 0 for the sum of nothing, which looks like a value.
    if (isEmptyNone && numbers.length === 0) return undefined
    if (isDeviation) return deviation(numbers, funcmode === 'population')
    const found = functions[func](numbers, all)
    return found === undefined ? undefined : toValue(found)
  })
}
