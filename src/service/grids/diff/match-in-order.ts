// Matches the rows of two tables in order, without a key.
import { familyOf } from '../../store/schema/column-types.ts'
import { RowHashes } from '../column/kernel/cells.ts'
import { align, type Hunk, listHunks } from './common-subsequence.ts'
import { type ComparedTables, checkRowLimit, type MatchedRows, type RowChange } from './diff-inputs.ts'
import { pairChangedRows } from './pair-changed-rows.ts'
import { findGaps, pairByOffset, splitGap } from './pair-row-groups.ts'
import type { PairedRowGroups } from './paired-row-groups.ts'

/** Matches rows in order: aligns shared row groups, then the rows between them. */
export async function matchInOrder(
  tables: ComparedTables,
  tolerance: number,
  aligned: PairedRowGroups,
): Promise<MatchedRows> {
  const { left, right, pairs, reader, work } = tables
  const between = await findGaps({ a: left.rowGroups, b: right.rowGroups }, work)
  // Row groups of the same size at the same position of a gap.
  const candidates = between.flatMap((gap) => pairByOffset(tables, gap))
  const rejected = new Set(await aligned.compare(candidates))
  const done = candidates.filter((pair) => !rejected.has(pair))
  const gaps = between.flatMap((gap) => splitGap(gap, done))
  const rowsA = left.choose(gaps.flatMap(({ a }) => a))
  const rowsB = right.choose(gaps.flatMap(({ b }) => b))
  checkRowLimit(rowsA, rowsB)
  const hashes = { left: new RowHashes(rowsA), right: new RowHashes(rowsB) }
  for (const [k, { comparison, before }] of pairs.entries()) {
    // Nearly equal numbers have different hashes.
    if (tolerance > 0 && familyOf(before.type) === 'number') continue
    await left.hash(reader, k, hashes.left, comparison)
    await right.hash(reader, k, hashes.right, comparison)
  }
  const match = new Int32Array(rowsA).fill(-1)
  const hunks: Hunk[] = []
  let [atA, atB] = [0, 0]
  for (const gap of gaps) {
    const a = { from: atA, to: atA + gap.a.reduce((sum, { rows }) => sum + rows, 0) }
    const b = { from: atB, to: atB + gap.b.reduce((sum, { rows }) => sum + rows, 0) }
    await align(hashes.left, hashes.right, { a, b }, match, work)
    for (const hunk of listHunks(match, { a, b })) hunks.push(hunk)
    await work.spendAndPause(a.to - a.from)
    atA = a.to
    atB = b.to
  }
  // Without a tolerance, matched rows are equal and need no comparison.
  const isSure = tolerance === 0
  const sure = new Uint8Array(rowsA)
  for (let row = 0; isSure && row < rowsA; row++) {
    if (match[row] >= 0) sure[row] = 1
    if (work.spend(1)) await work.pause()
  }
  await pairChangedRows(tables, hunks, match)
  return collectChanges(tables, hunks, match, sure)
}

/** Collects added and removed rows from hunks, and matched rows that are not `sure` to be equal. */
async function collectChanges(
  { left, right, work }: ComparedTables,
  hunks: readonly Hunk[],
  match: Int32Array,
  sure: Uint8Array,
): Promise<MatchedRows> {
  const single: RowChange[] = []
  for (const { a, b } of hunks) {
    let next = b.from
    const addUpTo = (end: number): void => {
      for (; next < end; next++) single.push({ before: -1, after: right.rowOf(next) })
    }
    for (let row = a.from; row < a.to; row++) {
      if (work.spend(4)) await work.pause()
      if (match[row] < 0) {
        single.push({ before: left.rowOf(row), after: -1 })
        continue
      }
      addUpTo(match[row])
      next++
    }
    addUpTo(b.to)
    await work.spendAndPause(b.to - b.from)
  }
  let count = 0
  const before = new Int32Array(match.length)
  for (let row = 0; row < match.length; row++) if (match[row] >= 0 && sure[row] === 0) before[count++] = row
  const rows = before.slice(0, count)
  return { single, pairs: { before: rows, after: rows.map((row) => match[row]) } }
}
