/** Plans which rows of large traces are drawn, from the columns of grids. */
import { formatFid } from '../../../contract/fid.ts'
import { breathe, type RawJson, turnIsLong } from '../../../json/index.ts'
import type { Snapshot, SnapshotColumn } from '../../grids/column/content.ts'
import { RowSet } from '../../grids/column/row-set.ts'
import { type Chunk, scalarsOf } from '../../grids/column/scalars.ts'
import { isMoments } from '../../store/schema/column-types.ts'
import type { Reference } from '../scan.ts'
import type { Shown } from '../shown.ts'
import { type Ranges, type ShownAxis, shownAxis } from './axes.ts'
import { bucketsFor, ENOUGH_POINTS, Extent, POINTS_A_BUCKET, PointChoice } from './choice.ts'

/** Selected points of large traces. */
export interface Reduction {
  /** Selected rows by path of the trace: `data.0`. */
  rows: ReadonlyMap<string, RowSet>
  /** Paths of traces whose x is the row number. */
  numbered: ReadonlySet<string>
  drawn: number
  of: number
}

/** Properties of a figure that downsampling needs. */
export interface Reducible {
  figure: RawJson
  references: readonly Reference[]
  /** Paths of traces with inline arrays: these are drawn whole. */
  withArrays: ReadonlySet<string>
  shown: ReadonlyMap<string, Shown>
}

/** A trace that can be downsampled. */
interface Candidate {
  path: string
  snap: Snapshot
  /** Undefined if x is the row number. */
  x: SnapshotColumn | undefined
  y: SnapshotColumn
  axis: ShownAxis
  isCloud: boolean
  /** Cache key: equal for traces with the same points on the same axis. */
  key: string
}

/** Limit of downsampling; larger figures are drawn whole. */
const MAX_VALUES = 40_000_000

/** Selects the points of large lines and scatters; undefined if all points are drawn. */
export async function reductionOf(
  figure: Reducible,
  ranges: Ranges = new Map(),
): Promise<Reduction | undefined> {
  const candidates = candidatesIn(figure, ranges)
  const total = candidates.reduce((sum, { snap }) => sum + snap.rows, 0)
  if (total <= ENOUGH_POINTS) return undefined
  const buckets = bucketsFor(candidates.length)
  const cache = new Map<string, RowSet>()
  const rowsByKey = new Map(candidates.map((candidate) => [candidate.key, candidate.snap.rows]))
  if ([...rowsByKey.values()].reduce((sum, count) => sum + 2 * count, 0) > MAX_VALUES) return undefined
  const rows = new Map<string, RowSet>()
  const numbered = new Set<string>()
  let drawn = 0
  for (const { path, snap, x, y, axis, isCloud, key } of candidates) {
    if (snap.rows <= buckets * POINTS_A_BUCKET) {
      drawn += snap.rows
      continue
    }
    let selected = cache.get(key)
    if (!selected) {
      const { place, range } = axis
      const extent = new Extent(range)
      await eachPoint(snap, x, y, (a, b) => extent.add(place(a), b))
      const choice = new PointChoice(extent, { buckets, isCloud, range })
      await eachPoint(snap, x, y, (a, b) => choice.add(place(a), b))
      selected = RowSet.of(snap.rows, choice.rows())
      cache.set(key, selected)
    }
    rows.set(path, selected)
    if (!x) numbered.add(path)
    drawn += selected.count
  }
  return rows.size === 0 ? undefined : { rows, numbered, drawn, of: total }
}

/** Attributes of traces that need all points: these refer to points by number, or to other traces. */
const WHOLE = ['stackgroup', 'transforms', 'selectedpoints']

/** Finds traces whose points are numbers or dates in two columns of one grid. */
function candidatesIn(
  { figure, references, withArrays, shown: grids }: Reducible,
  ranges: Ranges,
): Candidate[] {
  const data = figure.get('data')
  const frames = figure.get('frames')
  // Frames change the points of traces.
  const hasFrames = frames?.kind === 'array' && !frames.items().next().done
  if (data?.kind !== 'array' || hasFrames) return []
  const layout = figure.get('layout')
  const byPath = new Map(references.map((reference) => [reference.path, reference]))
  const candidates: Candidate[] = []
  let k = 0
  for (const trace of data.items()) {
    const path = `data.${k++}`
    if (trace.kind !== 'object' || withArrays.has(path)) continue
    const readText = (name: string): string | undefined => {
      const value = trace.get(name)
      return value?.kind === 'string' ? (value.value() as string) : undefined
    }
    const type = readText('type') ?? 'scatter'
    const mode = readText('mode') ?? 'lines'
    if ((type !== 'scatter' && type !== 'scattergl') || mode.includes('text')) continue
    if (WHOLE.some((name) => trace.get(name))) continue
    const [x, y] = [byPath.get(`${path}.x`), byPath.get(`${path}.y`)]
    const grid = y && grids.get(formatFid(y.source.grid))
    if (!y || !grid || (x && formatFid(x.source.grid) !== formatFid(y.source.grid))) continue
    if (!x && ['x', 'xsrc', 'x0', 'dx'].some((name) => trace.get(name))) continue
    const [xs, ys] = [x, y].map((reference) =>
      reference?.source.uids.length === 1 ? grid.columns.get(reference.source.uids[0]) : undefined,
    )
    if ((x && !(xs && isMeasured(xs))) || !ys || !isMeasured(ys)) continue
    const name = `xaxis${(readText('xaxis') ?? 'x').slice(1)}`
    const settings = layout?.kind === 'object' ? layout.get(name) : undefined
    const axisSettings = settings?.kind === 'object' ? (settings.value() as object) : undefined
    const axis = shownAxis(axisSettings, xs !== undefined && isMoments(xs.type), ranges.get(name))
    if (!axis) continue
    const isCloud = !mode.includes('lines')
    const key = JSON.stringify([formatFid(y.source.grid), xs?.uid, ys.uid, name, isCloud])
    candidates.push({ path, snap: grid.snap, x: xs, y: ys, axis, isCloud, key })
  }
  return candidates
}

function isMeasured({ type }: SnapshotColumn): boolean {
  return type === 'number' || isMoments(type)
}

/** Calls `visit` with each point of two columns. Values that are not numbers become NaN. */
async function eachPoint(
  snap: Snapshot,
  x: SnapshotColumn | undefined,
  y: SnapshotColumn,
  visit: (x: number, y: number) => void,
): Promise<void> {
  const [xs, ys] = [x ? scalarsOf(snap, x) : numbers(snap.rows), scalarsOf(snap, y)]
  let [a, b]: Chunk[] = [[], []]
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
      for (let n = 0; n < count; n++) visit(numberOf(a[i++]), numberOf(b[k++]))
      if (turnIsLong()) await breathe()
    }
  } finally {
    await Promise.all([xs.return(undefined), ys.return(undefined)])
  }
}

/** Yields row numbers from 0, in chunks. */
async function* numbers(rows: number): AsyncGenerator<Chunk> {
  for (let first = 0; first < rows; first += RUN_VALUES)
    yield Float64Array.from({ length: Math.min(RUN_VALUES, rows - first) }, (_, k) => first + k)
}

const RUN_VALUES = 65_536

function numberOf(value: Chunk[number]): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : Number.NaN
}
