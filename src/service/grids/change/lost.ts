import type { Fid } from '../../../contract/fid.ts'
import type { ColumnRow } from '../../store/aggregates/grids.ts'
import type { Writers } from '../../store/store.ts'

/** Remembers the names of columns that are removed, if plots refer to their grid. */
export async function recordLost(
  { grids, plots }: Writers,
  grid: Fid,
  columns: readonly Pick<ColumnRow, 'uid' | 'name'>[],
): Promise<void> {
  if (columns.length === 0) return
  const [any] = await plots.referencersOf(grid, 'grid', undefined, false, 1)
  if (any) await grids.addLost(grid.owner, grid.idlocal, columns)
}
