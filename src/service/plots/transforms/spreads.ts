// Own transforms that count values: see docs/api.md#own-transforms.

import { COMPASS, WEEKDAYS } from '../../../charts/figure/names.ts'
import { stepAbove } from '../../../charts/figure/steps.ts'
import { spoken } from '../../../charts/spec/words.ts'
import { type Attributes, keyOf, rowsByKey, setAt, type Transform, takeRows } from './attributes.ts'
import { instant } from './axes.ts'

/** The numbers of a list, and where they are. */
function numbersOf(values: readonly unknown[]): number[] {
  return values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value))
}

/** The share of the values that are at most as large as each of them, in percent. */
export function cumulate(trace: Attributes): void {
  if (!Array.isArray(trace.x)) return
  const values: unknown[] = trace.x
  const rows = [...values.keys()].filter((k) => typeof values[k] === 'number')
  takeRows(
    trace,
    rows.sort((a, b) => (values[a] as number) - (values[b] as number)),
  )
  // Of equal values, each has the share of the last.
  const shares: number[] = []
  let done = 0
  for (const [, own] of rowsByKey((trace.x as unknown[]).map(keyOf))) {
    done += own.length
    for (const k of own) shares[k] = (100 * done) / rows.length
  }
  setAt(trace, 'y', shares)
}

/** Points of the curve of a density, and the parts that many values are counted in before. */
const CURVE_POINTS = 200
const CURVE_PARTS = 1000
/** Widths of a kernel from a value at which its curve has points, where values are far apart. */
const STEPS = [-3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3]

/** The density of values: a curve of normal kernels, whose width is by Silverman's rule of thumb. */
export function density(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.x)) return
  const values = Float64Array.from(numbersOf(trace.x)).sort()
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
  // Values where they are, or of many, how many are in each part.
  const part = (to - from) / CURVE_PARTS
  const counts = new Map<number, number>()
  for (const value of values) {
    const at = count <= CURVE_PARTS ? value : from + Math.round((value - from) / part) * part
    counts.set(at, (counts.get(at) ?? 0) + 1)
  }
  const even = Array.from({ length: CURVE_POINTS }, (_, k) => from + ((to - from) * k) / (CURVE_POINTS - 1))
  const isFar = (to - from) / CURVE_POINTS > width
  const around = isFar ? [...counts.keys()].flatMap((value) => STEPS.map((step) => value + step * width)) : []
  const points = [...new Set([...even, ...around])].sort((a, b) => a - b)
  trace.x = points
  trace.y = points.map((at) => {
    let sum = 0
    for (const [value, own] of counts) sum += own * Math.exp(-0.5 * ((at - value) / width) ** 2)
    return sum / (count * width * Math.sqrt(2 * Math.PI))
  })
}

const DAY_MS = 86_400_000

/**
 * The cells of a calendar: the values `z` of days `x` are at the week of the year, from 0 on, and at
 * `2024 Monday`: their year and day of the week. Weeks begin with Monday.
 */
export function calendar(trace: Attributes): void {
  const { x } = trace
  if (!Array.isArray(x) || !Array.isArray(trace.z)) return
  const days = x.map((value: unknown) => (typeof value === 'string' ? instant(value) : undefined))
  const rows = [...days.keys()].filter((k) => days[k] !== undefined)
  takeRows(trace, rows)
  const known = rows.map((k) => Math.floor(days[k]! / DAY_MS))
  // 1970-01-01 was a Thursday.
  const weekday = known.map((day) => (((day + 3) % 7) + 7) % 7)
  trace.text = known.map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10))
  const years: number[] = trace.text.map((text: string) => Number.parseInt(text, 10))
  trace.y = years.map((year, k) => `${year} ${WEEKDAYS[weekday[k]]}`)
  trace.x = known.map((day, k) => {
    const first = new Date(0).setUTCFullYear(years[k], 0, 1) / DAY_MS
    return Math.floor((day - first + ((((first + 3) % 7) + 7) % 7)) / 7)
  })
}

/** Links of a sankey, at most: the largest ones. */
const MAX_LINKS = 120

/** Links with names of their ends become links between numbered nodes. Links with the same ends are one. */
export function links(trace: Attributes, transform: Transform): void {
  const { source, target, value } = trace.link ?? {}
  if (!Array.isArray(source) || !Array.isArray(target)) return
  const names = new Map<string, number>()
  const numberOf = (name: unknown): number => {
    const key = keyOf(name ?? '')
    if (!names.has(key)) names.set(key, names.size)
    return names.get(key)!
  }
  const sums = new Map<string, { source: number; target: number; value: number }>()
  let loops = 0
  for (const [k, from] of source.entries()) {
    const size: unknown = Array.isArray(value) ? value[k] : 1
    if ([from, target[k]].some((end) => end === null || end === undefined || end === '')) continue
    if (typeof size !== 'number' || !(size > 0)) continue
    // plotly.js draws them out of the frame.
    if (keyOf(from) === keyOf(target[k])) {
      loops++
      continue
    }
    const [start, end] = [numberOf(from), numberOf(target[k])]
    const own = sums.get(`${start} ${end}`) ?? { source: start, target: end, value: 0 }
    own.value += size
    sums.set(`${start} ${end}`, own)
  }
  if (loops > 0) transform.unseen = [loops, 'row', 'from a node to itself']
  const found = [...sums.values()].sort((a, b) => b.value - a.value)
  const all = found.slice(0, MAX_LINKS)
  if (found.length > all.length) transform.unseen = [found.length - all.length, 'smaller link', '']
  const labels = [...names.keys()]
  // Where links go in a circle, what begins a link and what ends one are nodes of their own.
  const shift = hasCircle(all, labels.length) ? labels.length : 0
  const ends = all.flatMap((one) => [one.source, one.target + shift])
  const used = [...new Set(ends)]
  const place = new Map(used.map((node, k) => [node, k]))
  trace.node = { ...trace.node, label: used.map((node) => labels[node % labels.length]) }
  trace.link = {
    source: all.map((one) => place.get(one.source)),
    target: all.map((one) => place.get(one.target + shift)),
    value: all.map((one) => one.value),
  }
}

/** Whether links lead from a node back to it: nodes that nothing leads to are taken away until none is left. */
function hasCircle(links: readonly { source: number; target: number }[], count: number): boolean {
  const incoming = new Array<number>(count).fill(0)
  const next = new Map<number, number[]>()
  for (const { source, target } of links) {
    incoming[target]++
    next.set(source, [...(next.get(source) ?? []), target])
  }
  const free = [...incoming.keys()].filter((node) => incoming[node] === 0)
  let taken = 0
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    taken++
    for (const target of next.get(node) ?? []) if (--incoming[target] === 0) free.push(target)
  }
  return taken < count
}

/** Directions in degrees become points of the compass; labels stay as they are. */
export function sectors(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.theta)) return
  const { theta } = trace
  const isDegrees = theta.some((value: unknown) => typeof value === 'number')
  const isDirection = (k: number): boolean =>
    isDegrees ? typeof theta[k] === 'number' : (theta[k] ?? '') !== ''
  const rows: number[] = [...theta.keys()].filter(isDirection)
  const lost = theta.length - rows.length
  if (lost > 0) transform.unseen = [lost, 'row', `without ${spoken(String(transform.of ?? 'a direction'))}`]
  takeRows(trace, rows)
  const size = 360 / COMPASS.length
  const points = trace.theta.map((value: unknown) =>
    typeof value === 'number' && Number.isFinite(value)
      ? COMPASS[((Math.round(value / size) % 16) + 16) % 16]
      : String(value).trim().toUpperCase(),
  )
  // Labels that are points of the compass are written as one writes them.
  if (isDegrees || points.every((point: string) => COMPASS.includes(point))) trace.theta = points
}

/** The classes of numbers, at round numbers, in place of the numbers themselves: `10 to 20`. */
export function classed(values: readonly unknown[], count: number): unknown[] {
  const numbers = numbersOf(values)
  if (numbers.length === 0) return [...values]
  const [least, most] = endsOf(numbers)
  const step = stepAbove((most - least) / count || 1)
  const text = (number: number): string => String(Number(number.toPrecision(12)))
  return values.map((value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return value
    // The largest value belongs to the last class, not to one of its own.
    const k = Math.min(
      Math.floor(value / step),
      Math.max(Math.ceil(most / step) - 1, Math.floor(least / step)),
    )
    return `${text(k * step)} to ${text((k + 1) * step)}`
  })
}

export function endsOf(numbers: readonly number[]): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const number of numbers) {
    if (number < least) least = number
    if (number > most) most = number
  }
  return [least, most]
}

/** Hexagons across. */
const HEXAGONS = 30
/** The height of a row of hexagons, as a part of the width of one, in the data of a plot that is wider than high. */
const ROW_SHARE = Math.sqrt(3) / 2
const PLOT_RATIO = 1.8

/** Counts points in hexagons: their middles in `x` and `y`, how many in `marker.color`, and their sizes in `meta`. */
export function hexagons(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  const isPoint = (k: number): boolean =>
    Number.isFinite(x[k] ?? Number.NaN) && Number.isFinite(y[k] ?? Number.NaN)
  const rows = [...x.keys()].filter(isPoint)
  const [left, right] = endsOf(rows.map((k) => x[k]))
  const [bottom, top] = endsOf(rows.map((k) => y[k]))
  const width = (right - left || 1) / HEXAGONS
  const height = ((top - bottom || 1) / HEXAGONS) * ROW_SHARE * PLOT_RATIO
  const cells = new Map<string, { x: number; y: number; count: number }>()
  for (const k of rows) {
    const [across, up] = [(x[k] - left) / width, (y[k] - bottom) / height]
    // Every second row is shifted by a half: the nearer one of the two nearest middles.
    const middles = [Math.floor(up), Math.floor(up) + 1].map((row) => {
      const shift = row % 2 === 0 ? 0 : 0.5
      const column = Math.round(across - shift) + shift
      return { column, row, distance: (across - column) ** 2 + ((up - row) * ROW_SHARE) ** 2 }
    })
    const { column, row } = middles[0].distance <= middles[1].distance ? middles[0] : middles[1]
    const key = `${column} ${row}`
    const cell = cells.get(key) ?? { x: left + column * width, y: bottom + row * height, count: 0 }
    cell.count++
    cells.set(key, cell)
  }
  const all = [...cells.values()]
  trace.x = all.map((cell) => cell.x)
  trace.y = all.map((cell) => cell.y)
  trace.marker = { ...trace.marker, color: all.map(({ count }) => count) }
  trace.meta = { cell: [width, height] }
}

/** Ranks the points of each `x` by their `y`, the largest first. */
export function rank(trace: Attributes): void {
  const { x, y } = trace
  if (!Array.isArray(x) || !Array.isArray(y)) return
  trace.customdata = y
  const ranks: unknown[] = y.map(() => null)
  for (const [, rows] of rowsByKey(x)) {
    const known = rows.filter((k) => typeof y[k] === 'number').sort((a, b) => y[b] - y[a] || a - b)
    for (const [place, k] of known.entries()) {
      // Equal values have one rank.
      const before = known[place - 1]
      ranks[k] = place > 0 && y[before] === y[k] ? ranks[before] : place + 1
    }
  }
  trace.y = ranks
}

/** The outline of a band: along its upper values `y`, and back along its lower values `customdata`, for each part without gaps. */
export function band(trace: Attributes): void {
  const { x, y, customdata: low } = trace
  if (!Array.isArray(x) || !Array.isArray(y) || !Array.isArray(low)) return
  const [across, up]: unknown[][] = [[], []]
  let rows: number[] = []
  const close = (): void => {
    if (rows.length === 0) return
    const back = rows.toReversed()
    across.push(...rows.map((k) => x[k]), ...back.map((k) => x[k]), null)
    up.push(...rows.map((k) => y[k]), ...back.map((k) => low[k]), null)
    rows = []
  }
  for (let k = 0; k < x.length; k++) {
    if (typeof y[k] === 'number' && typeof low[k] === 'number' && (x[k] ?? undefined) !== undefined)
      rows.push(k)
    else close()
  }
  close()
  Object.assign(trace, { x: across, y: up })
  delete trace.customdata
}
