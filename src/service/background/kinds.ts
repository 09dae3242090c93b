import { flushTail } from '../grids/change/flush.ts'
import { type JobKind, SETTLED_AFTER, SWEEP_EVERY } from '../store/aggregates/jobs.ts'
import type { Store } from '../store/store.ts'
import type { Held, JobWork } from './jobs.ts'

/** What each kind of job does. A kind without an entry does not compile. */
export function jobKinds(store: Store): Record<JobKind, JobWork> {
  return {
    tree: tellAll,
    dates: settle,
    fold: (held) => fold(store, held),
    sweep: (held) => sweep(store, held),
  }
}

/** How long a job with many steps waits between two, in ms. */
const STEP_PAUSE_MS = 10

/** Tells the contents of folders whether they are in the trash, or removes them; some in each transaction. */
async function tellAll(held: Held): Promise<number | undefined> {
  const { job } = held
  const some = (): Promise<boolean> =>
    held.write(async ({ folders, jobs }) => {
      const isDone = await folders.tellSome(job.owner)
      if (isDone) await jobs.end(job)
      return isDone
    })
  while (!(await some())) {
    if (held.isStopping) return Date.now()
    // Whoever waits for the lock of the owner gets it now: a lock is given to who asks first, not to who waits longest.
    await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS))
  }
  return undefined
}

/** Removes what has expired and what nothing refers to. */
async function sweep(store: Store, held: Held): Promise<number> {
  await store.sweep(undefined, () => held.write(async () => {}))
  return Date.now() + SWEEP_EVERY
}

/** Brings the dates of grids that rows were appended to into indexes, once they get no more. */
async function settle(held: Held): Promise<number | undefined> {
  const { job } = held
  return held.write(async ({ files, jobs }) => {
    const now = Date.now()
    if (await files.settle(job.owner, now - SETTLED_AFTER)) return now + SETTLED_AFTER
    await jobs.end(job)
    return undefined
  })
}

/** Folds the tail of a grid into slices. */
async function fold(store: Store, { job, write }: Held): Promise<undefined> {
  await flushTail(store, { owner: job.owner, idlocal: Number(job.key) }, write)
  await write(({ jobs }) => jobs.end(job))
}
