import type { Fid } from '../../../contract/fid.ts'
import { authorize, checkReplay, type Principal } from '../../access/access.ts'
import { checkIfMatch } from '../../core/etag.ts'
import type { ColumnRow, SliceRef } from '../../store/grids.ts'
import type { WriteKey } from '../../store/idempotency.ts'
import type { ColumnType } from '../../store/schema.ts'
import type { Writers } from '../../store/store.ts'
import { after, type Layout } from '../compact.ts'

/** An append: grid, principal, idempotency key and expected version. */
export interface Appending {
  fid: Fid
  principal: Principal
  write: WriteKey
  ifMatch: string | undefined
}

/** A column with the slices to append, and its length and type afterwards. */
export interface LongerColumn {
  column: ColumnRow
  slices: SliceRef[]
  rows: number
  type: ColumnType
}

/** Adds stored slices to a grid, once per idempotency key. Call it from `rewriteLayout`, which counts rows. */
export async function commitSlices<T>(
  writers: Writers,
  { fid, principal, write, ifMatch }: Appending,
  { slices }: Layout,
  columns: readonly LongerColumn[],
  result: T,
): Promise<T> {
  const { owner, idlocal } = fid
  const file = await writers.files.get(owner, idlocal)
  return writers.idempotency.once(
    write,
    async () => {
      const found = await authorize(writers, file, principal, { access: 'write', filetype: 'grid' })
      checkIfMatch(found.file, ifMatch)
      const added = columns.flatMap(({ column: { uid }, slices: more }) => after(slices.get(uid), uid, more))
      await writers.grids.addSlices(owner, idlocal, added)
      const changes = columns.map(({ column: { uid }, rows, type }) => ({ uid, fields: { rows, type } }))
      await writers.grids.changeColumns(owner, idlocal, changes)
      await writers.files.change(owner, idlocal)
      return result
    },
    { onReplay: () => checkReplay(writers, file, write, principal) },
  )
}
