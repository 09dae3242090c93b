// Appends rows to a grid: to its tail if possible, otherwise with a plan.
import { Problem } from '../../../../contract/errors.ts'
import { findMisfit } from '../../input/json-rows.ts'
import type { Append, Appended, AppendStore } from '../../service.ts'
import { applyAppends, MAX_TAIL_BYTES } from './apply.ts'

/**
 * Appends rows to the tail. Large appends, and all that need a plan (`needsPlan`), are written by `plan`
 * instead.
 */
export async function appendRows<T>(
  service: AppendStore,
  append: Append,
  plan: () => Promise<T>,
): Promise<Appended | T> {
  const bytes = append.bodies.reduce((sum, { body }) => sum + body.length, 0)
  if (bytes > MAX_TAIL_BYTES) return plan()
  return (
    (await (service.store.isDry ? appendDirectly(service, append) : service.appends.add(append))) ?? plan()
  )
}

/** Appends in a separate transaction, for dry runs. Returns undefined if the append needs a plan. */
async function appendDirectly({ store }: AppendStore, append: Append): Promise<Appended | undefined> {
  const { outcomes } = await store.write([append.fid.owner], (writers) => applyAppends(writers, [append]))
  const [outcome] = outcomes
  switch (outcome.kind) {
    case 'applied':
      return outcome.result
    case 'plan':
      return undefined
    case 'refused':
      throw outcome.error
    case 'misfit':
      throw await findMisfit(append.bodies, outcome.misfit)
    case 'held':
      throw new Problem('overloaded', 'another change of this grid is under way')
  }
}
