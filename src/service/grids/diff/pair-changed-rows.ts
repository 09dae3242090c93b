// Pairs removed with added rows: the most similar ones are the same row before and after a change.
import { RowHashes } from '../column/kernel/cells.ts'
import { type Hunk, listHunks, type RowRange } from './common-subsequence.ts'
import { type ComparedTables, hashRows, RowList } from './diff-inputs.ts'

/** Maximum number of pairs of a removed and an added row that are compared for similarity. */
const MAX_SIMILAR_PAIRS = 1_000_000

/**
 * Matches changed rows of a hunk: the most similar ones, and if both ranges have as many rows, all others in
 * order.
 */
export async function pairChangedRows(
  tables: ComparedTables,
  hunks: readonly Hunk[],
  match: Int32Array,
): Promise<void> {
  const several: Hunk[] = []
  const inPlace = ({ a, b }: Hunk): void => {
    for (let k = 0; k < Math.min(a.to - a.from, b.to - b.from); k++) match[a.from + k] = b.from + k
  }
  let products = 0
  for (const hunk of hunks) {
    const product = (hunk.a.to - hunk.a.from) * (hunk.b.to - hunk.b.from)
    if (product > 1 && products + product <= MAX_SIMILAR_PAIRS) {
      products += product
      several.push(hunk)
    } else inPlace(hunk)
  }
  if (several.length === 0) return
  const shared = await countSharedCells(tables, several)
  for (const [k, { a, b }] of several.entries()) {
    const similar = pairMostSimilar(shared[k], a.to - a.from, b.to - b.from)
    for (const [x, y] of similar) match[a.from + x] = b.from + y
    // Pair the remaining rows in order.
    if (a.to - a.from === b.to - b.from) for (const between of listHunks(match, { a, b })) inPlace(between)
  }
}

/**
 * Pairs `n` rows with `m` rows, in order, so that they share the most cells. `shared`: counts at x * m + y.
 */
function pairMostSimilar(shared: Uint16Array, n: number, m: number): [number, number][] {
  // Maximum number of cells that the rows from here on can share.
  const best = new Int32Array((n + 1) * (m + 1))
  const at = (x: number, y: number): number => x * (m + 1) + y
  for (let x = n - 1; x >= 0; x--)
    for (let y = m - 1; y >= 0; y--)
      best[at(x, y)] = Math.max(
        best[at(x + 1, y)],
        best[at(x, y + 1)],
        shared[x * m + y] + best[at(x + 1, y + 1)],
      )
  const pairs: [number, number][] = []
  for (let [x, y] = [0, 0]; x < n && y < m; ) {
    const sharedCount = shared[x * m + y]
    if (sharedCount > 0 && best[at(x, y)] === sharedCount + best[at(x + 1, y + 1)]) pairs.push([x++, y++])
    else if (best[at(x, y)] === best[at(x + 1, y)]) x++
    else y++
  }
  return pairs
}

/** Counts the equal cells of each row before with each row after, by hunk. Nulls do not count. */
async function countSharedCells(tables: ComparedTables, hunks: readonly Hunk[]): Promise<Uint16Array[]> {
  const counts = hunks.map(({ a, b }) => new Uint16Array((a.to - a.from) * (b.to - b.from)))
  const rows = (side: 'a' | 'b'): Promise<RowList> =>
    RowList.create(Int32Array.from(hunks.flatMap((hunk) => listRows(hunk[side]))), tables.work)
  const [wantedA, wantedB] = [await rows('a'), await rows('b')]
  const none = new RowHashes(1)
  for (const [column, { comparison }] of tables.pairs.entries()) {
    const left = await hashRows(tables, 'left', column, wantedA)
    const right = await hashRows(tables, 'right', column, wantedB)
    none.low.fill(0)
    none.high.fill(0)
    tables.reader.addHashes(NULL, none, 0, comparison)
    let [fromA, fromB] = [0, 0]
    for (const [k, { a, b }] of hunks.entries()) {
      const [n, m] = [a.to - a.from, b.to - b.from]
      for (let x = 0; x < n; x++) {
        if (left.isSame(fromA + x, none, 0)) continue
        for (let y = 0; y < m; y++) if (left.isSame(fromA + x, right, fromB + y)) counts[k][x * m + y]++
      }
      fromA += n
      fromB += m
      await tables.work.spendAndPause(n * m)
    }
  }
  return counts
}

const NULL = Buffer.from('null')

function listRows({ from, to }: RowRange): number[] {
  return Array.from({ length: to - from }, (_, k) => from + k)
}
