// Conditions under which appended rows need a plan, or conflict with another change.
import { Problem } from '../../../../contract/errors.ts'
import type { ColumnRow, GridRow } from '../../../store/aggregates/grids.ts'

/**
 * Returns whether appends need a plan (`upsert`): the grid has a key, checks or alerts, or columns of unequal
 * lengths.
 */
export function needsPlan(grid: Pick<GridRow, 'primary_key' | 'checks' | 'has_alerts' | 'ragged'>): boolean {
  return hasRules(grid) || grid.has_alerts === 1 || grid.ragged === 1
}

/** Returns whether a grid has a key or checks, which every write must satisfy. */
export function hasRules({ primary_key, checks }: Pick<GridRow, 'primary_key' | 'checks'>): boolean {
  return primary_key !== null || checks !== null
}

type NamedColumn = Pick<ColumnRow, 'uid' | 'name'>

/** Returns whether columns differ from those that values were matched to. */
export function haveColumnsChanged(
  columns: readonly NamedColumn[],
  expected: readonly NamedColumn[],
): boolean {
  return columns.some(({ uid, name }, k) => uid !== expected[k].uid || name !== expected[k].name)
}

/** Creates the error for columns that changed after values were matched to them. */
export function columnsChangedError(): Problem {
  return new Problem('conflict', 'another request has changed the columns of the grid', {
    hint: 'Append again.',
  })
}
