import { instantOf } from '../../../json/index.ts'
import { type Attributes, arraysOf, isObject, takeRows } from '../transforms/attributes.ts'
import { bucketsFor, ENOUGH_POINTS, Extent, POINTS_A_BUCKET, PointChoice } from './choice.ts'

/** A figure with its data whose large lines and scatters have the points that a picture needs. */
export function reducedFigure<F extends { data?: unknown }>(
  figure: F,
): { figure: F; drawn: number; of: number } {
  const { data } = figure
  const traces = Array.isArray(data) ? data.filter(isObject) : []
  const large = traces.filter(isCandidate)
  const all = large.reduce((sum, { x }) => sum + x.length, 0)
  if (all <= ENOUGH_POINTS) return { figure, drawn: all, of: all }
  const buckets = bucketsFor(large.length)
  let drawn = 0
  for (const trace of large) {
    const length = Math.min(trace.x.length, trace.y.length)
    const points = length > buckets * POINTS_A_BUCKET ? pointsOf(trace, length) : undefined
    if (!points) {
      drawn += length
      continue
    }
    const extent = new Extent()
    for (let k = 0; k < length; k++) extent.add(points.x[k], points.y[k])
    const choice = new PointChoice(extent, { buckets, isCloud: !modeOf(trace).includes('lines') })
    for (let k = 0; k < length; k++) choice.add(points.x[k], points.y[k])
    const rows = [...choice.rows()].sort((a, b) => a - b)
    takeRows(trace, rows, trace, arraysOf(trace))
    drawn += rows.length
  }
  return { figure, drawn, of: all }
}

function isCandidate({ type = 'scatter', x, y, stackgroup, transforms, ...trace }: Attributes): boolean {
  if ((type !== 'scatter' && type !== 'scattergl') || modeOf(trace).includes('text')) return false
  return Array.isArray(x) && Array.isArray(y) && stackgroup === undefined && transforms === undefined
}

function modeOf({ mode }: Attributes): string {
  return typeof mode === 'string' ? mode : 'lines'
}

/** The points as numbers; undefined if x are neither numbers nor dates. */
function pointsOf({ x, y }: Attributes, length: number): { x: Float64Array; y: Float64Array } | undefined {
  const [xs, ys] = [new Float64Array(length), new Float64Array(length)]
  for (let k = 0; k < length; k++) {
    xs[k] = numberOf(x[k])
    ys[k] = numberOf(y[k])
    // A label is a place on the axis by its order, which choosing would change.
    if (Number.isNaN(xs[k]) && x[k] !== null) return undefined
  }
  return { x: xs, y: ys }
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? instantOf(value) : Number.NaN
}
