/** Rows of two tables that are the same, in the order of both: the longest such sequence, or nearly. */
import type { Work } from '../../../json/index.ts'
import type { RowHashes } from '../column/kernel/cells.ts'

/** Differences up to which the shortest edit is found (Myers, 1986): memory and time grow with their square. */
const MAX_EDITS = 2000
/** The same between anchors, of which there can be many. */
const MAX_EDITS_BETWEEN = 256
const MAX_DEPTH = 12

/** Rows from `from` up to `to`. */
export interface Run {
  from: number
  to: number
}

interface Gap {
  a: Run
  b: Run
  depth: number
}

/** Sets `match[row]` of each row of `a` to the row of `b` that it is the same as. Other rows stay as they are. */
export async function align(
  a: RowHashes,
  b: RowHashes,
  gap: { a: Run; b: Run },
  match: Int32Array,
  work: Work,
): Promise<void> {
  const gaps: Gap[] = [{ ...gap, depth: 0 }]
  for (let next = gaps.pop(); next; next = gaps.pop()) {
    const { a: left, b: right, depth } = await trimmedEnds(a, b, next, match, work)
    if (left.from === left.to || right.from === right.to) continue
    const most = depth === 0 ? MAX_EDITS : MAX_EDITS_BETWEEN
    if ((await shortestEdit(a, b, left, right, most, match, work)) || depth === MAX_DEPTH) continue
    const anchors = await anchorsOf(a, b, left, right, work)
    if (anchors.length === 0) continue
    let [atA, atB] = [left.from, right.from]
    for (const [rowA, rowB] of [...anchors, [left.to, right.to] as const]) {
      if (rowA < left.to) match[rowA] = rowB
      if (rowA > atA && rowB > atB)
        gaps.push({ a: { from: atA, to: rowA }, b: { from: atB, to: rowB }, depth: depth + 1 })
      atA = rowA + 1
      atB = rowB + 1
    }
  }
}

/** Matches what both runs begin and end with. */
async function trimmedEnds(
  a: RowHashes,
  b: RowHashes,
  { a: left, b: right, depth }: Gap,
  match: Int32Array,
  work: Work,
): Promise<Gap> {
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
  return { a: { from: a0, to: a1 }, b: { from: b0, to: b1 }, depth }
}

/** The shortest edit, if it has no more than `most` removed and added rows; false otherwise. */
async function shortestEdit(
  a: RowHashes,
  b: RowHashes,
  left: Run,
  right: Run,
  most: number,
  match: Int32Array,
  work: Work,
): Promise<boolean> {
  const n = left.to - left.from
  const m = right.to - right.from
  const reach = Math.min(most, n + m)
  // Farthest row of `a` on each diagonal, and what it was for each number of edits.
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
      const began = x
      while (x < n && y < m && a.isSame(left.from + x, b, right.from + y)) {
        x++
        y++
      }
      farthest[middle + diagonal] = x
      if (work.spend(x - began + 1)) await work.pause()
      if (x < n || y < m) continue
      walkBack(history, left.from, right.from, n, m, match)
      return true
    }
  }
  return false
}

function walkBack(
  history: readonly Int32Array[],
  a0: number,
  b0: number,
  n: number,
  m: number,
  match: Int32Array,
): void {
  let [x, y] = [n, m]
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
      match[a0 + x] = b0 + y
    }
    x = fromX
    y = fromY
  }
}

/** Rows that are there once in each run, as many as are in the same order in both. */
async function anchorsOf(
  a: RowHashes,
  b: RowHashes,
  left: Run,
  right: Run,
  work: Work,
): Promise<[number, number][]> {
  const index = new RowIndex(a, left.to - left.from)
  const once = new Uint8Array(left.to - left.from).fill(1)
  for (let row = left.from; row < left.to; row++) {
    const other = index.add(row)
    if (other !== undefined) once[row - left.from] = once[other - left.from] = 0
    if (work.spend(4)) await work.pause()
  }
  const partner = new Int32Array(left.to - left.from).fill(-1)
  for (let row = right.from; row < right.to; row++) {
    if (work.spend(4)) await work.pause()
    const found = index.get(b, row)
    if (found === undefined || once[found - left.from] === 0) continue
    if (partner[found - left.from] >= 0) once[found - left.from] = 0
    else partner[found - left.from] = row
  }
  const pairs: [number, number][] = []
  for (let k = 0; k < partner.length; k++) {
    if (partner[k] >= 0 && once[k] === 1) pairs.push([left.from + k, partner[k]])
    if (work.spend(1)) await work.pause()
  }
  const rows = new Int32Array(pairs.length)
  for (let k = 0; k < rows.length; k++) rows[k] = pairs[k][1]
  return (await ascending(rows, work)).map((k) => pairs[k])
}

/** The places of the longest ascending sequence of different numbers. */
export async function ascending(numbers: ArrayLike<number>, work: Work): Promise<number[]> {
  const before = new Int32Array(numbers.length)
  /** The place of the least number that ends a sequence of each length. */
  const ends: number[] = []
  for (let place = 0; place < numbers.length; place++) {
    const number = numbers[place]
    let [low, high] = [0, ends.length]
    while (low < high) {
      const half = (low + high) >> 1
      if (numbers[ends[half]] < number) low = half + 1
      else high = half
    }
    if (work.spend(4)) await work.pause()
    before[place] = low === 0 ? -1 : ends[low - 1]
    ends[low] = place
  }
  const found: number[] = []
  for (let place = ends.at(-1) ?? -1; place >= 0; place = before[place]) found.push(place)
  return found.reverse()
}

/** Finds rows by their hash. */
export class RowIndex {
  private readonly places: Int32Array
  private readonly mask: number

  constructor(
    private readonly hashes: RowHashes,
    rows: number,
  ) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, rows * 2)))
    this.places = new Int32Array(size)
    this.mask = size - 1
  }

  /** Adds a row, unless one with this hash was added: it returns that one. */
  add(row: number): number | undefined {
    const { hashes, places, mask } = this
    let place = (hashes.low[row] ^ (hashes.high[row] >>> 3)) & mask
    for (; places[place] !== 0; place = (place + 1) & mask) {
      const other = places[place] - 1
      if (hashes.isSame(other, hashes, row)) return other
    }
    places[place] = row + 1
    return undefined
  }

  /** The row with the hash of a row of another table. */
  get(other: RowHashes, row: number): number | undefined {
    const { hashes, places, mask } = this
    let place = (other.low[row] ^ (other.high[row] >>> 3)) & mask
    for (; places[place] !== 0; place = (place + 1) & mask)
      if (hashes.isSame(places[place] - 1, other, row)) return places[place] - 1
    return undefined
  }
}
