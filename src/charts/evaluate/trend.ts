/** Transform `trend`: adds a regression line or a moving mean. */

import { parseInstant } from '../../json/index.ts'
import type { Attributes } from '../figure/figure.ts'
import { listTransforms, type Transform } from './attributes.ts'

/**
 * Creates the trend line of a trace: linear regression, or the mean of the last `window` points. Undefined
 * with fewer than two points. See docs/api.md#own-transforms.
 */
export function createTrendLine(trace: Attributes): Attributes | undefined {
  const transform = listTransforms(trace).find(({ type, enabled }) => type === 'trend' && enabled !== false)
  if (!transform || !Array.isArray(trace.y)) return undefined
  const [isLogX, isLogY] = [transform.logX === true, transform.logY === true]
  const sorted = sortPoints(trace.x, trace.y)
  const points = sorted.filter(({ at, value }) => (!isLogX || at > 0) && (!isLogY || value > 0))
  if (points.length < 2) return undefined
  const isMean = transform.method === 'mean'
  const window = windowOf(transform)
  const y = isMean ? movingMeans(points, window) : fitOnAxes(points, isLogX, isLogY)
  const color: unknown = trace.line?.color ?? trace.marker?.color
  return {
    type: 'scatter',
    mode: 'lines',
    name: `${String(trace.name ?? '')} (${isMean ? `mean of ${window}` : 'trend'})`.trim(),
    x: points.map(({ label }) => label),
    y,
    line: { width: TREND_PIXELS, ...(typeof color === 'string' && { color }) },
    hoverinfo: 'y+name',
    ...(trace.xaxis !== undefined && { xaxis: trace.xaxis }),
    ...(trace.yaxis !== undefined && { yaxis: trace.yaxis }),
    ...(trace.legendgroup !== undefined && { legendgroup: trace.legendgroup }),
    ...(trace.showlegend === false && { showlegend: false }),
    ...(trace.visible !== undefined && { visible: trace.visible }),
  }
}

/** Width of a trend line, in pixels. */
const TREND_PIXELS = 3
/** Opacity of traces with a trend line. */
export const TRACE_OPACITY = 0.4

/** Maximum window of a moving mean. */
const MAX_WINDOW_POINTS = 100_000

/** Returns the number of points of a moving mean. Default: 7. */
function windowOf({ window }: Transform): number {
  return typeof window === 'number' && window >= 1 ? Math.min(Math.floor(window), MAX_WINDOW_POINTS) : 7
}

interface Point {
  label: unknown
  at: number
  value: number
}

/** Returns the points with a number, sorted by position. The position of a label is its index. */
function sortPoints(x: unknown, y: readonly unknown[]): Point[] {
  const labels = Array.isArray(x) ? x : undefined
  const positions = labels?.map(toPosition)
  const isMeasured =
    positions?.every((position, k) => !Number.isNaN(position) || labels?.[k] === null) ?? false
  const order = new Map<unknown, number>()
  const points = y.flatMap((value, k) => {
    const label: unknown = labels ? labels[k] : k
    if (typeof value !== 'number' || !Number.isFinite(value) || label === null || label === undefined)
      return []
    if (!order.has(label)) order.set(label, order.size)
    return [{ label, at: isMeasured ? positions![k] : labels ? order.get(label)! : k, value }]
  })
  return points.sort((a, b) => a.at - b.at)
}

/** Returns a number, or a time in ms; NaN for other values. */
function toPosition(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? parseInstant(value) : Number.NaN
}

/** Fits a straight line on linear or logarithmic axes. */
function fitOnAxes(points: readonly Point[], isLogX: boolean, isLogY: boolean): number[] {
  if (!isLogX && !isLogY) return fitLine(points)
  const placed = points.map(({ label, at, value }) => ({
    ...{ label, at: isLogX ? Math.log10(at) : at, value: isLogY ? Math.log10(value) : value },
  }))
  return fitLine(placed).map((value) => (isLogY ? 10 ** value : value))
}

/** Fits a line by least squares. Returns its value at each point. */
function fitLine(points: readonly Point[]): number[] {
  const count = points.length
  // Relative to the first point, to lose fewer digits.
  const [x0, y0] = [points[0].at, points[0].value]
  // Scale positions to 0 to 1, so that their squares do not overflow.
  const extent = points[count - 1].at - x0 || 1
  let [sx, sy, sxx, sxy] = [0, 0, 0, 0]
  for (const { at, value } of points) {
    const [x, y] = [(at - x0) / extent, value - y0]
    sx += x
    sy += y
    sxx += x * x
    sxy += x * y
  }
  const divisor = count * sxx - sx * sx
  const slope = divisor === 0 ? 0 : (count * sxy - sx * sy) / divisor
  const start = (sy - slope * sx) / count
  return points.map(({ at }) => y0 + start + slope * ((at - x0) / extent))
}

/** Number of points times window up to which each mean is summed separately. */
const MAX_EXACT_SUMS = 20_000_000

/** Computes the mean of the last `window` points at each point; null for the first ones. */
function movingMeans(points: readonly Point[], window: number): (number | null)[] {
  // A running sum is faster, but keeps rounding errors of very large values.
  const isRunning = points.length * window > MAX_EXACT_SUMS
  let sum = 0
  return points.map(({ value }, k) => {
    sum += value
    if (k >= window) sum -= points[k - window].value
    if (k < window - 1) return null
    if (isRunning) return sum / window
    let total = 0
    for (let n = k - window + 1; n <= k; n++) total += points[n].value
    return total / window
  })
}
