// Pairs the columns of two tables by uid and name.

import { Problem } from '../../../contract/errors.ts'
import { formatList } from '../../../contract/message-texts.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { comparisonOf } from '../../store/schema/column-types.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import { longestAscending } from './common-subsequence.ts'
import type { ColumnPair, DiffInput, DiffOptions } from './diff-inputs.ts'

/**
 * Converts key columns of two versions of a grid to their current names; a renamed column can have its old
 * name.
 */
export function currentKeyNames(key: readonly string[], before: DiffInput, after: DiffInput): string[] {
  const [olds, news] = [before.snap.columns, after.snap.columns]
  return key.map((given) => {
    if (news.some(({ name }) => name === given)) return given
    const old = olds.find(({ name }) => name === given)
    return news.find(({ uid }) => uid === old?.uid)?.name ?? given
  })
}

/** Pairs the columns of both tables by uid and name. Throws `unknown_column`. */
export function pairColumns(
  before: DiffInput,
  after: DiffInput,
  { key, columns, ignore = [], isSameGrid }: DiffOptions,
): { pairs: ColumnPair[]; added: SnapshotColumn[]; removed: SnapshotColumn[] } {
  const [olds, news] = [before.snap.columns, after.snap.columns]
  const names = new Set([...olds, ...news].map(({ name }) => name))
  const unknown = [...key, ...(columns ?? []), ...ignore].find((name) => !names.has(name))
  if (unknown !== undefined)
    throw new Problem('unknown_column', `neither table has a column ${JSON.stringify(unknown)}`, {
      hint: `The columns are: ${formatList([...names])}`,
    })
  const [keys, ignored, chosen] = [new Set(key), new Set(ignore), columns && new Set(columns)]
  const isChosen = (name: string): boolean =>
    keys.has(name) || ((chosen?.has(name) ?? true) && !ignored.has(name))
  const byUid = new Map(isSameGrid ? olds.map((column) => [column.uid, column]) : [])
  const byName = new Map(olds.map((column) => [column.name, column]))
  const paired = new Set<SnapshotColumn>()
  const pairs: ColumnPair[] = []
  const added: SnapshotColumn[] = []
  const uids = new Set(isSameGrid ? news.map(({ uid }) => uid) : [])
  for (const column of news) {
    const sameName = byName.get(column.name)
    // A column of that name that still exists under another name is a different column.
    const oldColumn = byUid.get(column.uid) ?? (sameName && !uids.has(sameName.uid) ? sameName : undefined)
    if (oldColumn) paired.add(oldColumn)
    if (!isChosen(column.name) && !(oldColumn && isChosen(oldColumn.name) && columns)) continue
    if (!oldColumn) added.push(column)
    else
      pairs.push({
        before: oldColumn,
        after: column,
        comparison: comparisonOf(oldColumn.type, column.type),
        isKey: keys.has(column.name),
      })
  }
  const pairedNames = new Set(pairs.map(({ after: { name } }) => name))
  const missingKey = key.find((name) => !pairedNames.has(name))
  if (missingKey !== undefined) {
    const lackingSide = news.some(({ name }) => name === missingKey) ? before : after
    throw new Problem(
      'unknown_column',
      `${lackingSide.name} has no column ${JSON.stringify(missingKey)}, which is the key`,
      { hint: 'Choose key columns that both tables have: --key' },
    )
  }
  const removed = olds.filter((column) => !paired.has(column) && isChosen(column.name))
  return { pairs, added, removed }
}

/** Returns the columns that have moved: those outside of the longest subsequence in the same order. */
export async function findMovedColumns(
  pairs: readonly ColumnPair[],
  work: WorkBudget,
): Promise<Set<ColumnPair>> {
  const before = pairs.map((pair) => pair.before.order)
  const stay = new Set(await longestAscending(before, work))
  return new Set(pairs.filter((_, k) => !stay.has(k)))
}
