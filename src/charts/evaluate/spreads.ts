/** Transforms for distributions, calendars, flows, ranks and bands. See docs/api.md#own-transforms. */

import type { Attributes } from '../figure/figure.ts'
import { COMPASS, WEEKDAYS } from '../figure/shared-names.ts'
import { roundUpToStep, withoutNoise } from '../figure/steps.ts'
import { humanizeName } from '../spec/words.ts'
import {
  getArrayAt,
  groupRows,
  keyOfLabel,
  selectRows,
  setAtPath,
  type Transform,
  toKey,
} from './attributes.ts'
import { parsePlotlyDate } from './axis-types.ts'

/** Returns the finite numbers among values. */
function finiteNumbers(values: readonly unknown[]): number[] {
  return values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value))
}

/** Converts values to a cumulative distribution: `y` is the percentage of values that are at most `x`. */
export function cumulateValues(trace: Attributes): void {
  if (!Array.isArray(trace.x)) return
  const { x: values } = trace
  const rows = [...values.keys()].filter((k) => typeof values[k] === 'number')
  selectRows(
    trace,
    rows.sort((a, b) => values[a] - values[b]),
  )
  // Equal values get the percentage of the last one.
  const shares: number[] = []
  let done = 0
  for (const [, sameRows] of groupRows(getArrayAt(trace, 'x').map(toKey))) {
    done += sameRows.length
    for (const k of sameRows) shares[k] = (100 * done) / rows.length
  }
  setAtPath(trace, 'y', shares)
}

/** Number of points of a density curve. */
const CURVE_POINTS = 200
/** Maximum number of kernels. More values are rounded to this many positions. */
const MAX_KERNELS = 1000
/** Distances of extra curve points from a value, in kernel widths, if values are far apart. */
const KERNEL_STEPS = [-3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3]

/** Estimates the density of values with normal kernels. Their width follows Silverman's rule of thumb. */
export function estimateDensity(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.x)) return
  const values = Float64Array.from(finiteNumbers(trace.x)).sort()
  const count = values.length
  trace.x = []
  trace.y = []
  const [first, last] = [values[0], values[count - 1]]
  if (count > 0 && first === last)
    transform.unseen = [count, 'row', `of ${String(trace.name ?? 'a series')} with one value: no curve`]
  if (count < 2 || first === last) return
  const mean = values.reduce((sum, value) => sum + value / count, 0)
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1))
  const quarters = values[Math.floor(0.75 * (count - 1))] - values[Math.floor(0.25 * (count - 1))]
  const width = 0.9 * Math.min(deviation, quarters / 1.34 || deviation) * count ** -0.2
  const [from, to] = [first - 3 * width, last + 3 * width]
  // Round many values to CURVE_PARTS positions, and count them.
  const partWidth = (to - from) / MAX_KERNELS
  const counts = new Map<number, number>()
  for (const value of values) {
    const position = count <= MAX_KERNELS ? value : from + Math.round((value - from) / partWidth) * partWidth
    counts.set(position, (counts.get(position) ?? 0) + 1)
  }
  const even = Array.from({ length: CURVE_POINTS }, (_, k) => from + ((to - from) * k) / (CURVE_POINTS - 1))
  const isFar = (to - from) / CURVE_POINTS > width
  const nearValues = isFar
    ? [...counts.keys()].flatMap((value) => KERNEL_STEPS.map((step) => value + step * width))
    : []
  const points = [...new Set([...even, ...nearValues])].sort((a, b) => a - b)
  trace.x = points
  trace.y = points.map((position) => {
    let sum = 0
    for (const [value, valueCount] of counts)
      sum += valueCount * Math.exp(-0.5 * ((position - value) / width) ** 2)
    return sum / (count * width * Math.sqrt(2 * Math.PI))
  })
}

const DAY_MS = 86_400_000

/** Arranges days as a calendar: `x` is the week of the year from 0, `y` is `2024 Monday`. */
export function arrangeCalendar(trace: Attributes): void {
  const { x } = trace
  if (!Array.isArray(x) || !Array.isArray(trace.z)) return
  const days = x.map((value: unknown) => (typeof value === 'string' ? parsePlotlyDate(value) : undefined))
  const rows = [...days.keys()].filter((k) => days[k] !== undefined)
  selectRows(trace, rows)
  const dayNumbers = rows.map((k) => Math.floor(days[k]! / DAY_MS))
  // 1970-01-01 was a Thursday.
  const weekday = dayNumbers.map((day) => (((day + 3) % 7) + 7) % 7)
  trace.text = dayNumbers.map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10))
  const years: number[] = trace.text.map((text: string) => Number.parseInt(text, 10))
  trace.y = years.map((year, k) => `${year} ${WEEKDAYS[weekday[k]]}`)
  trace.x = dayNumbers.map((day, k) => {
    const first = new Date(0).setUTCFullYear(years[k], 0, 1) / DAY_MS
    return Math.floor((day - first + ((((first + 3) % 7) + 7) % 7)) / 7)
  })
}

/** Maximum number of links in a sankey diagram: the largest are kept. */
const MAX_LINKS = 120

/** Converts links between names to links between numbered nodes. Adds up links with the same ends. */
export function numberLinks(trace: Attributes, transform: Transform): void {
  const { source, target, value } = trace.link ?? {}
  if (!Array.isArray(source) || !Array.isArray(target)) return
  const names = new Map<string, number>()
  const numberOf = (name: unknown): number => {
    const key = toKey(name ?? '')
    if (!names.has(key)) names.set(key, names.size)
    return names.get(key)!
  }
  const sums = new Map<string, { source: number; target: number; value: number }>()
  let loops = 0
  for (const [k, from] of source.entries()) {
    const size: unknown = Array.isArray(value) ? value[k] : 1
    if ([from, target[k]].some((end) => end === null || end === undefined || end === '')) continue
    if (typeof size !== 'number' || !(size > 0)) continue
    // plotly.js draws links from a node to itself outside of the frame.
    if (toKey(from) === toKey(target[k])) {
      loops++
      continue
    }
    const [start, end] = [numberOf(from), numberOf(target[k])]
    const sum = sums.get(`${start} ${end}`) ?? { source: start, target: end, value: 0 }
    sum.value += size
    sums.set(`${start} ${end}`, sum)
  }
  if (loops > 0) transform.unseen = [loops, 'row', 'from a node to itself']
  const sorted = [...sums.values()].sort((a, b) => b.value - a.value)
  const largest = sorted.slice(0, MAX_LINKS)
  if (sorted.length > largest.length) transform.unseen = [sorted.length - largest.length, 'smaller link', '']
  const labels = [...names.keys()]
  // With a cycle, sources and targets are separate nodes.
  const shift = hasCycle(largest, labels.length) ? labels.length : 0
  const ends = largest.flatMap((link) => [link.source, link.target + shift])
  const used = [...new Set(ends)]
  const position = new Map(used.map((node, k) => [node, k]))
  trace.node = { ...trace.node, label: used.map((node) => labels[node % labels.length]) }
  trace.link = {
    source: largest.map((link) => position.get(link.source)),
    target: largest.map((link) => position.get(link.target + shift)),
    value: largest.map((link) => link.value),
  }
}

/** Returns whether links have a cycle: nodes without incoming links are removed until none is left. */
function hasCycle(links: readonly { source: number; target: number }[], count: number): boolean {
  const incoming = new Array<number>(count).fill(0)
  const next = new Map<number, number[]>()
  for (const { source, target } of links) {
    incoming[target]++
    next.set(source, [...(next.get(source) ?? []), target])
  }
  const roots = [...incoming.keys()].filter((node) => incoming[node] === 0)
  let removed = 0
  for (let node = roots.pop(); node !== undefined; node = roots.pop()) {
    removed++
    for (const target of next.get(node) ?? []) if (--incoming[target] === 0) roots.push(target)
  }
  return removed < count
}

/** Converts directions in degrees to compass points. Other labels are unchanged. */
export function nameDirections(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.theta)) return
  const { theta } = trace
  const isDegrees = theta.some((value: unknown) => typeof value === 'number')
  const isDirection = (k: number): boolean =>
    isDegrees ? typeof theta[k] === 'number' : (theta[k] ?? '') !== ''
  const rows: number[] = [...theta.keys()].filter(isDirection)
  const missing = theta.length - rows.length
  if (missing > 0)
    transform.unseen = [missing, 'row', `without ${humanizeName(String(transform.of ?? 'a direction'))}`]
  selectRows(trace, rows)
  const size = 360 / COMPASS.length
  const points = trace.theta.map((value: unknown) =>
    typeof value === 'number' && Number.isFinite(value)
      ? COMPASS[((Math.round(value / size) % 16) + 16) % 16]
      : String(value).trim().toUpperCase(),
  )
  // Normalize labels if all are compass points.
  if (isDegrees || points.every((point: string) => COMPASS.includes(point))) trace.theta = points
}

/** Replaces numbers by classes with round bounds: `10 to 20`. */
export function replaceByClasses(values: readonly unknown[], count: number): unknown[] {
  const numbers = finiteNumbers(values)
  if (numbers.length === 0) return [...values]
  const [min, max] = extentOf(numbers)
  const step = roundUpToStep((max - min) / count || 1)
  const classOf = (value: number): number => Math.floor(quotientOf(value, step))
  const text = (k: number): string => String(withoutNoise(k * step, step))
  return values.map((value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return value
    // The largest value belongs to the last class.
    const k = Math.min(classOf(value), Math.max(Math.ceil(quotientOf(max, step)) - 1, classOf(min)))
    return `${text(k)} to ${text(k + 1)}`
  })
}

/** Divides by a step, without rounding errors of multiples of steps such as 0.2. */
function quotientOf(value: number, step: number): number {
  const quotient = value / step
  const whole = Math.round(quotient)
  return Math.abs(quotient - whole) < Math.abs(whole) * 1e-9 ? whole : quotient
}

/** Returns minimum and maximum. */
export function extentOf(numbers: readonly number[]): [number, number] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const number of numbers) {
    if (number < min) min = number
    if (number > max) max = number
  }
  return [min, max]
}

/** Number of hexagons per row. */
const HEXAGONS_PER_ROW = 30
/** Distance between rows of hexagons, relative to the width of one. */
const ROW_DISTANCE = Math.sqrt(3) / 2
/** Assumed ratio of width to height of a plot. */
const PLOT_RATIO = 1.8

/** Counts points in hexagons: centers in `x` and `y`, counts in `marker.color`, cell size in `meta`. */
export function countInHexagons(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  const isPoint = (k: number): boolean =>
    Number.isFinite(x[k] ?? Number.NaN) && Number.isFinite(y[k] ?? Number.NaN)
  const rows = [...x.keys()].filter(isPoint)
  const [left, right] = extentOf(rows.map((k) => x[k]))
  const [bottom, top] = extentOf(rows.map((k) => y[k]))
  const width = (right - left || 1) / HEXAGONS_PER_ROW
  const height = ((top - bottom || 1) / HEXAGONS_PER_ROW) * ROW_DISTANCE * PLOT_RATIO
  const cells = new Map<string, { x: number; y: number; count: number }>()
  for (const k of rows) {
    const [across, up] = [(x[k] - left) / width, (y[k] - bottom) / height]
    // Odd rows are shifted by half a hexagon. Choose the nearer center of the two nearest rows.
    const middles = [Math.floor(up), Math.floor(up) + 1].map((row) => {
      const shift = row % 2 === 0 ? 0 : 0.5
      const column = Math.round(across - shift) + shift
      return { column, row, distance: (across - column) ** 2 + ((up - row) * ROW_DISTANCE) ** 2 }
    })
    const { column, row } = middles[0].distance <= middles[1].distance ? middles[0] : middles[1]
    const key = `${column} ${row}`
    const cell = cells.get(key) ?? { x: left + column * width, y: bottom + row * height, count: 0 }
    cell.count++
    cells.set(key, cell)
  }
  const occupied = [...cells.values()]
  trace.x = occupied.map((cell) => cell.x)
  trace.y = occupied.map((cell) => cell.y)
  trace.marker = { ...trace.marker, color: occupied.map(({ count }) => count) }
  trace.meta = { cell: [width, height] }
}

/**
 * Replaces `y` by its rank among the points with the same `x`: the largest is 1. Keeps `y` in `customdata`.
 */
export function rankPoints(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  trace.customdata = y
  const ranks: unknown[] = y.map(() => null)
  for (const [, rows] of groupRows(x.map(keyOfLabel))) {
    const ranked = rows.filter((k) => typeof y[k] === 'number').sort((a, b) => y[b] - y[a] || a - b)
    for (const [position, k] of ranked.entries()) {
      // Equal values share a rank.
      const previous = ranked[position - 1]
      ranks[k] = position > 0 && y[previous] === y[k] ? ranks[previous] : position + 1
    }
  }
  trace.y = ranks
}

/** Outlines each part of a band: along its upper values `y`, back along its lower values `customdata`. */
export function outlineBand(trace: Attributes): void {
  const { x, y, customdata: lower } = trace
  if (!Array.isArray(x) || !Array.isArray(y) || !Array.isArray(lower)) return
  const [outlineX, outlineY]: unknown[][] = [[], []]
  let rows: number[] = []
  const closePart = (): void => {
    if (rows.length === 0) return
    const reversed = rows.toReversed()
    outlineX.push(...rows.map((k) => x[k]), ...reversed.map((k) => x[k]), null)
    outlineY.push(...rows.map((k) => y[k]), ...reversed.map((k) => lower[k]), null)
    rows = []
  }
  for (let k = 0; k < x.length; k++) {
    if (typeof y[k] === 'number' && typeof lower[k] === 'number' && (x[k] ?? undefined) !== undefined)
      rows.push(k)
    else closePart()
  }
  closePart()
  Object.assign(trace, { x: outlineX, y: outlineY })
  delete trace.customdata
}
