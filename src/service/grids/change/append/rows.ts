// Appends rows to a grid: to its tail if possible, otherwise with a plan.
import { Problem } from '../../../../contract/errors.ts'
import { misfitIn } from '../../given/json-rows.ts'
import type { Append, Appended, AppendStore } from '../../service.ts'
import { appendTo, MAX_TAIL_BYTES } from './apply.ts'

/**
 * Appends rows. Small appends go to the tail; large ones, and those to grids with a key, checks or uneven columns, use
 * `plan`, which does the whole write.
 */
export async function appendRows<T>(
  service: AppendStore,
  append: Append,
  plan: () => Promise<T>,
): Promise<Appended | T> {
  const bytes = append.bodies.reduce((sum, { body }) => sum + body.length, 0)
  if (bytes > MAX_TAIL_BYTES) return plan()
  return (await (service.store.isDry ? appendAlone(service, append) : service.appends.add(append))) ?? plan()
}

/** Appends without the queue, whose transactions are shared by several requests. Returns undefined if a plan is needed. */
async function appendAlone({ store }: AppendStore, append: Append): Promise<Appended | undefined> {
  const { outcomes } = await store.write([append.fid.owner], (writers) => appendTo(writers, [append]))
  const [outcome] = outcomes
  switch (outcome.kind) {
    case 'applied':
      return outcome.result
    case 'plan':
      return undefined
    case 'refused':
      throw outcome.error
    case 'misfit':
      throw await misfitIn(append.bodies, outcome.misfit)
    case 'held':
      throw new Problem('overloaded', 'another change of this grid is under way')
  }
}
