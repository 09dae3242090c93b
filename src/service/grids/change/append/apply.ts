import { Problem } from '../../../../contract/errors.ts'
import { authorize, checkReplay } from '../../../access/access.ts'
import { checkIfMatch } from '../../../core/etag.ts'
import { isHeld } from '../../../store/aggregates/grids.ts'
import { kept, otherRequest, sameRequest, type WriteKey } from '../../../store/aggregates/idempotency.ts'
import { SETTLED_AFTER } from '../../../store/aggregates/jobs.ts'
import { combineTypes, decodeTypes, encodeTypes, fits } from '../../../store/schema/column-types.ts'
import type { Writers } from '../../../store/store.ts'
import { type RowText, tailBodies } from '../../column/tail.ts'
import type { Append, Appended } from '../../service.ts'
import { addAppendVersion, type Before, continuesVersion, userOf } from '../versions.ts'
import {
  columnsChanged,
  GridHeld,
  HasRules,
  hasRules,
  Misfit,
  moved,
  UnequalColumns,
  wrongLength,
} from './request.ts'

/** The tail is folded into slices when it exceeds either limit. */
const FOLD_ROWS = 4096
export const FOLD_BYTES = 256 * 1024

export interface Applied {
  /** One for each append, in order. */
  outcomes: Outcome[]
  /** Size of the tail afterwards, or one above `FOLD_BYTES` if it has many rows. 0 if nothing was added. */
  tailBytes: number
}

export type Outcome = { result: Appended; error?: undefined } | { result?: undefined; error: unknown }

/** Applies appends to one grid, in order of arrival. One that fails does not stop the others. `isPadded`: see `appendRows`. */
export async function appendTo(
  writers: Writers,
  list: readonly Append[],
  isPadded = false,
): Promise<Applied> {
  const { owner, idlocal } = list[0].fid
  const file = await writers.files.get(owner, idlocal)
  const outcomes: Outcome[] = []
  const known = await writers.idempotency.findAll(list.map(({ write }) => write))
  const grid = file?.filetype === 'grid' ? await writers.grids.get(owner, idlocal) : undefined
  let types = decodeTypes(grid?.types ?? '')
  const now = Date.now()
  /** File and grid, as they are after the appends so far. */
  let state: Before | undefined = file && grid && { file, grid }
  const width = types.length
  const bodies: RowText[] = []
  const records: { write: WriteKey; result: Appended }[] = []
  let added = 0
  let addedBytes = 0
  for (const [k, append] of list.entries()) {
    try {
      const before = known[k] ?? sameKey(records, append.write)
      if (before instanceof Problem) throw before
      if (before) {
        await checkReplay(writers, file, append.write, append.principal)
        outcomes.push({ result: before as Appended })
        continue
      }
      await authorize(writers, file, append.principal, { access: 'write', filetype: 'grid' })
      checkIfMatch({ version: file!.version + (added > 0 ? 1 : 0) }, append.ifMatch)
      if (isHeld(grid!)) throw new GridHeld()
      if (hasRules(grid!)) throw new HasRules()
      if (append.width !== width || width === 0) throw wrongLength(append, width)
      if (append.columns && moved(await writers.grids.columns(owner, idlocal), append.columns))
        throw columnsChanged()
      if (grid!.ragged && !isPadded) throw new UnequalColumns()
      const given = decodeTypes(append.types)
      if (!append.mayChangeTypes) {
        const misfit = given.findIndex((type, column) => !fits(type, types[column]))
        if (misfit >= 0) {
          const columns = await writers.grids.columns(owner, idlocal)
          throw new Misfit(misfit, columns[misfit].name, types[misfit])
        }
      }
      const count = append.bodies.reduce((sum, { rows }) => sum + rows, 0)
      const bytes = append.bodies.reduce((sum, { body }) => sum + body.length, 0)
      await writers.usage.grow(owner, { rows: count, bytes }, { rows: added, bytes: addedBytes })
      const by = userOf(append.principal)
      const { file: earlier, grid: present } = state!
      const { message } = append
      const version = await versionOf(writers, state!, by, now, message)
      if (version > earlier.content_version)
        state = {
          file: { ...earlier, content_version: version },
          grid: { ...present, appended_by: message === undefined ? by : null, appended_since: now },
        }
      types = combineTypes(types, given)
      for (const body of append.bodies) bodies.push(body)
      addedBytes += bytes
      added += count
      const result = { rows_added: count, row_count: grid!.row_count + added, version }
      state = { ...state!, grid: { ...state!.grid, row_count: result.row_count, types: encodeTypes(types) } }
      records.push({ write: append.write, result })
      outcomes.push({ result })
    } catch (error) {
      // What the database could not do is nothing that one append is refused for: the transaction is repeated, or fails.
      if (!isRefusal(error)) throw error
      outcomes.push({ error })
    }
  }
  if (added === 0) return { outcomes, tailBytes: 0 }
  let { tail_seq, tail_bytes } = grid!
  for (const { rows, body } of tailBodies(bodies)) {
    await writers.grids.addTail({ owner, idlocal, seq: ++tail_seq, rows, body })
    tail_bytes += body.length
  }
  await writers.grids.appended(owner, idlocal, {
    row_count: grid!.row_count + added,
    tail_rows: grid!.tail_rows + added,
    tail_bytes,
    tail_seq,
    types: encodeTypes(types),
    appended_by: state!.grid.appended_by,
    appended_since: state!.grid.appended_since,
  })
  const { content_version } = state!.file
  const isUnsettled = await writers.files.appended(
    file!,
    content_version > file!.content_version ? { content_version } : {},
  )
  if (isUnsettled) await writers.jobs.add(owner, 'dates', '', now + SETTLED_AFTER)
  await writers.idempotency.record(records)
  const tailBytes = grid!.tail_rows + added > FOLD_ROWS ? Math.max(tail_bytes, FOLD_BYTES + 1) : tail_bytes
  if (tailBytes > FOLD_BYTES) await writers.jobs.add(owner, 'fold', String(idlocal))
  return { outcomes, tailBytes }
}

function isRefusal(error: unknown): boolean {
  return [Problem, GridHeld, HasRules, UnequalColumns, Misfit].some((kind) => error instanceof kind)
}

/** The version that appended rows belong to, which begins with them if they continue no other. */
async function versionOf(
  writers: Writers,
  before: Before,
  by: string | null,
  now: number,
  message: string | undefined,
): Promise<number> {
  if (message === undefined && continuesVersion(before.grid, by, now)) return before.file.content_version
  return addAppendVersion(writers, before, by, now, message)
}

/** The result of an earlier append in the same group with the same idempotency key. */
function sameKey(
  records: { write: WriteKey; result: Appended }[],
  write: WriteKey,
): Appended | Problem | undefined {
  if (write.key === undefined) return undefined
  const before = records.find((r) => r.write.key === write.key && r.write.caller === write.caller)
  return (
    before &&
    (sameRequest(write, { ...before.write, fingerprint: kept(before.write) })
      ? before.result
      : otherRequest())
  )
}
