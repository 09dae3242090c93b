/** Downsamples the large traces of a figure with inline data. */

import { getArrayAt, listPointArrays, selectRows } from '../../../charts/evaluate/attributes.ts'
import { hasOffset } from '../../../charts/evaluate/zone.ts'
import { type Attributes, isObject, isThemed } from '../../../charts/figure/figure.ts'
import { parseInstant } from '../../../json/index.ts'
import { readVisibleAxis, type VisibleAxis, type VisibleRanges } from './axes.ts'
import {
  bucketsPerTrace,
  DOWNSAMPLE_THRESHOLD_POINTS,
  isPerPoint,
  POINTS_PER_BUCKET,
  PointSelector,
  TraceExtent,
} from './select-points.ts'

/** Downsamples large lines and scatters, in place. Returns how many of `of` points are drawn. */
export function downsampleFigure(
  figure: Attributes,
  ranges: VisibleRanges = new Map(),
): { figure: Attributes; drawn: number; of: number } {
  const { data, frames, layout } = figure
  const traces: Attributes[] = Array.isArray(data) ? data.filter(isObject) : []
  const hasFrames = Array.isArray(frames) && frames.length > 0
  const large = hasFrames ? [] : traces.filter(canDownsample)
  const total = large.reduce((sum, { x }) => sum + x.length, 0)
  if (total <= DOWNSAMPLE_THRESHOLD_POINTS) return { figure, drawn: total, of: total }
  const buckets = bucketsPerTrace(large.length)
  let drawn = 0
  for (const trace of large) {
    const length = Math.min(trace.x.length, trace.y.length)
    const points =
      length > buckets * POINTS_PER_BUCKET ? readPoints(trace, length, layout, ranges) : undefined
    if (!points) {
      drawn += length
      continue
    }
    const { x, y, axis } = points
    const extent = new TraceExtent(axis.range)
    for (let k = 0; k < length; k++) extent.add(x[k], y[k])
    const isCloud = !modeOf(trace).includes('lines')
    const choice = new PointSelector(extent, { buckets, isCloud, range: axis.range })
    for (let k = 0; k < length; k++) choice.add(x[k], y[k])
    const rows = [...choice.selectedRows()].sort((a, b) => a - b)
    const paths = listPointArrays(trace).filter(
      (path) => isPerPoint(path) && getArrayAt(trace, path).length >= length,
    )
    selectRows(trace, rows, trace, paths)
    drawn += rows.length
  }
  return { figure, drawn, of: total }
}

/** Returns whether a trace is a line or scatter that does not need all its points. */
function canDownsample({ type = 'scatter', x, y, ...trace }: Attributes): boolean {
  if ((type !== 'scatter' && type !== 'scattergl') || modeOf(trace).includes('text')) return false
  const { stackgroup, transforms, selectedpoints } = trace
  const isWhole = [stackgroup, transforms, selectedpoints].some((value) => value !== undefined)
  return Array.isArray(x) && Array.isArray(y) && !isWhole
}

function modeOf({ mode }: Attributes): string {
  return typeof mode === 'string' ? mode : 'lines'
}

/** Reads the points as numbers; undefined if some are labels, or times that are drawn without their zones. */
function readPoints(
  { x, y, xaxis = 'x' }: Attributes,
  length: number,
  layout: unknown,
  ranges: VisibleRanges,
): { x: Float64Array; y: Float64Array; axis: VisibleAxis } | undefined {
  const name = `xaxis${String(xaxis).slice(1)}`
  const settings: unknown = isObject(layout) ? layout[name] : undefined
  const areDates = x.some((value: unknown) => typeof value === 'string')
  if (areDates && !isThemed(layout) && x.some(hasOffset)) return undefined
  const axis = readVisibleAxis(isObject(settings) ? settings : undefined, areDates, ranges.get(name))
  const [xs, ys] = [toNumbers(x, length), toNumbers(y, length)]
  return axis && xs && ys && { x: xs.map(axis.toPosition), y: ys, axis }
}

/** Converts numbers and dates to numbers (dates: ms since 1970; missing: NaN); undefined for other values. */
function toNumbers(values: readonly unknown[], length: number): Float64Array | undefined {
  const numbers = new Float64Array(length)
  for (let k = 0; k < length; k++) {
    const value = values[k]
    numbers[k] =
      typeof value === 'number' ? value : typeof value === 'string' ? parseInstant(value) : Number.NaN
    const isMissing = value === null || value === undefined
    if (!isMissing && !Number.isFinite(numbers[k])) return undefined
  }
  return numbers
}
