// Changes the content of a grid: commits a plan together with its access check, version and retry record.
import { Problem, undefinedIfNotFound } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { authorize, checkReplay } from '../../access/access.ts'
import type { Call } from '../../core/call.ts'
import { checkIfMatch } from '../../core/etag.ts'
import { FROM_QUERY } from '../../store/aggregates/derivations.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Writers } from '../../store/store.ts'
import type { Layout } from '../column/layout.ts'
import { changeLayout, type GridStore } from './layout.ts'
import { type Committed, commitPlan, type GridPlan } from './plan.ts'
import { assertNotDerived, usernameOf } from './versions.ts'

/** A plan, and the result of its request. */
export interface RequestPlan<T> extends GridPlan {
  /** Returns the result. It must be JSON, since it is stored for retries. */
  createResult(done: Committed): T
  /** Writes further rows in the same transaction. */
  writeMore?(writers: Writers, file: FileRow): Promise<void>
}

/**
 * Changes a grid. `plan` only stores slices. One transaction then checks access and If-Match, writes columns,
 * key, checks and version, and records the result for retries. Throws `not_found`, `version_mismatch` and
 * `overloaded`.
 */
export function changeGrid<T>(
  service: GridStore,
  call: Call,
  fid: Fid,
  plan: (layout: Layout) => Promise<RequestPlan<T>>,
): Promise<T> {
  const write = call.writeKey(fid.owner)
  const changed = changeLayout(service, fid, plan, async (writers, prepared, layout) => {
    const there = await writers.files.get(fid.owner, fid.idlocal)
    const apply = async (): Promise<T> => {
      const { file } = await authorize(writers, there, call, { access: 'write', filetype: 'grid' })
      checkIfMatch(file, call.ifMatch)
      const committed = await commitPlan(writers, file, layout, prepared, usernameOf(call))
      await prepared.writeMore?.(writers, file)
      return prepared.createResult(committed)
    }
    return writers.idempotency.runOnce(write, apply, {
      onReplay: () => checkReplay(writers, there, write, call),
    })
  })
  return changed.catch(async (error) => {
    // A plan fails if this request was applied before: a column that it removes is gone.
    const replay = await service.store
      .read(({ idempotency }) => idempotency.findResult<T>(write))
      .catch(() => undefined)
    if (replay) {
      await service.store.read(async (readers) =>
        checkReplay(readers, await readers.files.get(fid.owner, fid.idlocal), write, call),
      )
      return replay.result
    }
    // Checks that the content does not pass are no data.
    const isOfData = call.operation !== 'checks.set'
    if (isOfData && error instanceof Problem && error.code === 'checks_failed') {
      const file = await service.store.read(({ files }) => files.get(fid.owner, fid.idlocal))
      // Other data would be refused as well. Refreshes from a URL come here, too.
      if (file?.derived === FROM_QUERY) assertNotDerived(file)
      await tellRefusal(service, fid, error)
    }
    throw error
  })
}

/** Tells the alerts of a grid that checks have refused a write. */
async function tellRefusal(
  { store }: GridStore,
  { owner, idlocal }: Fid,
  { message }: Problem,
): Promise<void> {
  const grid = await undefinedIfNotFound(store.read(({ grids }) => grids.get(owner, idlocal)))
  if (grid?.has_alerts !== 1) return
  const { judgeRefusal } = await import('../alerts/judge.ts')
  // Its name may be that of another file.
  const why = message.replace(/^.*? fails (?=\d+ checks?:)/s, 'a write that was refused fails ')
  await store.write([owner], async (writers) => {
    const file = await writers.files.get(owner, idlocal)
    if (file) await judgeRefusal(writers, file, why)
  })
}
