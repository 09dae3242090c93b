import type { Fid } from '../../../../contract/fid.ts'
import { authorize, checkReplay, type Principal } from '../../../access/access.ts'
import { checkIfMatch } from '../../../core/etag.ts'
import type { ColumnRow, SliceRef } from '../../../store/aggregates/grids.ts'
import type { WriteKey } from '../../../store/aggregates/idempotency.ts'
import type { ColumnType } from '../../../store/schema/schema.ts'
import type { Writers } from '../../../store/store.ts'
import type { Layout } from '../../column/layout.ts'
import { after as placed } from '../compact.ts'
import { appendVersion, beginVersion, userOf } from '../versions.ts'

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
  { slices, grid, columns: before }: Layout,
  columns: readonly LongerColumn[],
  result: (version: number) => T,
): Promise<T> {
  const { owner, idlocal } = fid
  const file = await writers.files.get(owner, idlocal)
  return writers.idempotency.once(
    write,
    async () => {
      const found = await authorize(writers, file, principal, { access: 'write', filetype: 'grid' })
      checkIfMatch(found.file, ifMatch)
      const added = columns.flatMap(({ column: { uid }, slices: more }) => placed(slices.get(uid), uid, more))
      // Columns that are filled up before change what was there.
      const isChange = grid.ragged === 1
      await writers.grids.addSlices({ owner, idlocal, epoch: grid.epoch + (isChange ? 1 : 0) }, added)
      const changes = columns.map(({ column: { uid }, rows, type }) => ({ uid, fields: { rows, type } }))
      await writers.grids.changeColumns(owner, idlocal, changes)
      const by = userOf(principal)
      const after = { before, after: columns.map(({ column, rows, type }) => ({ ...column, rows, type })) }
      return result(
        isChange
          ? await beginVersion(writers, { file: found.file, grid }, { operation: 'append', by }, after)
          : await appendVersion(writers, { file: found.file, grid }, by),
      )
    },
    { onReplay: () => checkReplay(writers, file, write, principal) },
  )
}
