// The one way to change the content of a grid: a plan, committed with all that a write must check.
import type { Fid } from '../../../contract/fid.ts'
import { authorize, checkReplay } from '../../access/access.ts'
import type { Call } from '../../core/call.ts'
import { checkIfMatch } from '../../core/etag.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Writers } from '../../store/store.ts'
import type { Layout } from '../column/layout.ts'
import { changeLayout, type GridStore } from './layout.ts'
import { type Committed, commitPlan, type GridPlan } from './plan.ts'
import { userOf } from './versions.ts'

/** A plan with the result of the request. */
export interface RequestPlan<T> extends GridPlan {
  /** Returns the result, which is stored for retries: it must be JSON. */
  result(done: Committed): T
  /** Writes what else belongs to the change. */
  also?(writers: Writers, file: FileRow): Promise<void>
}

/**
 * Changes a grid as `plan` says, which stores slices and has no other effect. One transaction checks access and
 * If-Match, writes columns, key, checks and version, and records the result for retries. Throws `not_found`,
 * `version_mismatch`, `overloaded` and what `plan` throws.
 */
export function changeGrid<T>(
  service: GridStore,
  call: Call,
  fid: Fid,
  plan: (layout: Layout) => Promise<RequestPlan<T>>,
): Promise<T> {
  const write = call.writeKey(fid.owner)
  return changeLayout(service, fid, plan, async (writers, planned, layout) => {
    const there = await writers.files.get(fid.owner, fid.idlocal)
    const apply = async (): Promise<T> => {
      const { file } = await authorize(writers, there, call, { access: 'write', filetype: 'grid' })
      checkIfMatch(file, call.ifMatch)
      const done = await commitPlan(writers, file, layout, planned, userOf(call))
      await planned.also?.(writers, file)
      return planned.result(done)
    }
    return writers.idempotency.runOnce(write, apply, {
      onReplay: () => checkReplay(writers, there, write, call),
    })
  })
}
