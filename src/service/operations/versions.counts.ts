/** What a version changed, counted when its history is read: a write does not wait for it. */

import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import type { Work } from '../../json/index.ts'
import { snapshotOf, trimmed } from '../grids/column/content.ts'
import { diffTables } from '../grids/diff/diff.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import { sharedKey } from './grids.diff.ts'
import type { OperationService as Service } from './handler.ts'

/** A request begins no more counts after this time, in ms: the next one goes on. */
const BUDGET_MS = 1500
/** Versions of more rows are not counted: `gridline diff` compares them. */
const MAX_ROWS = 4_000_000

type Counts = Pick<VersionRow, 'rows_added' | 'rows_removed' | 'rows_changed'>

/** Whether the changes of a version have to be counted. Those of appends are known from the number of rows. */
export function isUncounted({ operation, version, rows_added }: VersionRow): boolean {
  return rows_added === null && operation !== 'append' && version > 1
}

/** Counts what versions of a grid changed, the newest first, and stores it. */
export async function countChanges(
  service: Service,
  fid: Fid,
  present: number,
  rows: readonly VersionRow[],
  work: Work,
): Promise<Map<number, Counts>> {
  const until = performance.now() + BUDGET_MS
  const found = new Map<number, Counts>()
  for (const row of rows.filter(isUncounted)) {
    if (performance.now() > until || work.gone()) break
    const known = await countsOf(service, fid, present, row, work).catch((error) => {
      // Too large, damaged, or read while it expired: nothing is known of it.
      if (error instanceof Problem && error.code !== 'aborted') return undefined
      throw error
    })
    if (!known) continue
    found.set(row.version, known.counts)
    await service.store.write([row.owner], async (writers) => {
      // Rows may have been added to the present version meanwhile.
      const file = await writers.files.get(fid.owner, fid.idlocal)
      if (row.version < present || file?.version === known.at)
        await writers.versions.change(row, known.counts)
    })
  }
  return found
}

async function countsOf(
  { store }: Service,
  fid: Fid,
  present: number,
  row: VersionRow,
  work: Work,
): Promise<{ counts: Counts; at: number } | undefined> {
  const sides = await store.read(async (readers) => {
    const grid = await readers.grids.get(fid.owner, fid.idlocal)
    const before = await readers.versions.get(fid.owner, fid.idlocal, row.version - 1)
    const file = await readers.files.get(fid.owner, fid.idlocal)
    // Another change has come between: the next request finds everything as it is then.
    if (!before || file?.content_version !== present) return undefined
    return {
      grid,
      at: file.version,
      before: await snapshotOf(store, readers, fid, before),
      after: await snapshotOf(store, readers, fid, row.version === present ? undefined : row),
    }
  })
  if (!sides || Math.max(sides.before.rows, sides.after.rows) > MAX_ROWS) return undefined
  const before = { name: '', snap: await trimmed(sides.before) }
  const after = { name: '', snap: await trimmed(sides.after) }
  const compared = (key: readonly string[]) => diffTables(before, after, { key, isSameGrid: true, work })
  const { rows } = await compared(sharedKey(sides.grid, before, after, true)).catch((error) => {
    // A version from before the grid had this key.
    if (error instanceof Problem && error.code === 'bad_data') return compared([])
    throw error
  })
  const counts = { rows_added: rows.added, rows_removed: rows.removed, rows_changed: rows.changed }
  return { counts, at: sides.at }
}
