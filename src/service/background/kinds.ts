import { compact } from '../grids/compact.ts'
import { type JobKind, SWEEP_EVERY } from '../store/jobs.ts'
import type { Store } from '../store/store.ts'
import type { Held, JobWork } from './jobs.ts'

/** What each kind of job does. A kind without an entry does not compile. */
export function jobKinds(store: Store): Record<JobKind, JobWork> {
  return {
    tree: tellAll,
    fold: (held) => fold(store, held),
    sweep: (held) => sweep(store, held),
  }
}

/** Tells the contents of folders whether they are in the trash, or removes them; some in each transaction. */
async function tellAll(held: Held): Promise<number | undefined> {
  const { job } = held
  const some = (): Promise<boolean> =>
    held.write(async ({ folders, jobs }) => {
      const isDone = await folders.tellSome(job.owner)
      if (isDone) await jobs.end(job)
      return isDone
    })
  while (!(await some())) if (held.isStopping) return Date.now()
  return undefined
}

/** Removes what has expired and what nothing refers to. */
async function sweep(store: Store, held: Held): Promise<number> {
  await store.sweep(undefined, () => held.write(async () => {}))
  return Date.now() + SWEEP_EVERY
}

/** Folds the tail of a grid into slices. */
async function fold(store: Store, { job, write }: Held): Promise<undefined> {
  await compact(store, { owner: job.owner, idlocal: Number(job.key) }, write)
  await write(({ jobs }) => jobs.end(job))
}
