// Handlers of each kind of background job.
import { flushTail } from '../grids/change/flush.ts'
import { type JobKind, SETTLED_AFTER, SWEEP_EVERY } from '../store/aggregates/jobs.ts'
import type { Store } from '../store/store.ts'
import type { Held, JobWork } from './jobs.ts'

/** Returns the handler of each kind of job. A missing kind is a compile error. */
export function jobKinds(store: Store): Record<JobKind, JobWork> {
  return {
    tree: tellAll,
    dates: settle,
    fold: (held) => fold(store, held),
    sweep: (held) => sweep(store, held),
  }
}

/** Pause between two steps of a long job, in ms. */
const STEP_PAUSE_MS = 10

/** Copies the trash state of folders to their content, or deletes the content; a batch per transaction. */
async function tellAll(leased: Held): Promise<number | undefined> {
  const { job } = leased
  const updateBatch = (): Promise<boolean> =>
    leased.write(async ({ folders, jobs }) => {
      const isDone = await folders.tellSome(job.owner)
      if (isDone) await jobs.end(job)
      return isDone
    })
  while (!(await updateBatch())) {
    if (leased.isStopping) return Date.now()
    // Let requests take the owner's lock now: it is granted to the first that asks, not the one that waits
    // longest.
    await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS))
  }
  return undefined
}

/** Deletes expired and unreferenced data. Returns the time of the next sweep. */
async function sweep(store: Store, leased: Held): Promise<number> {
  await store.sweep(undefined, () => leased.write(async () => {}))
  return Date.now() + SWEEP_EVERY
}

/** Indexes the modification dates of grids that have received no rows for a while. */
async function settle(leased: Held): Promise<number | undefined> {
  const { job } = leased
  return leased.write(async ({ files, jobs }) => {
    const now = Date.now()
    if (await files.settle(job.owner, now - SETTLED_AFTER)) return now + SETTLED_AFTER
    await jobs.end(job)
    return undefined
  })
}

/** Flushes the tail of a grid to slices. */
async function fold(store: Store, { job, write }: Held): Promise<undefined> {
  await flushTail(store, { owner: job.owner, idlocal: Number(job.key) }, write)
  await write(({ jobs }) => jobs.end(job))
}
