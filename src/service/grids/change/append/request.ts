// Conditions under which appended rows need a plan.
import type { GridRow } from '../../../store/aggregates/grids.ts'

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
