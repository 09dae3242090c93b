import { Problem } from '../../../../contract/errors.ts'
import { SliceEnds } from '../../../../ingest/index.ts'
import { breathe, turnIsLong } from '../../../../json/index.ts'
import { authorize } from '../../../access/access.ts'
import type { SliceRef } from '../../../store/aggregates/grids.ts'
import { storeSlices } from '../../../store/aggregates/texts.ts'
import type { Blobs } from '../../../store/objects/blobs.ts'
import { decodeTypes, mergeTypes } from '../../../store/schema/column-types.ts'
import type { RowText } from '../../column/tail.ts'
import { addRows, newBuilders } from '../../column/values.ts'
import type { Append, Appended, AppendStore } from '../../service.ts'
import { padShortColumns, rewriteLayout } from '../compact.ts'
import { userOf } from '../versions.ts'
import { appendTo, FOLD_BYTES } from './apply.ts'
import {
  checkTypes,
  columnsChanged,
  GridHeld,
  HasRules,
  hasRules,
  Misfit,
  misfitIn,
  moved,
  UnequalColumns,
  wrongLength,
} from './request.ts'
import { commitSlices } from './slices.ts'

/**
 * Appends rows. Pads columns that are shorter than others first. Small appends go into the tail; large ones
 * are stored as slices directly.
 */
export async function appendRows(service: AppendStore, append: Append): Promise<Appended> {
  const bytes = append.bodies.reduce((sum, { body }) => sum + body.length, 0)
  const isDry = service.store.lasting !== service.store
  const once = (isPadded = false): Promise<Appended> =>
    bytes > FOLD_BYTES
      ? appendLarge(service, append, isPadded)
      : isDry
        ? appendAlone(service, append, isPadded)
        : service.appends.add(append)
  try {
    return await once()
  } catch (error) {
    if (error instanceof Misfit) throw await misfitIn(append, error)
    if (!(error instanceof UnequalColumns)) throw error
    // Padding changes the grid: only for a caller who may append to it, whatever the rows come to.
    const { owner, idlocal } = append.fid
    await service.store.read(async (readers) =>
      authorize(readers, await readers.files.get(owner, idlocal), append.principal, {
        access: 'write',
        filetype: 'grid',
      }),
    )
    await padShortColumns(service, append.fid, userOf(append.principal))
    // Without commit, the columns are as they were.
    return once(isDry)
  }
}

/** Appends without the queue, whose transactions are those of several requests. */
async function appendAlone({ store }: AppendStore, append: Append, isPadded: boolean): Promise<Appended> {
  const { outcomes } = await store.write([append.fid.owner], (writers) =>
    appendTo(writers, [append], isPadded),
  )
  const [{ result, error }] = outcomes
  if (error instanceof GridHeld) throw new Problem('overloaded', 'another change of this grid is under way')
  if (!result) throw error
  return result
}

function appendLarge(service: AppendStore, append: Append, isPadded: boolean): Promise<Appended> {
  const { bodies, width } = append
  const added = bodies.reduce((sum, { rows }) => sum + rows, 0)
  return rewriteLayout(
    service,
    append.fid,
    async ({ columns, grid }) => {
      if (hasRules(grid)) throw new HasRules()
      if (width !== columns.length || width === 0) throw wrongLength(append, columns.length)
      if (append.columns && moved(columns, append.columns)) throw columnsChanged()
      if (grid.ragged && !isPadded) throw new UnequalColumns()
      const given = decodeTypes(append.types)
      if (!append.mayChangeTypes) checkTypes(given, columns)
      const slices = await storeRows(service.store.blobs, append.fid.owner, bodies, width)
      return columns.map((column, k) => ({
        column,
        slices: slices[k],
        rows: column.rows + added,
        type: mergeTypes(column.type, given[k]),
      }))
    },
    (writers, longer, layout) =>
      commitSlices(writers, append, layout, longer, (version) => ({
        rows_added: added,
        row_count: layout.grid.row_count + added,
        version,
      })),
  )
}

/** Stores rows as slices of their columns. */
async function storeRows(
  blobs: Blobs,
  owner: string,
  bodies: readonly RowText[],
  width: number,
): Promise<SliceRef[][]> {
  const builders = newBuilders(width)
  const slices: SliceRef[][] = builders.map(() => [])
  const ends = new SliceEnds()
  const store = async (ended: boolean): Promise<void> => {
    const refs = await storeSlices(
      blobs,
      owner,
      builders.map((builder) => ({ ...builder.take(), ended })),
    )
    for (const [k, ref] of refs.entries()) slices[k].push(ref)
  }
  for (const { body } of bodies) {
    for (let at = 0; at < body.length; ) {
      const { end, hasEnded } = addRows(builders, body, at, ends)
      at = end
      if (hasEnded) await store(true)
    }
    if (turnIsLong()) await breathe()
  }
  if (builders[0].rows > 0) await store(false)
  return slices
}
