/** Plans which rows of large traces are drawn, from the columns of grids. */
import { formatFid } from '../../../contract/fid.ts'
import { type RawJson, shouldYield, yieldToEventLoop } from '../../../json/index.ts'
import { RowSet } from '../../grids/column/row-set.ts'
import { type ScalarBatch, streamScalars } from '../../grids/column/scalars.ts'
import type { Snapshot, SnapshotColumn } from '../../grids/column/snapshot.ts'
import { isDateType } from '../../store/schema/column-types.ts'
import type { ReferencedGrid } from '../referenced-grids.ts'
import { type Reference, readText } from '../scan.ts'
import { readVisibleAxis, type VisibleAxis, type VisibleRanges } from './axes.ts'
import {
  bucketsPerTrace,
  DOWNSAMPLE_THRESHOLD_POINTS,
  POINTS_PER_BUCKET,
  PointSelector,
  TraceExtent,
} from './select-points.ts'

/** Selected points of large traces. */
export interface Downsampling {
  /** Selected rows by path of the trace: `data.0`. */
  rows: ReadonlyMap<string, RowSet>
  /** Paths of traces whose x is the row number. */
  numbered: ReadonlySet<string>
  drawn: number
  of: number
}

/** Properties of a figure that downsampling needs. */
export interface DownsamplingInput {
  figure: RawJson
  references: readonly Reference[]
  /** Paths of traces with inline arrays: these are drawn whole. */
  tracesWithArrays: ReadonlySet<string>
  grids: ReadonlyMap<string, ReferencedGrid>
}

/** A trace that can be downsampled. */
interface Candidate {
  path: string
  snap: Snapshot
  /** Undefined if x is the row number. */
  x: SnapshotColumn | undefined
  y: SnapshotColumn
  /** Number of points: fewer than rows if another column of the grid is longer. */
  points: number
  axis: VisibleAxis
  isCloud: boolean
  /** Cache key: equal for traces with the same points on the same axis. */
  key: string
}

/** Limit of downsampling; larger figures are drawn whole. */
const MAX_SCANNED_VALUES = 40_000_000

/** Selects the points of large lines and scatters; undefined if all points are drawn. */
export async function planDownsampling(
  figure: DownsamplingInput,
  ranges: VisibleRanges = new Map(),
): Promise<Downsampling | undefined> {
  const candidates = await findCandidates(figure, ranges)
  const total = candidates.reduce((sum, { points }) => sum + points, 0)
  if (total <= DOWNSAMPLE_THRESHOLD_POINTS) return undefined
  const buckets = bucketsPerTrace(candidates.length)
  const cache = new Map<string, RowSet>()
  const pointsByKey = new Map(candidates.map(({ key, points }) => [key, points]))
  if ([...pointsByKey.values()].reduce((sum, count) => sum + 2 * count, 0) > MAX_SCANNED_VALUES)
    return undefined
  const rows = new Map<string, RowSet>()
  const numbered = new Set<string>()
  let drawn = 0
  for (const { path, snap, x, y, points, axis, isCloud, key } of candidates) {
    if (points <= buckets * POINTS_PER_BUCKET) {
      drawn += points
      continue
    }
    let selected = cache.get(key)
    if (!selected) {
      const { toPosition: place, range } = axis
      const extent = new TraceExtent(range)
      await forEachPoint(snap, x, y, (a, b) => extent.add(place(a), b))
      const choice = new PointSelector(extent, { buckets, isCloud, range })
      await forEachPoint(snap, x, y, (a, b) => choice.add(place(a), b))
      selected = RowSet.of(snap.rows, choice.selectedRows())
      cache.set(key, selected)
    }
    rows.set(path, selected)
    if (!x) numbered.add(path)
    drawn += selected.count
  }
  return rows.size === 0 ? undefined : { rows, numbered, drawn, of: total }
}

/** Attributes of traces that need all points: these refer to points by number, or to other traces. */
const WHOLE_TRACE_ATTRIBUTES = ['stackgroup', 'transforms', 'selectedpoints']

/** Finds scatter traces of numbers or dates in one grid: y, and x if it is set. None in figures with frames. */
async function findCandidates(
  { figure, references, tracesWithArrays: withArrays, grids }: DownsamplingInput,
  ranges: VisibleRanges,
): Promise<Candidate[]> {
  const data = figure.get('data')
  const frames = figure.get('frames')
  // Frames change the points of traces.
  const hasFrames = frames?.kind === 'array' && !frames.items().next().done
  if (data?.kind !== 'array' || hasFrames) return []
  const layout = figure.get('layout')
  const byPath = new Map(references.map((reference) => [reference.path, reference]))
  const candidates: Candidate[] = []
  const meta = layout?.kind === 'object' ? layout.get('meta') : undefined
  const hasTheme = meta?.kind === 'object' && meta.get('theme')?.kind === 'string'
  let k = 0
  for (const trace of data.items()) {
    if (shouldYield()) await yieldToEventLoop()
    const path = `data.${k++}`
    if (trace.kind !== 'object' || withArrays.has(path)) continue
    const type = readText(trace.get('type')) ?? 'scatter'
    const mode = readText(trace.get('mode')) ?? 'lines'
    if ((type !== 'scatter' && type !== 'scattergl') || mode.includes('text')) continue
    if (WHOLE_TRACE_ATTRIBUTES.some((name) => trace.get(name))) continue
    const [x, y] = [byPath.get(`${path}.x`), byPath.get(`${path}.y`)]
    const grid = y && grids.get(formatFid(y.source.grid))
    if (!y || !grid || (x && formatFid(x.source.grid) !== formatFid(y.source.grid))) continue
    if (!x && ['x', 'xsrc', 'x0', 'dx'].some((name) => trace.get(name))) continue
    const [xs, ys] = [x, y].map((reference) =>
      reference?.source.uids.length === 1 ? grid.columns.get(reference.source.uids[0]) : undefined,
    )
    if ((x && !(xs && isNumberOrTime(xs))) || !ys || !isNumberOrTime(ys)) continue
    // Figures that were made elsewhere are drawn without the zones of their times.
    if (xs?.type === 'datetime-zone' && !hasTheme) continue
    const name = `xaxis${(readText(trace.get('xaxis')) ?? 'x').slice(1)}`
    const settings = layout?.kind === 'object' ? layout.get(name) : undefined
    const axisSettings = settings?.kind === 'object' ? (settings.toValue() as object) : undefined
    const axis = readVisibleAxis(axisSettings, xs !== undefined && isDateType(xs.type), ranges.get(name))
    if (!axis) continue
    const isCloud = !mode.includes('lines')
    const key = JSON.stringify([formatFid(y.source.grid), xs?.uid, ys.uid, name, isCloud])
    const points = Math.min(ys.rows, xs?.rows ?? ys.rows)
    candidates.push({ path, snap: grid.snap, x: xs, y: ys, points, axis, isCloud, key })
  }
  return candidates
}

function isNumberOrTime({ type }: SnapshotColumn): boolean {
  return type === 'number' || isDateType(type)
}

/** Calls `visit` with each point of two columns. Values that are not numbers become NaN. */
async function forEachPoint(
  snap: Snapshot,
  x: SnapshotColumn | undefined,
  y: SnapshotColumn,
  visit: (x: number, y: number) => void,
): Promise<void> {
  const [xs, ys] = [x ? streamScalars(snap, x) : rowNumbers(snap.rows), streamScalars(snap, y)]
  let [a, b]: ScalarBatch[] = [[], []]
  let [i, k] = [0, 0]
  try {
    for (;;) {
      if (i >= a.length) {
        const { value, done } = await xs.next()
        if (done) return
        a = value
        i = 0
      }
      if (k >= b.length) {
        const { value, done } = await ys.next()
        if (done) return
        b = value
        k = 0
      }
      const count = Math.min(a.length - i, b.length - k)
      for (let n = 0; n < count; n++) visit(toNumber(a[i++]), toNumber(b[k++]))
      if (shouldYield()) await yieldToEventLoop()
    }
  } finally {
    await Promise.all([xs.return(undefined), ys.return(undefined)])
  }
}

/** Yields row numbers from 0, in chunks. */
async function* rowNumbers(rows: number): AsyncGenerator<ScalarBatch> {
  for (let first = 0; first < rows; first += CHUNK_ROWS)
    yield Float64Array.from({ length: Math.min(CHUNK_ROWS, rows - first) }, (_, k) => first + k)
}

const CHUNK_ROWS = 65_536

function toNumber(value: ScalarBatch[number]): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : Number.NaN
}
