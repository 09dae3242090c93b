// Flushes the tail of a grid, its write buffer of appended rows, into slices.
import type { Fid } from '../../../contract/fid.ts'
import { isLocked } from '../../store/aggregates/grids.ts'
import { mergeTypes } from '../../store/schema/column-types.ts'
import type { Store, Writers } from '../../store/store.ts'
import { transposeRowsInTurns } from '../column/column-json.ts'
import { isLayoutUnchanged, loadLayout } from '../column/layout.ts'
import { appendToColumns } from './append-values.ts'

/**
 * Moves the tail into slices; the content of the grid stays the same. Does nothing if another change holds
 * the layout lock, or if the columns change meanwhile: a later flush will retry.
 */
export async function flushTail(
  store: Store,
  fid: Fid,
  /** Runs the transaction that changes the grid. */
  write: <T>(work: (writers: Writers) => Promise<T>) => Promise<T> = (work) => store.write([fid.owner], work),
  /** Id of the layout lock, if the caller holds it. */
  by?: string,
): Promise<void> {
  const { owner, idlocal } = fid
  const { layout, tail } = await store.read(async (readers) => ({
    layout: await loadLayout(readers, fid).catch(() => undefined),
    tail: await readers.grids.loadTail(owner, idlocal),
  }))
  if (!layout || tail.length === 0 || isLocked(layout.grid, by)) return
  const { columns, grid, slices } = layout
  const rows = tail.reduce((sum, body) => sum + body.rows, 0)
  const bytes = tail.reduce((sum, body) => sum + body.body.length, 0)
  const values = await transposeRowsInTurns(tail, columns.length)
  const before = columns.map(({ uid }) => slices.get(uid) ?? [])
  const after = await appendToColumns(
    store.blobs,
    owner,
    before.map((list, k) => ({ slices: list, text: values[k].text })),
    rows,
  )
  await write(async (writers) => {
    const current = await writers.grids.get(owner, idlocal).catch(() => undefined)
    if (!current || !isLayoutUnchanged(current, grid, by)) return
    await writers.grids.removeTail(owner, idlocal, tail[tail.length - 1].seq)
    await writers.grids.replaceSlices(
      { owner, idlocal, epoch: current.epoch },
      columns.map(({ uid }, k) => ({ uid, before: before[k], after: after[k] })),
    )
    const changes = columns.map(({ uid, type, rows: length }, k) => ({
      uid,
      fields: { rows: length + rows, type: mergeTypes(type, values[k].type) },
    }))
    await writers.grids.changeColumns(owner, idlocal, changes)
    await writers.grids.change(owner, idlocal, {
      layout: current.layout + 1,
      tail_rows: current.tail_rows - rows,
      tail_bytes: current.tail_bytes - bytes,
    })
  })
}
