/** Buckets of a picture: about one for each pixel of its width. */
const MAX_BUCKETS = 1000
const MIN_BUCKETS = 100
/** Points that a bucket keeps: the first, the least, the greatest and the last one. */
export const POINTS_A_BUCKET = 4
/** Points of all traces together: below this, all are drawn. */
export const ENOUGH_POINTS = 10_000
/** Points of all traces that a picture has room for. */
const MAX_POINTS = 40_000
/** Cells in which points without lines hide each other, across and down. */
const CELLS_ACROSS = 160
const CELLS_DOWN = 80
/** Buckets on each side of the part of an axis that is shown. */
const OUTSIDE = 50

/** Whether an attribute has a value for each point. These have one for each tick, or for the whole trace. */
export function isOfPoints(path: string): boolean {
  return !/(?:^|\.)(?:tickvals|ticktext|meta|colorscale)$/.test(path)
}

/** Buckets for each of several traces. */
export function bucketsFor(traces: number): number {
  const each = Math.floor(MAX_POINTS / POINTS_A_BUCKET / Math.max(1, traces))
  return Math.max(MIN_BUCKETS, Math.min(MAX_BUCKETS, each))
}

/** The extent of a trace, which is read before its points are chosen. NaN is a missing value. */
export class Extent {
  rows = 0
  /** Whether x never becomes less, and whether it never becomes greater. */
  isAscending = true
  isDescending = true
  /** How many points are in the part of the axis that is shown. */
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
    if (!this.range || isIn(x, this.range)) this.inRange++
    if (x < this.x.least) this.x.least = x
    if (x > this.x.greatest) this.x.greatest = x
    if (y < this.y.least) this.y.least = y
    if (y > this.y.greatest) this.y.greatest = y
  }
}

export interface ChoiceOptions {
  buckets: number
  /** Whether points are drawn without lines. */
  isCloud: boolean
  /** The part of the x axis that is shown; all of it without. */
  range?: readonly [number, number]
}

/**
 * Chooses the points that a picture needs, so that no peak and no gap is lost: of each bucket, the first, last, least and
 * greatest point, and the first one that is missing. Of clouds, one point for each cell too.
 */
export class PointChoice {
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
    private readonly extent: Extent,
    private readonly options: ChoiceOptions,
  ) {
    const size = options.buckets + 2 * OUTSIDE
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

  /** Adds the points in their order. */
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
    const across = placeIn(x, from, to, CELLS_ACROSS)
    const down = placeIn(y, extent.y.least, extent.y.greatest, CELLS_DOWN)
    const cell = down * CELLS_ACROSS + across
    if (cells[cell] < 0) cells[cell] = row
  }

  private bucketOf(x: number, row: number): number {
    const { extent, options } = this
    const { buckets, isCloud, range } = options
    // A line that goes back is divided by its order.
    if (!isCloud && !extent.isAscending && !extent.isDescending) {
      if (!range) return OUTSIDE + placeIn(row, 0, extent.rows, buckets)
      if (isIn(x, range)) return OUTSIDE + placeIn(this.rowInRange++, 0, extent.inRange, buckets)
      const place = placeIn(row, 0, extent.rows, 2 * OUTSIDE)
      return place < OUTSIDE ? place : buckets + place
    }
    // What is missing is a gap after the point before it.
    if (Number.isNaN(x)) return this.lastBucket
    const [from, to] = range ?? [extent.x.least, extent.x.greatest]
    if (x < from) return placeIn(x, extent.x.least, from, OUTSIDE)
    if (x > to) return OUTSIDE + buckets + placeIn(x, to, extent.x.greatest, OUTSIDE)
    return OUTSIDE + placeIn(x, from, to, buckets)
  }

  /** The rows that are drawn. */
  rows(): Set<number> {
    const lists = [this.first, this.last, this.least, this.greatest, this.gap, this.cells ?? []]
    const rows = new Set<number>()
    for (const list of lists) for (const row of list) if (row >= 0) rows.add(row)
    return rows
  }
}

function isIn(x: number, [from, to]: readonly [number, number]): boolean {
  return x >= from && x <= to
}

/** The place of a value among `count` equal parts from `from` to `to`. */
function placeIn(value: number, from: number, to: number, count: number): number {
  if (!(to > from)) return 0
  return Math.max(0, Math.min(count - 1, Math.floor(((value - from) / (to - from)) * count)))
}
