// Changes the columns or slices of a grid while appends to it wait.
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { encodeTypes } from '../../store/schema/column-types.ts'
import type { Store, Writers } from '../../store/store.ts'
import { isLayoutUnchanged, type Layout, loadLayout, type NewColumn } from '../column/layout.ts'
import { createTableSnapshot } from '../input/tables.ts'
import { flushTail } from './flush.ts'
import { LayoutLock } from './layout-lock.ts'

const MAX_ATTEMPTS = 10

/** A plan, as far as alerts are concerned: the columns if they change, and the failed checks. */
type LayoutPlan = {
  columns?: readonly NewColumn[]
  failedChecks?: readonly string[]
  isPartChecked?: boolean
}

/** The store, and the queue that can pause appends to a grid. */
export interface GridStore {
  store: Store
  appends: { pauseWhile<T>(fid: Fid, work: () => Promise<T>): Promise<T> }
}

/**
 * Changes columns or slices of a grid, with appends paused and an empty tail. `prepare` stores blobs;
 * `commit` adds the rows that refer to them, in one transaction. Retries if the layout has changed in
 * between; throws `overloaded` after 10 attempts. The result of `commit` must be JSON. `owners`: other users whose
 * rows it changes.
 */
export async function changeLayout<P extends LayoutPlan, T>(
  { store, appends }: GridStore,
  fid: Fid,
  prepare: (layout: Layout) => Promise<P>,
  commit: (writers: Writers, prepared: P, layout: Layout) => Promise<T>,
  owners: readonly string[] = [],
): Promise<T> {
  const lock = new LayoutLock(store, fid)
  const attempt = async (): Promise<{ result: T } | undefined> => {
    // A flush changes nothing that users see, so it is committed even in a dry run.
    await flushTail(store.durableStore, fid, undefined, lock.id)
    const layout = await store.read((readers) => loadLayout(readers, fid))
    if (layout.grid.tail_rows > 0) return undefined
    const prepared = await prepare(layout)
    const judgements = layout.grid.has_alerts === 1 ? await judgePlan(store, fid, prepared) : undefined
    return store.write([fid.owner, ...owners], async (writers) => {
      const current = await writers.grids.get(fid.owner, fid.idlocal).catch(() => undefined)
      if (!current || !isLayoutUnchanged(current, layout.grid, lock.id) || current.tail_rows > 0)
        return undefined
      const result = await commit(writers, prepared, { ...layout, grid: current, judgements })
      await updateRowCounts(writers, fid, current.layout + 1)
      return { result }
    })
  }
  return appends
    .pauseWhile(fid, async () => {
      for (let k = 0; k < MAX_ATTEMPTS; k++) {
        // Another server has appended in between: pause its appends.
        if (k > 0) await lock.acquire()
        const outcome = await attempt()
        if (outcome) return outcome.result
      }
      throw new Problem('overloaded', 'too many changes to this grid at once')
    })
    .finally(() => lock.release())
}

/** Updates row count and types of a grid after its columns or slices have changed. */
export async function updateRowCounts(
  { grids }: Writers,
  { owner, idlocal }: Fid,
  layout: number,
): Promise<void> {
  const columns = await grids.listColumns(owner, idlocal)
  const lengths = columns.map(({ rows }) => rows)
  const row_count = Math.max(0, ...lengths)
  const ragged = lengths.some((length) => length !== row_count) ? 1 : 0
  const types = encodeTypes(columns.map(({ type }) => type))
  await grids.change(owner, idlocal, { layout, row_count, ragged, types })
}

/** Judges the alerts of a grid on the content of a plan; undefined if the content stays. */
async function judgePlan(
  store: Store,
  { owner, idlocal }: Fid,
  { columns, failedChecks, isPartChecked }: LayoutPlan,
): Promise<Layout['judgements']> {
  if (!columns && failedChecks === undefined) return undefined
  const { judgeChecks, measureAlerts } = await import('../alerts/measure.ts')
  const alerts = await store.read((readers) => readers.alerts.list({ owner, idlocal }))
  // A content that stays has passed its checks again.
  if (!columns) return judgeChecks(alerts, { failedChecks, isPartChecked })
  const table = { columns: [...columns], rows: Math.max(0, ...columns.map(({ rows }) => rows)) }
  return measureAlerts(alerts, { snap: createTableSnapshot(store, table), failedChecks, isPartChecked })
}
