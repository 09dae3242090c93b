// Matches the rows of two tables by key.

import { Problem } from '../../../contract/errors.ts'
import {
  type ColumnPair,
  type ComparedTables,
  checkRowLimit,
  type MatchedRows,
  type RowChange,
  type RowPairs,
} from './diff-inputs.ts'
import { formatKeyFault, indexKeys, type KeyFault, type KeyIndex } from './keys.ts'
import { pairByKeySlices } from './pair-row-groups.ts'
import type { PairedRowGroups } from './paired-row-groups.ts'
import type { ComparedGroup } from './row-groups.ts'

/** Maximum number of rows of both tables up to which keys are checked in shared slices, too. */
const MAX_CHECKED_ROWS = 200_000
/** Maximum number of columns that are checked for unique values. */
const MAX_TRIED_COLUMNS = 8

/** Matches rows by key. Row groups that both tables share are not read. */
export async function matchByKey(tables: ComparedTables, aligned: PairedRowGroups): Promise<MatchedRows> {
  const { left, right, work } = tables
  if (left.rows + right.rows <= MAX_CHECKED_ROWS) await checkAllKeys(tables)
  const [onlyA, onlyB] = splitUnshared(left.rowGroups, right.rowGroups)
  // Row groups with the same keys in the same order have the same rows.
  const keyed = await pairByKeySlices(tables, { a: onlyA, b: onlyB })
  await aligned.compare(keyed)
  const [doneA, doneB] = [new Set(keyed.map(({ a }) => a)), new Set(keyed.map(({ b }) => b))]
  const rowsA = left.choose(onlyA.filter((chunk) => !doneA.has(chunk)))
  const rowsB = right.choose(onlyB.filter((chunk) => !doneB.has(chunk)))
  checkRowLimit(rowsA, rowsB)
  const leftKeys = await indexKeysOf(tables, 'left')
  await leftKeys.prepare()
  const { hashes } = await indexKeysOf(tables, 'right')
  const isMatched = new Uint8Array(rowsA)
  const single: RowChange[] = []
  const matched: RowPairs = { before: new Int32Array(rowsB), after: new Int32Array(rowsB) }
  let count = 0
  for (let row = 0; row < rowsB; row++) {
    if (work.spend(4)) await work.pause()
    const other = leftKeys.find(hashes, row)
    if (other === undefined) {
      single.push({ before: -1, after: right.rowOf(row) })
      continue
    }
    isMatched[other] = 1
    matched.before[count] = other
    matched.after[count++] = row
  }
  for (let row = 0; row < rowsA; row++) {
    if (isMatched[row] === 0) single.push({ before: left.rowOf(row), after: -1 })
    if (work.spend(1)) await work.pause()
  }
  const before = matched.before.subarray(0, count)
  return {
    single,
    pairs: { before, after: matched.after.subarray(0, count) },
    isReordered: before.some((row, k) => k > 0 && row < before[k - 1]),
  }
}

/** Throws `bad_data` if a key of either table is null or not unique. */
async function checkAllKeys(tables: ComparedTables): Promise<void> {
  for (const side of ['left', 'right'] as const) {
    tables[side].choose(tables[side].rowGroups)
    await indexKeysOf(tables, side)
  }
}

/** Indexes the rows to read by key. Throws `bad_data` if a key is null or not unique. */
function indexKeysOf(
  { reader, pairs, work, ...sides }: ComparedTables,
  side: 'left' | 'right',
): Promise<KeyIndex> {
  const { name } = side === 'left' ? sides.before : sides.after
  const key = pairs.flatMap(({ isKey, comparison, after }, column) =>
    isKey ? [{ column, name: after.name, comparison }] : [],
  )
  const problem = (fault: KeyFault): Problem => {
    const text = formatKeyFault(fault, 'row', (row) => row + 1)
    return new Problem('bad_data', `${name}: ${text}`, {
      hint: 'Choose a key whose values are unique (--key), or leave it out to compare rows in order.',
    })
  }
  return indexKeys(reader, sides[side], key, problem, work)
}

/** Returns the row groups of each table that the other lacks, by id. */
function splitUnshared(
  a: readonly ComparedGroup[],
  b: readonly ComparedGroup[],
): [ComparedGroup[], ComparedGroup[]] {
  const counts = new Map<string, number>()
  for (const { id } of b) if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  const shared = new Map<string, number>()
  const takeShared = (counts: Map<string, number>, id: string | undefined): boolean => {
    const left = id === undefined ? 0 : (counts.get(id) ?? 0)
    if (left === 0) return false
    counts.set(id!, left - 1)
    return true
  }
  const onlyA = a.filter(({ id }) => {
    const isShared = takeShared(counts, id)
    if (isShared) shared.set(id!, (shared.get(id!) ?? 0) + 1)
    return !isShared
  })
  return [onlyA, b.filter(({ id }) => !takeShared(shared, id))]
}

/** Names of columns that identify rows. */
const KEY_NAME = /(?:^|[_\s-])(?:id|key|code|uuid|nr|no|number)$|[a-z]Id$/i

/** Returns whether a column may identify rows: numbers without such a name are measured, and unique by chance. */
function mayBeKey({ after: { name, type } }: ColumnPair): boolean {
  return type !== 'number' || KEY_NAME.test(name)
}

/**
 * Returns the most likely key: a column with unique values and no nulls, of the first `MAX_TRIED_COLUMNS`; undefined
 * for large tables.
 */
export async function findUniqueColumn(tables: ComparedTables): Promise<ColumnPair | undefined> {
  const { left, right, pairs } = tables
  if (left.rows + right.rows > MAX_CHECKED_ROWS) return undefined
  const named = (pair: ColumnPair): number => (KEY_NAME.test(pair.after.name) ? 0 : 1)
  const candidates = pairs
    .slice(0, MAX_TRIED_COLUMNS)
    .filter(mayBeKey)
    .sort((a, b) => named(a) - named(b))
  for (const candidate of candidates) {
    const asKey = { ...tables, pairs: pairs.map((pair) => ({ ...pair, isKey: pair === candidate })) }
    try {
      await checkAllKeys(asKey)
      return candidate
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'bad_data') throw error
    }
  }
  return undefined
}
