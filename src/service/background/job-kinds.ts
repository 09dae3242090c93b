// Handlers of each kind of background job.
import { type JobKind, SETTLE_DELAY_MS, SWEEP_INTERVAL_MS } from '../store/aggregates/jobs.ts'
import type { Store } from '../store/store.ts'
import type { JobWork, LeasedJob } from './jobs.ts'

/** Returns the handler of each kind of job. A missing kind is a compile error. */
export function createJobHandlers(store: Store): Record<JobKind, JobWork> {
  return {
    tree: updateDescendants,
    dates: indexDates,
    fold: (held) => fold(store, held),
    sweep: (held) => sweep(store, held),
  }
}

/** Pause between two steps of a long job, in ms. */
const STEP_PAUSE_MS = 10

/** Copies the trash state of folders to their content, or deletes the content; a batch per transaction. */
async function updateDescendants(leased: LeasedJob): Promise<number | undefined> {
  const { job } = leased
  const updateBatch = (): Promise<boolean> =>
    leased.write(async ({ folders, jobs }) => {
      const isDone = await folders.continuePropagation(job.owner)
      if (isDone) await jobs.deleteFinished(job)
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
async function sweep(store: Store, leased: LeasedJob): Promise<number> {
  await store.sweep(undefined, () => leased.write(async () => {}))
  return Date.now() + SWEEP_INTERVAL_MS
}

/** Indexes the modification dates of grids that have received no rows for a while. */
async function indexDates(leased: LeasedJob): Promise<number | undefined> {
  const { job } = leased
  return leased.write(async ({ files, jobs }) => {
    const now = Date.now()
    if (await files.settleDates(job.owner, now - SETTLE_DELAY_MS)) return now + SETTLE_DELAY_MS
    await jobs.deleteFinished(job)
    return undefined
  })
}

/** Flushes the tail of a grid to slices. */
async function fold(store: Store, { job, write }: LeasedJob): Promise<undefined> {
  const { flushTail } = await import('../grids/change/flush.ts')
  await flushTail(store, { owner: job.owner, idlocal: Number(job.key) }, write)
  await write(({ jobs }) => jobs.deleteFinished(job))
}
