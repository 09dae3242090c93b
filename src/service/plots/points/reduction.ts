import { formatFid } from '../../../contract/fid.ts'
import { breathe, instantOf, type RawJson, turnIsLong } from '../../../json/index.ts'
import type { Snapshot, SnapshotColumn } from '../../grids/content.ts'
import { RowSet } from '../../grids/row-set.ts'
import { type Chunk, scalarsOf } from '../../grids/scalars.ts'
import { isMoments } from '../../store/column-types.ts'
import type { Reference } from '../scan.ts'
import type { Shown } from '../shown.ts'
import { bucketsFor, ENOUGH_POINTS, Extent, POINTS_A_BUCKET, PointChoice } from './choice.ts'

/** The parts of axes that are shown, by name of the axis: `xaxis2`. */
export type Ranges = ReadonlyMap<string, readonly [string, string]>

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
  axis: string
  isCloud: boolean
}

/** The points that are drawn of lines and scatters with more points than a picture has room for. */
export async function reductionOf(
  figure: Reducible,
  ranges: Ranges = new Map(),
): Promise<Reduction | undefined> {
  const candidates = candidatesIn(figure)
  const all = candidates.reduce((sum, { snap }) => sum + snap.rows, 0)
  if (all <= ENOUGH_POINTS) return undefined
  const buckets = bucketsFor(candidates.length)
  const rows = new Map<string, RowSet>()
  const numbered = new Set<string>()
  let drawn = 0
  for (const { path, snap, x, y, axis, isCloud } of candidates) {
    if (snap.rows <= buckets * POINTS_A_BUCKET) {
      drawn += snap.rows
      continue
    }
    const extent = new Extent()
    await eachPoint(snap, x, y, (a, b) => extent.add(a, b))
    const range = rangeOf(ranges.get(axis), x)
    const choice = new PointChoice(extent, { buckets, isCloud, range })
    await eachPoint(snap, x, y, (a, b) => choice.add(a, b))
    const chosen = RowSet.of(snap.rows, choice.rows())
    rows.set(path, chosen)
    if (!x) numbered.add(path)
    drawn += chosen.count
  }
  return rows.size === 0 ? undefined : { rows, numbered, drawn, of: all }
}

/** Traces whose points are numbers or dates in two columns of one grid. */
function candidatesIn({ figure, references, withArrays, shown }: Reducible): Candidate[] {
  const data = figure.get('data')
  if (data?.kind !== 'array') return []
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
    if (trace.get('stackgroup') || trace.get('transforms')) continue
    const [x, y] = [byPath.get(`${path}.x`), byPath.get(`${path}.y`)]
    const grid = y && shown.get(formatFid(y.source.grid))
    if (!y || !grid || (x && formatFid(x.source.grid) !== formatFid(y.source.grid))) continue
    if (!x && ['x', 'xsrc', 'x0', 'dx'].some((name) => trace.get(name))) continue
    const [xs, ys] = [x, y].map((reference) =>
      reference?.source.uids.length === 1 ? grid.columns.get(reference.source.uids[0]) : undefined,
    )
    if ((x && !(xs && isMeasured(xs))) || !ys || !isMeasured(ys)) continue
    const axis = `xaxis${(text('xaxis') ?? 'x').slice(1)}`
    found.push({ path, snap: grid.snap, x: xs, y: ys, axis, isCloud: !mode.includes('lines') })
  }
  return found
}

function isMeasured({ type }: SnapshotColumn): boolean {
  return type === 'number' || isMoments(type)
}

function rangeOf(
  given: readonly [string, string] | undefined,
  column: SnapshotColumn | undefined,
): readonly [number, number] | undefined {
  if (!given) return undefined
  const [from, to] = given.map((text) => (column && isMoments(column.type) ? instantOf(text) : Number(text)))
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined
  return from <= to ? [from, to] : [to, from]
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
  for (let first = 0; first < rows; first += RUN)
    yield Float64Array.from({ length: Math.min(RUN, rows - first) }, (_, k) => first + k)
}

const RUN = 65_536

function numberOf(value: Chunk[number]): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : Number.NaN
}
