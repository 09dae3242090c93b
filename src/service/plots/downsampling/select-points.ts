/** Selects the points that a chart needs, so that it looks the same as with all points. */
/** Maximum number of buckets of a trace: about one per pixel of the width. */
const MAX_BUCKETS = 1000
/** Minimum number of buckets of a trace. */
const MIN_BUCKETS = 100
/** Number of points that a bucket keeps: first, last, minimum and maximum. */
export const POINTS_PER_BUCKET = 4
/** Number of points of all traces up to which all are drawn. */
export const DOWNSAMPLE_THRESHOLD_POINTS = 10_000
/** Maximum number of drawn points of all traces; exceeded if each trace has `MIN_BUCKETS`. */
const MAX_POINTS = 40_000
/** Grid for points without lines: each cell keeps one point, since others would be hidden behind it. */
const CELLS_ACROSS = 160
const CELLS_DOWN = 80
/** Number of buckets on each side of the visible range. */
const OUTSIDE_BUCKETS = 50

/** Returns whether an attribute has a value per point, and not one per tick or trace. */
export function isPerPoint(path: string): boolean {
  return !/(?:^|\.)(?:tickvals|ticktext|meta|colorscale)$/.test(path)
}

/** Returns the number of buckets for each of several traces. */
export function bucketsPerTrace(traces: number): number {
  const buckets = Math.floor(MAX_POINTS / POINTS_PER_BUCKET / Math.max(1, traces))
  return Math.max(MIN_BUCKETS, Math.min(MAX_BUCKETS, buckets))
}

/** Extent of a trace, collected before its points are selected. NaN is a missing value. */
export class TraceExtent {
  rows = 0
  /** True if x never decreases. */
  isAscending = true
  /** True if x never increases. */
  isDescending = true
  /** Number of points in the visible range. */
  inRange = 0
  readonly x = { least: Number.POSITIVE_INFINITY, greatest: Number.NEGATIVE_INFINITY }
  readonly y = { least: Number.POSITIVE_INFINITY, greatest: Number.NEGATIVE_INFINITY }
  private last = Number.NaN

  constructor(private readonly range: readonly [number, number] | undefined) {}

  add(x: number, y: number): void {
    this.rows++
    if (x < this.last) this.isAscending = false
    if (x > this.last) this.isDescending = false
    if (!Number.isNaN(x)) this.last = x
    if (!this.range || isInRange(x, this.range)) this.inRange++
    if (x < this.x.least) this.x.least = x
    if (x > this.x.greatest) this.x.greatest = x
    if (y < this.y.least) this.y.least = y
    if (y > this.y.greatest) this.y.greatest = y
  }
}

export interface SelectionOptions {
  buckets: number
  /** True if points are drawn without lines. */
  isCloud: boolean
  /** Visible range of the x axis; undefined for all of it. */
  range?: readonly [number, number]
}

/**
 * Selects points so that no peak or gap is lost: the first, last, lowest and highest point of each bucket,
 * and its first missing one. Clouds also keep one point per cell.
 */
export class PointSelector {
  /** Row numbers by bucket; −1 is none. */
  private readonly first: Float64Array
  private readonly last: Float64Array
  private readonly least: Float64Array
  private readonly greatest: Float64Array
  private readonly gap: Float64Array
  private readonly low: Float64Array
  private readonly high: Float64Array
  private readonly cells: Float64Array | undefined
  private row = 0
  private rowInRange = 0
  private lastBucket = 0

  constructor(
    private readonly extent: TraceExtent,
    private readonly options: SelectionOptions,
  ) {
    const size = options.buckets + 2 * OUTSIDE_BUCKETS
    const list = (): Float64Array => new Float64Array(size).fill(-1)
    this.first = list()
    this.last = list()
    this.least = list()
    this.greatest = list()
    this.gap = list()
    this.low = new Float64Array(size).fill(Number.POSITIVE_INFINITY)
    this.high = new Float64Array(size).fill(Number.NEGATIVE_INFINITY)
    this.cells = options.isCloud ? new Float64Array(CELLS_ACROSS * CELLS_DOWN).fill(-1) : undefined
  }

  /** Adds the next point. */
  add(x: number, y: number): void {
    const row = this.row++
    const bucket = this.bucketOf(x, row)
    this.lastBucket = bucket
    if (Number.isNaN(x) || Number.isNaN(y)) {
      if (this.gap[bucket] < 0) this.gap[bucket] = row
      return
    }
    if (this.first[bucket] < 0) this.first[bucket] = row
    this.last[bucket] = row
    if (y < this.low[bucket]) {
      this.low[bucket] = y
      this.least[bucket] = row
    }
    if (y > this.high[bucket]) {
      this.high[bucket] = y
      this.greatest[bucket] = row
    }
    if (this.cells) this.addToCell(x, y, row, this.cells)
  }

  private addToCell(x: number, y: number, row: number, cells: Float64Array): void {
    const { extent, options } = this
    const [from, to] = options.range ?? [extent.x.least, extent.x.greatest]
    if (x < from || x > to) return
    const across = partIndexOf(x, from, to, CELLS_ACROSS)
    const down = partIndexOf(y, extent.y.least, extent.y.greatest, CELLS_DOWN)
    const cell = down * CELLS_ACROSS + across
    if (cells[cell] < 0) cells[cell] = row
  }

  /** Returns the bucket of a point: by x, or by row for lines that go back and forth. */
  private bucketOf(x: number, row: number): number {
    const { extent, options } = this
    const { buckets, isCloud, range } = options
    // A line whose x goes back and forth is divided into buckets by row.
    if (!isCloud && !extent.isAscending && !extent.isDescending) {
      if (!range) return OUTSIDE_BUCKETS + partIndexOf(row, 0, extent.rows, buckets)
      if (isInRange(x, range))
        return OUTSIDE_BUCKETS + partIndexOf(this.rowInRange++, 0, extent.inRange, buckets)
      const index = partIndexOf(row, 0, extent.rows, 2 * OUTSIDE_BUCKETS)
      return index < OUTSIDE_BUCKETS ? index : buckets + index
    }
    // A missing x is a gap after the previous point.
    if (Number.isNaN(x)) return this.lastBucket
    const [from, to] = range ?? [extent.x.least, extent.x.greatest]
    if (x < from) return partIndexOf(x, extent.x.least, from, OUTSIDE_BUCKETS)
    if (x > to) return OUTSIDE_BUCKETS + buckets + partIndexOf(x, to, extent.x.greatest, OUTSIDE_BUCKETS)
    return OUTSIDE_BUCKETS + partIndexOf(x, from, to, buckets)
  }

  /** Returns the selected rows, unsorted. */
  selectedRows(): Set<number> {
    const lists = [this.first, this.last, this.least, this.greatest, this.gap, this.cells ?? []]
    const rows = new Set<number>()
    for (const list of lists) for (const row of list) if (row >= 0) rows.add(row)
    return rows
  }
}

function isInRange(x: number, [from, to]: readonly [number, number]): boolean {
  return x >= from && x <= to
}

/** Returns which of the equal parts of [from, to] contains a value, from 0. */
function partIndexOf(value: number, from: number, to: number, parts: number): number {
  if (!(to > from)) return 0
  return Math.max(0, Math.min(parts - 1, Math.floor(((value - from) / (to - from)) * parts)))
}
