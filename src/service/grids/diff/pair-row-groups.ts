// Pairs the row groups of two tables that have the same or probably the same rows.

import type { WorkBudget } from '../../../json/index.ts'
import type { ColumnChunk } from '../column/chunks.ts'
import { RowHashes } from '../column/kernel/cells.ts'
import { chunksWithin } from '../column/row-groups.ts'
import { align, listHunks } from './common-subsequence.ts'
import type { ComparedTables } from './diff-inputs.ts'
import type { RowGroupPair } from './paired-row-groups.ts'
import type { ComparedGroup } from './row-groups.ts'

/** Row groups of both tables, in order. */
export interface RowGroupLists {
  a: readonly ComparedGroup[]
  b: readonly ComparedGroup[]
}

/** Identifies the rows of a row group; undefined if they may differ from those of all others. */
type IdOf = (group: ComparedGroup, side: 'a' | 'b') => string | undefined

/** Aligns row groups with equal ids. Returns the position in `b` for each one of `a`; −1 without one. */
async function alignRowGroups({ a, b }: RowGroupLists, idOf: IdOf, work: WorkBudget): Promise<Int32Array> {
  const numbers = new Map<string, number>()
  const hash = (groups: readonly ComparedGroup[], side: 'a' | 'b'): RowHashes => {
    const hashes = new RowHashes(groups.length)
    for (const [k, group] of groups.entries()) {
      const id = idOf(group, side)
      hashes.high[k] = id === undefined ? (side === 'a' ? 1 : -1) * (k + 1) : 0
      if (id === undefined) continue
      const number = numbers.get(id) ?? numbers.size
      numbers.set(id, number)
      hashes.low[k] = number
    }
    return hashes
  }
  const match = new Int32Array(a.length).fill(-1)
  const all = { a: { from: 0, to: a.length }, b: { from: 0, to: b.length } }
  await align(hash(a, 'a'), hash(b, 'b'), all, match, work)
  return match
}

/** Returns the gaps between row groups that both tables share. */
export async function findGaps({ a, b }: RowGroupLists, work: WorkBudget): Promise<RowGroupLists[]> {
  const match = await alignRowGroups({ a, b }, ({ id }) => id, work)
  const all = { a: { from: 0, to: a.length }, b: { from: 0, to: b.length } }
  return listHunks(match, all).map((hunk) => ({
    a: a.slice(hunk.a.from, hunk.a.to),
    b: b.slice(hunk.b.from, hunk.b.to),
  }))
}

/** Pairs row groups whose key columns have the same slices, in the order of both tables. */
export async function pairByKeySlices(
  { left, right, pairs, work }: ComparedTables,
  { a, b }: RowGroupLists,
): Promise<RowGroupPair[]> {
  const keys = pairs.flatMap(({ isKey }, column) => (isKey ? [column] : []))
  const shapeOf: IdOf = (group, side) => {
    const { chunks } = side === 'a' ? left : right
    const hashes = keys.flatMap((column) =>
      chunksWithin(chunks[column], group).map(
        ({ contentKey, rows }) => contentKey && `${contentKey}:${rows}`,
      ),
    )
    return hashes.includes(undefined) ? undefined : `${hashes.join()} ${describeShape(chunks, group)}`
  }
  const match = await alignRowGroups({ a, b }, shapeOf, work)
  return a.flatMap((group, k) => (match[k] < 0 ? [] : [{ a: group, b: b[match[k]] }]))
}

/** Describes how the chunks of each column divide a row group. */
function describeShape(parts: readonly (readonly ColumnChunk[])[], chunk: ComparedGroup): string {
  return parts.map((own) => chunksWithin(own, chunk).map(({ rows }) => rows)).join('|')
}

/** Pairs row groups at the same offset of a gap that have the same size and chunks. */
export function pairByOffset({ left, right }: ComparedTables, { a, b }: RowGroupLists): RowGroupPair[] {
  if (a.length === 0 || b.length === 0) return []
  const starts = new Map(b.map((chunk) => [chunk.from - b[0].from, chunk]))
  return a.flatMap((chunk) => {
    const other = starts.get(chunk.from - a[0].from)
    return other?.rows === chunk.rows &&
      describeShape(left.chunks, chunk) === describeShape(right.chunks, other)
      ? [{ a: chunk, b: other }]
      : []
  })
}

/** Returns the gaps that remain between pairs of row groups. */
export function splitGap({ a, b }: RowGroupLists, pairs: readonly RowGroupPair[]): RowGroupLists[] {
  const gaps: RowGroupLists[] = []
  let [fromA, fromB] = [0, 0]
  const close = (toA: number, toB: number): void => {
    if (toA > fromA || toB > fromB) gaps.push({ a: a.slice(fromA, toA), b: b.slice(fromB, toB) })
    fromA = toA + 1
    fromB = toB + 1
  }
  for (const pair of pairs) {
    const [atA, atB] = [a.indexOf(pair.a), b.indexOf(pair.b)]
    if (atA >= 0) close(atA, atB)
  }
  close(a.length, b.length)
  return gaps
}
