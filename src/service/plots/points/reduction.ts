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

/** Which points of large traces are drawn. */
export interface Reduction {
  /** Row numbers by path of the trace: `data.0`. */
  rows: ReadonlyMap<string, RowSet>
  /** Paths of those whose x is the number of the row. */
  numbered: ReadonlySet<string>
  drawn: number
  of: number
}

/** What a reduction needs to know of a figure. */
export interface Reducible {
  figure: RawJson
  references: readonly Reference[]
  /** Paths of traces with arrays of their own, whose rows cannot be chosen. */
  withArrays: ReadonlySet<string>
  shown: ReadonlyMap<string, Shown>
}

interface Candidate {
  path: string
  snap: Snapshot
  /** Without a column, x is the number of the row. */
  x: SnapshotColumn | undefined
  y: SnapshotColumn
  axis: ShownAxis
  isCloud: boolean
  /** Equal for traces of the same points on the same axis. */
  key: string
}

/** Values that are read to choose points. Figures that would need more are drawn whole. */
const MAX_VALUES = 40_000_000

/** The points that are drawn of lines and scatters with more points than a picture has room for. */
export async function reductionOf(
  figure: Reducible,
  ranges: Ranges = new Map(),
): Promise<Reduction | undefined> {
  const candidates = candidatesIn(figure, ranges)
  const all = candidates.reduce((sum, { snap }) => sum + snap.rows, 0)
  if (all <= ENOUGH_POINTS) return undefined
  const buckets = bucketsFor(candidates.length)
  const known = new Map<string, RowSet>()
  const different = new Map(candidates.map((one) => [one.key, one.snap.rows]))
  if ([...different.values()].reduce((sum, count) => sum + 2 * count, 0) > MAX_VALUES) return undefined
  const rows = new Map<string, RowSet>()
  const numbered = new Set<string>()
  let drawn = 0
  for (const { path, snap, x, y, axis, isCloud, key } of candidates) {
    if (snap.rows <= buckets * POINTS_A_BUCKET) {
      drawn += snap.rows
      continue
    }
    let chosen = known.get(key)
    if (!chosen) {
      const { place, range } = axis
      const extent = new Extent(range)
      await eachPoint(snap, x, y, (a, b) => extent.add(place(a), b))
      const choice = new PointChoice(extent, { buckets, isCloud, range })
      await eachPoint(snap, x, y, (a, b) => choice.add(place(a), b))
      chosen = RowSet.of(snap.rows, choice.rows())
      known.set(key, chosen)
    }
    rows.set(path, chosen)
    if (!x) numbered.add(path)
    drawn += chosen.count
  }
  return rows.size === 0 ? undefined : { rows, numbered, drawn, of: all }
}

/** Attributes of traces whose points must all be there: they refer to points by number, or to other traces. */
const WHOLE = ['stackgroup', 'transforms', 'selectedpoints']

/** Traces whose points are numbers or dates in two columns of one grid. */
function candidatesIn({ figure, references, withArrays, shown }: Reducible, ranges: Ranges): Candidate[] {
  const data = figure.get('data')
  const frames = figure.get('frames')
  // Frames change the points of traces.
  const hasFrames = frames?.kind === 'array' && !frames.items().next().done
  if (data?.kind !== 'array' || hasFrames) return []
  const layout = figure.get('layout')
  const byPath = new Map(references.map((reference) => [reference.path, reference]))
  const found: Candidate[] = []
  let k = 0
  for (const trace of data.items()) {
    const path = `data.${k++}`
    if (trace.kind !== 'object' || withArrays.has(path)) continue
    const text = (name: string): string | undefined => {
      const value = trace.get(name)
      return value?.kind === 'string' ? (value.value() as string) : undefined
    }
    const type = text('type') ?? 'scatter'
    const mode = text('mode') ?? 'lines'
    if ((type !== 'scatter' && type !== 'scattergl') || mode.includes('text')) continue
    if (WHOLE.some((name) => trace.get(name))) continue
    const [x, y] = [byPath.get(`${path}.x`), byPath.get(`${path}.y`)]
    const grid = y && shown.get(formatFid(y.source.grid))
    if (!y || !grid || (x && formatFid(x.source.grid) !== formatFid(y.source.grid))) continue
    if (!x && ['x', 'xsrc', 'x0', 'dx'].some((name) => trace.get(name))) continue
    const [xs, ys] = [x, y].map((reference) =>
      reference?.source.uids.length === 1 ? grid.columns.get(reference.source.uids[0]) : undefined,
    )
    if ((x && !(xs && isMeasured(xs))) || !ys || !isMeasured(ys)) continue
    const name = `xaxis${(text('xaxis') ?? 'x').slice(1)}`
    const settings = layout?.kind === 'object' ? layout.get(name) : undefined
    const given = settings?.kind === 'object' ? (settings.value() as object) : undefined
    const axis = shownAxis(given, xs !== undefined && isMoments(xs.type), ranges.get(name))
    if (!axis) continue
    const isCloud = !mode.includes('lines')
    const key = JSON.stringify([formatFid(y.source.grid), xs?.uid, ys.uid, name, isCloud])
    found.push({ path, snap: grid.snap, x: xs, y: ys, axis, isCloud, key })
  }
  return found
}

function isMeasured({ type }: SnapshotColumn): boolean {
  return type === 'number' || isMoments(type)
}

/** Goes through the points of two columns. What is no number is NaN. */
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

/** The numbers of rows. */
async function* numbers(rows: number): AsyncGenerator<Chunk> {
  for (let first = 0; first < rows; first += RUN_VALUES)
    yield Float64Array.from({ length: Math.min(RUN_VALUES, rows - first) }, (_, k) => first + k)
}

const RUN_VALUES = 65_536

function numberOf(value: Chunk[number]): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : Number.NaN
}
