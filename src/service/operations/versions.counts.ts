// Counts the changes of each version when the history is read, so that writes do not wait for it.
import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import type { WorkBudget } from '../../json/index.ts'
import { takeVersionSnapshot, trimSnapshot } from '../grids/column/snapshot.ts'
import { diffTables } from '../grids/diff/diff.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import { sharedKeyOf } from './grids.diff.ts'
import type { OperationService as Service } from './handler.ts'

/** Time after which a request starts no more counts, in ms. The next request continues. */
const COUNT_BUDGET_MS = 1500
/** Maximum rows of a version that is counted. `gridline diff` compares larger ones. */
const MAX_COUNTED_ROWS = 4_000_000

type Counts = Pick<VersionRow, 'rows_added' | 'rows_removed' | 'rows_changed'>

/** Returns whether the changes of a version are not counted yet. Appends need no count. */
export function isUncounted({ operation, version, rows_added }: VersionRow): boolean {
  return rows_added === null && operation !== 'append' && version > 1
}

/** Counts the changes of versions of a grid, newest first, and stores the counts. */
export async function countChanges(
  service: Service,
  fid: Fid,
  current: number,
  rows: readonly VersionRow[],
  work: WorkBudget,
): Promise<Map<number, Counts>> {
  const until = performance.now() + COUNT_BUDGET_MS
  const countsByVersion = new Map<number, Counts>()
  for (const row of rows.filter(isUncounted)) {
    if (performance.now() > until || work.isAborted()) break
    const result = await countVersion(service, fid, current, row, work).catch((error) => {
      // Too large, damaged or expired meanwhile: leave it uncounted.
      if (error instanceof Problem && error.code !== 'aborted') return undefined
      throw error
    })
    if (!result) continue
    countsByVersion.set(row.version, result.counts)
    await service.store.write([row.owner], async (writers) => {
      // Rows may have been added to the current version meanwhile.
      const file = await writers.files.get(fid.owner, fid.idlocal)
      if (row.version < current || file?.version === result.at)
        await writers.versions.change(row, result.counts)
    })
  }
  return countsByVersion
}

async function countVersion(
  { store }: Service,
  fid: Fid,
  current: number,
  row: VersionRow,
  work: WorkBudget,
): Promise<{ counts: Counts; at: number } | undefined> {
  const sides = await store.read(async (readers) => {
    const grid = await readers.grids.get(fid.owner, fid.idlocal)
    const before = await readers.versions.get(fid.owner, fid.idlocal, row.version - 1)
    const file = await readers.files.get(fid.owner, fid.idlocal)
    // The grid has changed meanwhile. The next request sees the new state.
    if (!before || file?.content_version !== current) return undefined
    return {
      grid,
      at: file.version,
      before: await takeVersionSnapshot(store, readers, fid, before),
      after: await takeVersionSnapshot(store, readers, fid, row.version === current ? undefined : row),
    }
  })
  if (!sides || Math.max(sides.before.rows, sides.after.rows) > MAX_COUNTED_ROWS) return undefined
  const before = { name: '', snap: await trimSnapshot(sides.before) }
  const after = { name: '', snap: await trimSnapshot(sides.after) }
  const compareBy = (key: readonly string[]) => diffTables(before, after, { key, isSameGrid: true, work })
  const { rows } = await compareBy(sharedKeyOf(sides.grid, before, after, true)).catch((error) => {
    // The version is older than the key.
    if (error instanceof Problem && error.code === 'bad_data') return compareBy([])
    throw error
  })
  const counts = { rows_added: rows.added, rows_removed: rows.removed, rows_changed: rows.changed }
  return { counts, at: sides.at }
}
