// What can be wrong with the rows of an append.
import { Problem } from '../../../../contract/errors.ts'
import type { ColumnRow, GridRow } from '../../../store/aggregates/grids.ts'

/** Returns whether rows need a plan (`upsert`): the grid has a key or checks, or columns of unequal lengths. */
export function needsPlan(grid: Pick<GridRow, 'primary_key' | 'checks' | 'ragged'>): boolean {
  return hasRules(grid) || grid.ragged === 1
}

/** Returns whether a grid has a key or checks, which every write must follow. */
export function hasRules({ primary_key, checks }: Pick<GridRow, 'primary_key' | 'checks'>): boolean {
  return primary_key !== null || checks !== null
}

type NamedColumn = Pick<ColumnRow, 'uid' | 'name'>

/** Returns whether columns differ from those that the values were matched to. */
export function areMoved(columns: readonly NamedColumn[], expected: readonly NamedColumn[]): boolean {
  return columns.some(({ uid, name }, k) => uid !== expected[k].uid || name !== expected[k].name)
}

export function columnsChanged(): Problem {
  return new Problem('conflict', 'the columns of the grid were changed by another request', {
    hint: 'Append again.',
  })
}
