import type { ColumnRow, Epoch, SliceRef } from '../../store/aggregates/grids.ts'
import type { Writers } from '../../store/store.ts'
import type { NewColumn } from '../column/layout.ts'
import { addColumns } from './create.ts'
import { recordLost } from './lost.ts'

/** What a grid has before it is replaced. */
interface Present {
  columns: readonly ColumnRow[]
  slices: ReadonlyMap<string, readonly SliceRef[]>
}

/**
 * Makes `wanted` the columns of a grid. A column with the uid of one that the grid has stays; slices that are the same
 * stay as they are. Call it from `rewriteLayout`, which counts rows.
 */
export async function replaceAll(
  writers: Writers,
  of: Epoch,
  { columns, slices }: Present,
  wanted: readonly NewColumn[],
): Promise<void> {
  const { grids } = writers
  const { owner, idlocal } = of
  const stays = new Set(wanted.map(({ uid }) => uid))
  const gone = columns.filter(({ uid }) => !stays.has(uid))
  await grids.removeColumns(
    of,
    gone.map(({ uid }) => uid),
  )
  const names = new Set(wanted.map(({ name }) => name))
  await recordLost(
    writers,
    of,
    gone.filter(({ name }) => !names.has(name)),
  )
  const before = new Map(columns.map((column) => [column.uid, column]))
  const taken = new Set(before.keys())
  const added: { position: number; column: NewColumn }[] = []
  for (const [position, column] of wanted.entries()) {
    const { uid, name, type, rows } = column
    const old = uid === undefined ? undefined : before.get(uid)
    if (uid === undefined || !old) {
      added.push({ position, column })
      continue
    }
    await grids.replaceSlices(of, uid, slices.get(uid) ?? [], column.slices)
    const isMoved = old.name !== name || old.position !== position
    if (isMoved || old.type !== type || old.rows !== rows)
      await grids.changeColumn(of, uid, { ...(isMoved && { name, position }), type, rows })
  }
  // Runs of new columns are added together.
  for (let k = 0; k < added.length; ) {
    let end = k + 1
    while (end < added.length && added[end].position === added[end - 1].position + 1) end++
    const run = added.slice(k, end).map(({ column }) => column)
    await addColumns(writers, { owner, idlocal, epoch: of.epoch }, run, taken, added[k].position)
    k = end
  }
}
