// Changes the columns or slices of a grid while appends to it wait.
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { encodeTypes } from '../../store/schema/column-types.ts'
import type { Store, Writers } from '../../store/store.ts'
import { hasLayout, type Layout, readLayout } from '../column/layout.ts'
import { flushTail } from './flush.ts'
import { LayoutLock } from './layout-lock.ts'

const MAX_TRIES = 10

/** The store, and the way to make appends to a grid wait while its layout changes. */
export interface GridStore {
  store: Store
  appends: { hold<T>(fid: Fid, work: () => Promise<T>): Promise<T> }
}

/**
 * Changes columns or slices of a grid. `prepare` stores blobs; `commit` adds the rows that refer to them, in one
 * transaction. Meanwhile appends wait and the tail is empty. Tries again if the layout has changed in between; after 10
 * tries, throws `overloaded`. The result of `commit` must be JSON.
 */
export async function changeLayout<P, T>(
  { store, appends }: GridStore,
  fid: Fid,
  prepare: (layout: Layout) => Promise<P>,
  commit: (writers: Writers, prepared: P, layout: Layout) => Promise<T>,
): Promise<T> {
  const lock = new LayoutLock(store, fid)
  const attempt = async (): Promise<{ result: T } | undefined> => {
    // A flush changes nothing that users see: it lasts in any case.
    await flushTail(store.durableStore, fid, undefined, lock.by)
    const layout = await store.read((readers) => readLayout(readers, fid))
    if (layout.grid.tail_rows > 0) return undefined
    const prepared = await prepare(layout)
    return store.write([fid.owner], async (writers) => {
      const now = await writers.grids.get(fid.owner, fid.idlocal).catch(() => undefined)
      if (!now || !hasLayout(now, layout.grid, lock.by) || now.tail_rows > 0) return undefined
      const result = await commit(writers, prepared, { ...layout, grid: now })
      await recordColumns(writers, fid, now.layout + 1)
      return { result }
    })
  }
  return appends
    .hold(fid, async () => {
      for (let k = 0; k < MAX_TRIES; k++) {
        // Appends of other servers came between: make them wait.
        if (k > 0) await lock.acquire()
        const done = await attempt()
        if (done) return done.result
      }
      throw new Problem('overloaded', 'too many changes to this grid at once')
    })
    .finally(() => lock.release())
}

/** Records the rows and types of a grid whose columns or slices have changed. */
export async function recordColumns(
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
