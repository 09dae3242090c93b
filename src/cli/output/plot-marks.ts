// Draws the lines, markers and bars of traces on a canvas.
import { type Axis, isPresent } from './plot-axes.ts'
import type { Canvas } from './plot-canvas.ts'

/** Attributes of a trace, with those of objects that are read. */
export interface TextTrace {
  line?: { color?: unknown; shape?: unknown }
  marker?: { color?: unknown }
  [other: string]: unknown
}

/** Number of points below which traces have markers, as in plotly.js. */
const MARKER_THRESHOLD_POINTS = 20

/** Returns the points of a trace. A missing coordinate is the point number. */
export function pointsOf({ x, y }: TextTrace): { x: unknown; y: unknown }[] {
  const [xs, ys] = [x, y].map((values) => (Array.isArray(values) ? values : undefined))
  const count = Math.min(xs?.length ?? Number.POSITIVE_INFINITY, ys?.length ?? Number.POSITIVE_INFINITY)
  return Array.from({ length: count }, (_, k) => ({ x: xs ? xs[k] : k, y: ys ? ys[k] : k }))
}

/** Draws the lines and markers of a trace. */
export function drawTrace(canvas: Canvas, trace: TextTrace, xAxis: Axis, yAxis: Axis, k: number): void {
  const points = pointsOf(trace)
  const mode =
    typeof trace.mode === 'string'
      ? trace.mode
      : points.length < MARKER_THRESHOLD_POINTS
        ? 'lines+markers'
        : 'lines'
  const hasLines = mode.includes('lines')
  let previous: [number, number] | undefined
  let isIsolated = false
  const drawMarker = ([x, y]: [number, number]): void => {
    for (const [right, up] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ])
      canvas.setDot(x + right, y + up, k)
  }
  for (const { x, y } of points) {
    const [xPosition, yPosition] = [xAxis.positionOf(x), yAxis.positionOf(y)]
    if (xPosition === undefined || yPosition === undefined) {
      // A point between gaps is drawn as a marker.
      if (previous && isIsolated) drawMarker(previous)
      previous = undefined
      continue
    }
    const dot: [number, number] = [
      Math.round(xPosition * (canvas.dotColumns - 1)),
      Math.round(yPosition * (canvas.dotRows - 1)),
    ]
    if (mode.includes('markers')) drawMarker(dot)
    if (hasLines && previous) canvas.drawLine(...previous, ...dot, k)
    isIsolated = hasLines && previous === undefined
    previous = dot
  }
  if (previous && isIsolated) drawMarker(previous)
}

/** Bar of one trace. */
export interface Bar {
  trace: number
  /** Position along the axis, and index among adjacent bars. */
  at: unknown
  index: number
  /** Number of adjacent bars. */
  beside: number
  from: number
  to: number
}

/** Computes bars: stacked, grouped or overlaid. Undefined for other modes. */
export function computeBars(
  bars: readonly TextTrace[],
  mode: unknown,
  isHorizontal: boolean,
): Bar[] | undefined {
  if (mode !== undefined && mode !== 'group' && mode !== 'stack' && mode !== 'overlay' && mode !== 'relative')
    return undefined
  const isStacked = mode === 'stack' || mode === 'relative'
  const sums = new Map<string, number>()
  const isGrouped = mode === undefined || mode === 'group'
  const groupSize = isGrouped ? bars.length : 1
  return bars.flatMap((bar, trace) =>
    pointsOf(bar).flatMap(({ x, y }) => {
      const [position, value] = isHorizontal ? [y, x] : [x, y]
      if (typeof value !== 'number' || !isPresent(position)) return []
      const key = `${value < 0 ? '-' : '+'}${String(position)}${isStacked ? '' : `/${trace}`}`
      const from = sums.get(key) ?? 0
      sums.set(key, from + value)
      return [
        { trace, at: position, index: isGrouped ? trace : 0, beside: groupSize, from, to: from + value },
      ]
    }),
  )
}

/** Draws bars. */
export function drawBars(
  canvas: Canvas,
  boxes: readonly Bar[],
  positionAxis: Axis,
  valueAxis: Axis,
  isHorizontal: boolean,
): void {
  const [length, height] = isHorizontal
    ? [canvas.dotRows, canvas.dotColumns]
    : [canvas.dotColumns, canvas.dotRows]
  const places = [...new Set(boxes.map(({ at }) => positionAxis.positionOf(at)))]
    .filter((at) => at !== undefined)
    .sort((a, b) => a - b)
  let minDistance = 1
  for (let k = 1; k < places.length; k++) minDistance = Math.min(minDistance, places[k] - places[k - 1])
  const groupWidth = Math.max(1, minDistance * length * 0.8)
  for (const { trace, at, index, beside, from, to } of boxes) {
    const middle = positionAxis.positionOf(at)
    const [low, high] = [valueAxis.positionOf(Math.min(from, to)), valueAxis.positionOf(Math.max(from, to))]
    if (middle === undefined || low === undefined || high === undefined) continue
    const barWidth = groupWidth / beside
    const start = Math.round(middle * length - groupWidth / 2 + index * barWidth)
    const end = Math.max(start, Math.round(middle * length - groupWidth / 2 + (index + 1) * barWidth) - 1)
    const [bottom, top] = [
      Math.max(0, Math.round(low * (height - 1))),
      Math.min(height - 1, Math.round(high * (height - 1))),
    ]
    for (let a = start; a <= end; a++)
      for (let b = bottom; b <= top; b++) canvas.setDot(isHorizontal ? b : a, isHorizontal ? a : b, trace)
  }
}
