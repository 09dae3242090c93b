// Moves the tail of a grid (rows that were appended one by one) into slices.
import type { Fid } from '../../../contract/fid.ts'
import { isLocked } from '../../store/aggregates/grids.ts'
import { mergeTypes } from '../../store/schema/column-types.ts'
import type { Store, Writers } from '../../store/store.ts'
import { hasLayout, readLayout } from '../column/layout.ts'
import { columnsInTurns } from '../column/values.ts'
import { appendToColumns } from './merge.ts'

/**
 * Moves the tail into slices; the content of the grid stays the same. Does nothing if another change holds the grid, or
 * if its columns change meanwhile: the tail is then left to the next flush.
 */
export async function flushTail(
  store: Store,
  fid: Fid,
  /** The transaction that changes the grid. */
  write: <T>(work: (writers: Writers) => Promise<T>) => Promise<T> = (work) => store.write([fid.owner], work),
  /** The change that holds the grid, if it flushes the tail. */
  by?: string,
): Promise<void> {
  const { owner, idlocal } = fid
  const { layout, tail } = await store.read(async (readers) => ({
    layout: await readLayout(readers, fid).catch(() => undefined),
    tail: await readers.grids.loadTail(owner, idlocal),
  }))
  if (!layout || tail.length === 0 || isLocked(layout.grid, by)) return
  const { columns, grid, slices } = layout
  const rows = tail.reduce((sum, one) => sum + one.rows, 0)
  const bytes = tail.reduce((sum, one) => sum + one.body.length, 0)
  const values = await columnsInTurns(
    tail.map(({ body }) => body),
    columns.length,
  )
  const before = columns.map(({ uid }) => slices.get(uid) ?? [])
  const after = await appendToColumns(
    store.blobs,
    owner,
    before.map((list, k) => ({ slices: list, text: values[k].text })),
    rows,
  )
  await write(async (writers) => {
    const now = await writers.grids.get(owner, idlocal).catch(() => undefined)
    if (!now || !hasLayout(now, grid, by)) return
    await writers.grids.removeTail(owner, idlocal, tail[tail.length - 1].seq)
    await writers.grids.replaceSlices(
      { owner, idlocal, epoch: now.epoch },
      columns.map(({ uid }, k) => ({ uid, before: before[k], after: after[k] })),
    )
    const changes = columns.map(({ uid, type, rows: length }, k) => ({
      uid,
      fields: { rows: length + rows, type: mergeTypes(type, values[k].type) },
    }))
    await writers.grids.changeColumns(owner, idlocal, changes)
    await writers.grids.change(owner, idlocal, {
      layout: now.layout + 1,
      tail_rows: now.tail_rows - rows,
      tail_bytes: now.tail_bytes - bytes,
    })
  })
}
