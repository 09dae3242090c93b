// Histograms are counted here: a page gets bars, not a million values. See docs/api.md#own-transforms.
import { stepAbove } from '../../../charts/figure/steps.ts'
import { type Attributes, isObject, MISSING, rowsByKey, type Transform } from './attributes.ts'
import { instant } from './axes.ts'
import { endOf, startOf } from './per.ts'
import { endsOf } from './spreads.ts'

/** Bars of a histogram, about at most. */
const MAX_BINS = 30
const MIN_BINS = 5
/** The part of a bin that its bar has. */
const BAR_SHARE = 0.97
/** Periods of dates, the shortest first, and bars of them at most. */
const UNITS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']
const MAX_PERIODS = 50

/** Where bins begin: at `from`, and at each `step` from there; of logarithms if `isLog`; or a period of dates. */
interface Bins {
  from: number
  step: number
  isLog: boolean
  isWhole: boolean
  unit?: string
}

/** Chooses the bins of all histograms of a figure together: those of its series begin at the same places. */
export function planBins(traces: readonly Attributes[], layout: unknown): void {
  const own = traces.filter((trace) => binsIn(trace) !== undefined && Array.isArray(trace.x))
  const axis: Attributes = isObject(layout) && isObject(layout.xaxis) ? layout.xaxis : {}
  const values = own.flatMap(({ x }) => x as unknown[])
  const bins =
    own.length === 0
      ? undefined
      : axis.type === 'date'
        ? binsOfDates(values)
        : binsOf(values, axis.type === 'log')
  for (const trace of own) binsIn(trace)!.bins = bins
}

function binsIn({ transforms }: Attributes): Transform | undefined {
  return (transforms as unknown[])
    .filter(isObject)
    .find(({ type, enabled }) => type === 'bins' && enabled !== false)
}

function binsOf(values: readonly unknown[], isLog: boolean): Bins | undefined {
  if (values.some((value) => typeof value === 'string' || typeof value === 'boolean')) return undefined
  const given = values.filter((value): value is number => typeof value === 'number' && (!isLog || value > 0))
  // Without a number that the axis can show, there is no bar.
  if (given.length === 0) return isLog ? { from: 0, step: 1, isLog, isWhole: false } : undefined
  const numbers = isLog ? given.map(Math.log10) : given
  const [least, most] = endsOf(numbers)
  const count = Math.min(MAX_BINS, Math.max(MIN_BINS, Math.ceil(2 * Math.cbrt(numbers.length))))
  const isWhole = !isLog && numbers.every(Number.isInteger)
  const wanted = (most - least) / count || Math.abs(most) / 10 || 1
  const step = isLog ? wanted : Math.max(stepAbove(wanted), isWhole ? 1 : 0)
  // A bar for each whole number stands at it.
  const shift = isWhole && step === 1 ? 0.5 : 0
  return { from: isLog ? least : Math.floor(least / step) * step - shift, step, isLog, isWhole }
}

function binsOfDates(values: readonly unknown[]): Bins | undefined {
  const times = values.flatMap((value) => (typeof value === 'string' ? (instant(value) ?? []) : []))
  if (times.length === 0) return undefined
  const [least, most] = endsOf(times)
  const unit = UNITS.find((one) => {
    const start = startOf(one, least)
    return (most - start) / (endOf(one, start) - start) <= MAX_PERIODS
  })
  return { from: 0, step: 0, isLog: false, isWhole: false, unit: unit ?? 'year' }
}

/** Makes bars of a histogram: their places, how many values each has, and what it counts in `customdata`. */
export function bins(trace: Attributes, transform: Transform): void {
  if (!Array.isArray(trace.x)) return
  const { bins: chosen }: { bins?: Bins } = transform
  const values: unknown[] = trace.x
  if (!chosen) countLabels(trace, values)
  else if (chosen.unit === undefined) countNumbers(trace, values, chosen)
  else countDates(trace, values, chosen.unit)
  const below = chosen?.isLog ? values.filter((value) => typeof value === 'number' && value <= 0).length : 0
  if (below > 0) transform.unseen = [below, 'value', 'not above zero']
  trace.type = 'bar'
  trace.hovertemplate ??= chosen ? '%{customdata}: %{y}' : undefined
}

function countLabels(trace: Attributes, values: readonly unknown[]): void {
  const rows = [...rowsByKey(values.map((value) => value ?? MISSING)).values()]
  trace.x = rows.map(([first]) => values[first])
  trace.y = rows.map(({ length }) => length)
}

function countNumbers(
  trace: Attributes,
  values: readonly unknown[],
  { from, step, isLog, isWhole }: Bins,
): void {
  const counts = new Map<number, number>()
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value) || (isLog && value <= 0)) continue
    // Rounding errors of a step such as 0.1 move no value to the bin before its own.
    const k = Math.floor(((isLog ? Math.log10(value) : value) - from) / step + 1e-9)
    counts.set(k, (counts.get(k) ?? 0) + 1)
  }
  const [first, last] = endsOf([...counts.keys()])
  const bars = Array.from({ length: counts.size === 0 ? 0 : last - first + 1 }, (_, n) => first + n)
  const edge = (k: number): number => {
    const at = from + k * step
    return Number((isLog ? 10 ** at : at).toPrecision(12))
  }
  const isOne = isWhole && step === 1
  trace.x = bars.map((k) => {
    const middle = from + (k + 0.5) * step
    return Number((isLog ? 10 ** middle : middle).toPrecision(12))
  })
  trace.y = bars.map((k) => counts.get(k) ?? 0)
  // On a logarithmic axis, the middle of a bar is not that of its ends.
  trace.width = isLog ? bars.map((k) => (edge(k + 1) - edge(k)) * BAR_SHARE) : step * BAR_SHARE
  if (isLog) Object.assign(trace, { x: bars.map(edge), offset: 0 })
  trace.customdata = bars.map((k) =>
    isOne ? String(edge(k) + 0.5) : `${edge(k)} to ${isWhole ? edge(k + 1) - 1 : edge(k + 1)}`,
  )
}

function countDates(trace: Attributes, values: readonly unknown[], unit: string): void {
  const counts = new Map<number, number>()
  for (const value of values) {
    const time = typeof value === 'string' ? instant(value) : undefined
    if (time !== undefined) counts.set(startOf(unit, time), (counts.get(startOf(unit, time)) ?? 0) + 1)
  }
  const starts = [...counts.keys()].sort((a, b) => a - b)
  const sizes = starts.map((start) => endOf(unit, start) - start)
  const text = (time: number): string =>
    new Date(time).toISOString().slice(0, 16).replace('T', ' ').replace(' 00:00', '')
  trace.x = starts.map((start, k) =>
    new Date(start + sizes[k] / 2).toISOString().replace('T', ' ').slice(0, 19),
  )
  trace.y = starts.map((start) => counts.get(start))
  trace.width = sizes.map((size) => size * BAR_SHARE)
  trace.customdata = starts.map((start) => (unit === 'day' ? text(start) : `${unit} of ${text(start)}`))
}
