/** Downsamples the large traces of a figure with inline data. */
import { instantOf } from '../../../json/index.ts'
import { type Attributes, arraysOf, isObject, takeRows, valueAt } from '../transforms/attributes.ts'
import { type Ranges, type ShownAxis, shownAxis } from './axes.ts'
import { bucketsFor, ENOUGH_POINTS, Extent, isOfPoints, POINTS_A_BUCKET, PointChoice } from './choice.ts'

/** Downsamples large lines and scatters, in place. Returns how many of `of` points are drawn. */
export function reducedFigure(
  figure: Attributes,
  ranges: Ranges = new Map(),
): { figure: Attributes; drawn: number; of: number } {
  const { data, frames, layout } = figure
  const traces: Attributes[] = Array.isArray(data) ? data.filter(isObject) : []
  const hasFrames = Array.isArray(frames) && frames.length > 0
  const large = hasFrames ? [] : traces.filter(isCandidate)
  const total = large.reduce((sum, { x }) => sum + x.length, 0)
  if (total <= ENOUGH_POINTS) return { figure, drawn: total, of: total }
  const buckets = bucketsFor(large.length)
  let drawn = 0
  for (const trace of large) {
    const length = Math.min(trace.x.length, trace.y.length)
    const points = length > buckets * POINTS_A_BUCKET ? pointsOf(trace, length, layout, ranges) : undefined
    if (!points) {
      drawn += length
      continue
    }
    const { x, y, axis } = points
    const extent = new Extent(axis.range)
    for (let k = 0; k < length; k++) extent.add(x[k], y[k])
    const isCloud = !modeOf(trace).includes('lines')
    const choice = new PointChoice(extent, { buckets, isCloud, range: axis.range })
    for (let k = 0; k < length; k++) choice.add(x[k], y[k])
    const rows = [...choice.rows()].sort((a, b) => a - b)
    const paths = arraysOf(trace).filter(
      (path) => isOfPoints(path) && (valueAt(trace, path) as unknown[]).length >= length,
    )
    takeRows(trace, rows, trace, paths)
    drawn += rows.length
  }
  return { figure, drawn, of: total }
}

/** Returns whether a trace is a line or scatter that does not need all its points. */
function isCandidate({ type = 'scatter', x, y, ...trace }: Attributes): boolean {
  if ((type !== 'scatter' && type !== 'scattergl') || modeOf(trace).includes('text')) return false
  const { stackgroup, transforms, selectedpoints } = trace
  const isWhole = [stackgroup, transforms, selectedpoints].some((value) => value !== undefined)
  return Array.isArray(x) && Array.isArray(y) && !isWhole
}

function modeOf({ mode }: Attributes): string {
  return typeof mode === 'string' ? mode : 'lines'
}

/** Reads the points as numbers; undefined if some are labels. */
function pointsOf(
  { x, y, xaxis = 'x' }: Attributes,
  length: number,
  layout: unknown,
  ranges: Ranges,
): { x: Float64Array; y: Float64Array; axis: ShownAxis } | undefined {
  const name = `xaxis${String(xaxis).slice(1)}`
  const settings: unknown = isObject(layout) ? layout[name] : undefined
  const areDates = x.some((value: unknown) => typeof value === 'string')
  const axis = shownAxis(isObject(settings) ? settings : undefined, areDates, ranges.get(name))
  const [xs, ys] = [numbersOf(x, length), numbersOf(y, length)]
  return axis && xs && ys && { x: xs.map(axis.place), y: ys, axis }
}

/** Converts numbers and dates to numbers (dates: ms since 1970; missing: NaN); undefined for other values. */
function numbersOf(values: readonly unknown[], length: number): Float64Array | undefined {
  const numbers = new Float64Array(length)
  for (let k = 0; k < length; k++) {
    const value = values[k]
    numbers[k] = typeof value === 'number' ? value : typeof value === 'string' ? instantOf(value) : Number.NaN
    const isMissing = value === null || value === undefined
    if (!isMissing && !Number.isFinite(numbers[k])) return undefined
  }
  return numbers
}
