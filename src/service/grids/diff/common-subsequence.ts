// Longest common subsequence of the rows of two tables, or nearly the longest.
import type { WorkBudget } from '../../../json/index.ts'
import type { RowHashes } from '../column/kernel/cells.ts'

/** Maximum number of edits of an exact solution (Myers, 1986): memory and time grow with its square. */
const MAX_EDITS = 2000
/** Maximum number of edits in a gap between two anchors. There can be many gaps. */
const MAX_GAP_EDITS = 256
/** Maximum number of times that gaps are split at anchors. */
const MAX_DEPTH = 12

/** Rows from `from` up to `to`, exclusive. */
export interface RowRange {
  from: number
  to: number
}

/** Ranges of rows of both tables, such as those between two matched rows; one can be empty. */
export interface Hunk {
  a: RowRange
  b: RowRange
}

/**
 * Matches equal rows in order: sets `match[row]` of a row of `a` to the row of `b`. Other rows are not set.
 */
export function align(
  a: RowHashes,
  b: RowHashes,
  hunk: Hunk,
  match: Int32Array,
  work: WorkBudget,
): Promise<void> {
  return new Alignment(a, b, match, work).align(hunk)
}

/** Returns the ranges between matched rows. */
export function listHunks(match: Int32Array, { a, b }: Hunk): Hunk[] {
  const hunks: Hunk[] = []
  let [fromA, fromB] = [a.from, b.from]
  for (let row = a.from; row <= a.to; row++) {
    const other = row === a.to ? b.to : match[row]
    if (other < 0) continue
    if (row > fromA || other > fromB)
      hunks.push({ a: { from: fromA, to: row }, b: { from: fromB, to: other } })
    fromA = row + 1
    fromB = other + 1
  }
  return hunks
}

/** Matches the rows of two tables. */
class Alignment {
  constructor(
    private readonly a: RowHashes,
    private readonly b: RowHashes,
    private readonly match: Int32Array,
    private readonly work: WorkBudget,
  ) {}

  async align(hunk: Hunk): Promise<void> {
    const gaps = [{ hunk, depth: 0 }]
    for (let next = gaps.pop(); next; next = gaps.pop()) {
      const { depth } = next
      const gap = await this.matchEnds(next.hunk)
      const { a, b } = gap
      if (a.from === a.to || b.from === b.to) continue
      const maxEdits = depth === 0 ? MAX_EDITS : MAX_GAP_EDITS
      if ((await this.matchShortestEdit(gap, maxEdits)) || depth === MAX_DEPTH) continue
      const anchors = await this.findAnchors(gap)
      if (anchors.length === 0) continue
      for (const [rowA, rowB] of anchors) this.match[rowA] = rowB
      for (const between of listHunks(this.match, gap))
        if (between.a.to > between.a.from && between.b.to > between.b.from)
          gaps.push({ hunk: between, depth: depth + 1 })
    }
  }

  /** Matches the common prefix and suffix of both ranges. Returns the gap between them. */
  private async matchEnds({ a: left, b: right }: Hunk): Promise<Hunk> {
    const { a, b, match, work } = this
    let { from: a0, to: a1 } = left
    let { from: b0, to: b1 } = right
    while (a0 < a1 && b0 < b1 && a.isSame(a0, b, b0)) {
      match[a0++] = b0++
      if (work.spend(1)) await work.pause()
    }
    while (a0 < a1 && b0 < b1 && a.isSame(a1 - 1, b, b1 - 1)) {
      match[--a1] = --b1
      if (work.spend(1)) await work.pause()
    }
    return { a: { from: a0, to: a1 }, b: { from: b0, to: b1 } }
  }

  /** Matches rows by the shortest edit script. Returns false if it has more than `maxEdits` rows. */
  private async matchShortestEdit({ a: left, b: right }: Hunk, maxEdits: number): Promise<boolean> {
    const { a, b, work } = this
    const n = left.to - left.from
    const m = right.to - right.from
    const reach = Math.min(maxEdits, n + m)
    // Farthest row of `a` on each diagonal; `history` has the state before each number of edits.
    const farthest = new Int32Array(2 * reach + 3)
    const middle = reach + 1
    const history: Int32Array[] = []
    for (let edits = 0; edits <= reach; edits++) {
      history.push(farthest.slice(middle - edits - 1, middle + edits + 2))
      for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
        const isDown =
          diagonal === -edits ||
          (diagonal !== edits && farthest[middle + diagonal - 1] < farthest[middle + diagonal + 1])
        let x = isDown ? farthest[middle + diagonal + 1] : farthest[middle + diagonal - 1] + 1
        let y = x - diagonal
        const startX = x
        while (x < n && y < m && a.isSame(left.from + x, b, right.from + y)) {
          x++
          y++
        }
        farthest[middle + diagonal] = x
        if (work.spend(x - startX + 1)) await work.pause()
        if (x < n || y < m) continue
        this.matchBackwards(history, left, right)
        return true
      }
    }
    return false
  }

  /** Sets the matches of a shortest edit script, from its end. */
  private matchBackwards(history: readonly Int32Array[], left: RowRange, right: RowRange): void {
    let [x, y] = [left.to - left.from, right.to - right.from]
    for (let edits = history.length - 1; edits >= 0; edits--) {
      const before = history[edits]
      const middle = edits + 1
      const diagonal = x - y
      const isDown =
        diagonal === -edits ||
        (diagonal !== edits && before[middle + diagonal - 1] < before[middle + diagonal + 1])
      const fromX = edits === 0 ? 0 : isDown ? before[middle + diagonal + 1] : before[middle + diagonal - 1]
      const fromY = edits === 0 ? 0 : fromX - (isDown ? diagonal + 1 : diagonal - 1)
      while (x > fromX && y > fromY) {
        x--
        y--
        this.match[left.from + x] = right.from + y
      }
      x = fromX
      y = fromY
    }
  }

  /** Finds anchors: pairs of equal rows that are unique in both ranges, in the same order in both. */
  private async findAnchors({ a: left, b: right }: Hunk): Promise<[number, number][]> {
    const { a, b, work } = this
    const index = new RowIndex(a, left.to - left.from)
    const isUnique = new Uint8Array(left.to - left.from).fill(1)
    for (let row = left.from; row < left.to; row++) {
      const other = index.add(row)
      if (other !== undefined) isUnique[row - left.from] = isUnique[other - left.from] = 0
      if (work.spend(4)) await work.pause()
    }
    const partner = new Int32Array(left.to - left.from).fill(-1)
    for (let row = right.from; row < right.to; row++) {
      if (work.spend(4)) await work.pause()
      const match = index.get(b, row)
      if (match === undefined || isUnique[match - left.from] === 0) continue
      if (partner[match - left.from] >= 0) isUnique[match - left.from] = 0
      else partner[match - left.from] = row
    }
    const pairs: [number, number][] = []
    for (let k = 0; k < partner.length; k++) {
      if (partner[k] >= 0 && isUnique[k] === 1) pairs.push([left.from + k, partner[k]])
      if (work.spend(1)) await work.pause()
    }
    const rows = new Int32Array(pairs.length)
    for (let k = 0; k < rows.length; k++) rows[k] = pairs[k][1]
    return (await longestAscending(rows, work)).map((k) => pairs[k])
  }
}

/** Returns the positions of the longest strictly ascending subsequence. */
export async function longestAscending(numbers: ArrayLike<number>, work: WorkBudget): Promise<number[]> {
  const before = new Int32Array(numbers.length)
  /** Position of the least number that ends a subsequence of each length. */
  const ends: number[] = []
  for (let position = 0; position < numbers.length; position++) {
    const number = numbers[position]
    let [low, high] = [0, ends.length]
    while (low < high) {
      const half = (low + high) >> 1
      if (numbers[ends[half]] < number) low = half + 1
      else high = half
    }
    if (work.spend(4)) await work.pause()
    before[position] = low === 0 ? -1 : ends[low - 1]
    ends[low] = position
  }
  const positions: number[] = []
  for (let position = ends.at(-1) ?? -1; position >= 0; position = before[position]) positions.push(position)
  return positions.reverse()
}

/** Hash table of rows. */
export class RowIndex {
  private readonly slots: Int32Array
  private readonly mask: number

  constructor(
    private readonly hashes: RowHashes,
    rows: number,
  ) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, rows * 2)))
    this.slots = new Int32Array(size)
    this.mask = size - 1
  }

  /** Adds a row. If a row with the same hash exists, returns it instead. */
  add(row: number): number | undefined {
    const { hashes, slots, mask } = this
    let place = (hashes.low[row] ^ (hashes.high[row] >>> 3)) & mask
    for (; slots[place] !== 0; place = (place + 1) & mask) {
      const other = slots[place] - 1
      if (hashes.isSame(other, hashes, row)) return other
    }
    slots[place] = row + 1
    return undefined
  }

  /** Returns the row with the same hash as `row` of `other`; undefined without one. */
  get(other: RowHashes, row: number): number | undefined {
    const { hashes, slots, mask } = this
    let place = (other.low[row] ^ (other.high[row] >>> 3)) & mask
    for (; slots[place] !== 0; place = (place + 1) & mask)
      if (hashes.isSame(slots[place] - 1, other, row)) return slots[place] - 1
    return undefined
  }
}
