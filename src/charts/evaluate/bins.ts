/** Counts histograms, so that pages load bars instead of all values. See docs/api.md#own-transforms. */

import { type Attributes, isObject } from '../figure/figure.ts'
import { roundUpToStep, withoutNoise } from '../figure/steps.ts'
import { getArrayAt, groupRows, keyOfLabel, listTransforms, type Transform } from './attributes.ts'
import { parsePlotlyDate } from './axis-types.ts'
import { endOfPeriod, startOfPeriod } from './period.ts'
import { extentOf } from './spreads.ts'

/** Approximate bounds of the number of bars. */
const MAX_BINS = 30
const MIN_BINS = 5
/** Width of a bar, as a fraction of its bin. */
const BAR_SHARE = 0.97
/** Periods of dates, the shortest first. */
const PERIODS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']
/** Approximate maximum number of bars of periods. */
const MAX_PERIOD_BARS = 50

/** Bins begin at `from` and at each `step` (of logarithms if `isLog`), or they are periods (`unit`). */
interface Bins {
  from: number
  step: number
  isLog: boolean
  isWhole: boolean
  unit?: string
}

/** Chooses the same bins for all histograms of a figure, so that series are comparable. */
export function planBins(traces: readonly Attributes[], layout: unknown): void {
  const histograms = traces.filter(
    (trace) => findBinsTransform(trace) !== undefined && Array.isArray(trace.x),
  )
  const axis: Attributes = isObject(layout) && isObject(layout.xaxis) ? layout.xaxis : {}
  const values = histograms.flatMap((trace) => getArrayAt(trace, 'x'))
  const bins =
    histograms.length === 0
      ? undefined
      : axis.type === 'date'
        ? planDateBins(values)
        : planNumberBins(values, axis.type === 'log')
  for (const trace of histograms) findBinsTransform(trace)!.bins = bins
}

function findBinsTransform(trace: Attributes): Transform | undefined {
  return listTransforms(trace).find(({ type, enabled }) => type === 'bins' && enabled !== false)
}

/** Chooses bins for numbers; undefined for labels. */
function planNumberBins(values: readonly unknown[], isLog: boolean): Bins | undefined {
  if (values.some((value) => typeof value === 'string' || typeof value === 'boolean')) return undefined
  const shown = values.filter((value): value is number => typeof value === 'number' && (!isLog || value > 0))
  // Without a number above zero, a logarithmic axis has no bars.
  if (shown.length === 0) return isLog ? { from: 0, step: 1, isLog, isWhole: false } : undefined
  const numbers = isLog ? shown.map(Math.log10) : shown
  const [min, max] = extentOf(numbers)
  const count = Math.min(MAX_BINS, Math.max(MIN_BINS, Math.ceil(2 * Math.cbrt(numbers.length))))
  const isWhole = !isLog && numbers.every(Number.isInteger)
  const idealStep = (max - min) / count || Math.abs(max) / 10 || 1
  const step = isLog ? idealStep : Math.max(roundUpToStep(idealStep), isWhole ? 1 : 0)
  // With one bar per integer, center the bars on the integers.
  const shift = isWhole && step === 1 ? 0.5 : 0
  return { from: isLog ? min : Math.floor(min / step) * step - shift, step, isLog, isWhole }
}

/** Chooses the shortest period with at most about `MAX_PERIOD_BARS` bars; undefined without dates. */
function planDateBins(values: readonly unknown[]): Bins | undefined {
  const times = values.flatMap((value) => (typeof value === 'string' ? (parsePlotlyDate(value) ?? []) : []))
  if (times.length === 0) return undefined
  const [min, max] = extentOf(times)
  const unit = PERIODS.find((period) => {
    const start = startOfPeriod(period, min)
    return (max - start) / (endOfPeriod(period, start) - start) <= MAX_PERIOD_BARS
  })
  return { from: 0, step: 0, isLog: false, isWhole: false, unit: unit ?? 'year' }
}

/** Converts a histogram to bars: positions in `x`, counts in `y`, ranges as text in `customdata`. */
export function convertToBars(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.x)) return
  const { bins: plan }: { bins?: Bins } = transform
  const values: unknown[] = trace.x
  if (!plan) countLabels(trace, values)
  else if (plan.unit === undefined) countNumbers(trace, values, plan)
  else countDates(trace, values, plan.unit)
  const below = plan?.isLog ? values.filter((value) => typeof value === 'number' && value <= 0).length : 0
  if (below > 0) transform.unseen = [below, 'value', 'not above zero']
  trace.type = 'bar'
  trace.hovertemplate ??= plan ? '%{customdata}: %{y}' : undefined
}

function countLabels(trace: Attributes, values: readonly unknown[]): void {
  const rows = [...groupRows(values.map(keyOfLabel)).values()]
  trace.x = rows.map(([first]) => values[first])
  trace.y = rows.map(({ length }) => length)
}

function countNumbers(
  trace: Attributes,
  values: readonly unknown[],
  { from, step, isLog, isWhole }: Bins,
): void {
  const counts = new Map<number, number>()
  const edge = (k: number): number => {
    const position = from + k * step
    return isLog ? Number((10 ** position).toPrecision(12)) : withoutNoise(position, step)
  }
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value) || (isLog && value <= 0)) continue
    const position = isLog ? Math.log10(value) : value
    const place = (position - from) / step
    // Near an edge, rounding errors of steps such as 0.1 do not decide. The first edge may be rounded up.
    const near = Math.round(place)
    const isNear = Math.abs(place - near) < 1e-9 + Math.abs(position / step) * 1e-14
    const k = isNear ? Math.max(0, value < edge(near) ? near - 1 : near) : Math.floor(place)
    counts.set(k, (counts.get(k) ?? 0) + 1)
  }
  const [first, last] = extentOf([...counts.keys()])
  const bars = Array.from({ length: counts.size === 0 ? 0 : last - first + 1 }, (_, n) => first + n)
  const isInteger = isWhole && step === 1
  trace.x = bars.map((k) => edge(k + 0.5))
  trace.y = bars.map((k) => counts.get(k) ?? 0)
  // On a logarithmic axis, the center of a bar is not the mean of its edges.
  trace.width = isLog ? bars.map((k) => (edge(k + 1) - edge(k)) * BAR_SHARE) : step * BAR_SHARE
  if (isLog) Object.assign(trace, { x: bars.map(edge), offset: 0 })
  trace.customdata = bars.map((k) =>
    isInteger ? String(edge(k) + 0.5) : `${edge(k)} to ${isWhole ? edge(k + 1) - 1 : edge(k + 1)}`,
  )
}

function countDates(trace: Attributes, values: readonly unknown[], unit: string): void {
  const counts = new Map<number, number>()
  for (const value of values) {
    const time = typeof value === 'string' ? parsePlotlyDate(value) : undefined
    if (time !== undefined)
      counts.set(startOfPeriod(unit, time), (counts.get(startOfPeriod(unit, time)) ?? 0) + 1)
  }
  const starts = [...counts.keys()].sort((a, b) => a - b)
  const sizes = starts.map((start) => endOfPeriod(unit, start) - start)
  const text = (time: number): string =>
    new Date(time).toISOString().slice(0, 16).replace('T', ' ').replace(' 00:00', '')
  trace.x = starts.map((start, k) =>
    new Date(start + sizes[k] / 2).toISOString().replace('T', ' ').slice(0, 19),
  )
  trace.y = starts.map((start) => counts.get(start))
  trace.width = sizes.map((size) => size * BAR_SHARE)
  trace.customdata = starts.map((start) => (unit === 'day' ? text(start) : `${unit} of ${text(start)}`))
}
