// Handlers of each kind of background job.

import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import type { DeliveryService } from '../alerts/deliver.ts'
import type { ItemService } from '../boards/refer-to-items.ts'
import type { RefreshOptions, RefreshService } from '../derivations/refresh.ts'
import type { MailingService } from '../mailings/send.ts'
import type { UrlRefreshService } from '../refreshes/refresh-from-url.ts'
import { type JobKind, SETTLE_DELAY_MS, SWEEP_INTERVAL_MS } from '../store/aggregates/jobs.ts'
import type { Store, Writers } from '../store/store.ts'
import type { JobWork, LeasedJob } from './jobs.ts'
import { Pace } from './pace.ts'

/** Returns the handler of each kind of job. A missing kind is a compile error. */
export function createJobHandlers(
  service: RefreshService & UrlRefreshService & DeliveryService & MailingService & ItemService,
  minRefreshMs = MIN_REFRESH_MS,
): Record<JobKind, JobWork> {
  const { store } = service
  const pace = new Pace(REFRESH_BURST, minRefreshMs)
  return {
    tree: updateDescendants,
    dates: indexDates,
    words: indexWords,
    items: (held) => referToItems(service, held),
    fold: (held) => fold(store, held),
    feed: (held) => feed(store, held),
    refresh: (held) => refresh(service, held, pace, minRefreshMs),
    download: (held) => download(service, held),
    judge: (held) => judge(service, held),
    deliver: (held) => deliver(service, held),
    mail: (held) => mail(service, held),
    sweep: (held) => sweep(store, held),
  }
}

/** Pause between two steps of a long job, in ms. */
const STEP_PAUSE_MS = 10

/** Copies the trash state of folders to their content, or deletes the content; a batch per transaction. */
function updateDescendants(leased: LeasedJob): Promise<number | undefined> {
  const { owner } = leased.job
  return repeatBatches(leased, ({ folders }) => folders.continuePropagation(owner))
}

/** Runs a job whose `batch` returns whether it has done all; each in a transaction. */
async function repeatBatches(
  leased: LeasedJob,
  batch: (writers: Writers) => Promise<boolean>,
): Promise<number | undefined> {
  const runBatch = (): Promise<boolean> =>
    leased.write(async (writers) => {
      const isDone = await batch(writers)
      if (isDone) await writers.jobs.deleteFinished(leased.job)
      return isDone
    })
  while (!(await runBatch())) {
    if (leased.isStopping) return Date.now()
    // Let requests take the owner's lock now: it is granted to the first that asks, not the one that waits
    // longest.
    await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS))
  }
  return undefined
}

/** Deletes expired and unreferenced data. Returns the time of the next sweep. */
function sweep(store: Store, leased: LeasedJob): Promise<number | undefined> {
  return keepLease(leased, async (isLost) => {
    await store.sweep(undefined, async () => {
      // Another server goes on.
      if (leased.isStopping) throw new Problem('aborted', 'the server is stopping')
      if (isLost()) await leased.write(async () => {})
    })
    return Date.now() + SWEEP_INTERVAL_MS
  })
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

/** Indexes the words of the files that were added; a batch per transaction. */
function indexWords(leased: LeasedJob): Promise<number | undefined> {
  const { owner } = leased.job
  return repeatBatches(leased, ({ files }) => files.indexNextWords(owner))
}

/** Lets the files of a board's items know the board. */
async function referToItems(service: ItemService, { job, write }: LeasedJob): Promise<undefined> {
  const { referToItems } = await import('../boards/refer-to-items.ts')
  await referToItems(service, { owner: job.owner, idlocal: Number(job.key) })
  await write(({ jobs }) => jobs.deleteFinished(job))
}

/** Time between two refreshes of a derived grid that changes again and again, in ms: each can add a version. */
const MIN_REFRESH_MS = 10_000
/** Number of its refreshes that may follow each other at once before. */
const REFRESH_BURST = 4

/** Schedules the refresh of the grids that are derived from a grid, and a look at its alerts. */
async function feed(store: Store, { job, write }: LeasedJob): Promise<undefined> {
  const { owner } = job
  const idlocal = Number(job.key)
  const { derived, hasAlerts } = await store.read(async ({ derivations, alerts }) => ({
    derived: await derivations.listDerived(owner, idlocal),
    hasAlerts: (await alerts.list({ owner, idlocal })).length > 0,
  }))
  for (const one of derived) {
    await store.write([one.owner], ({ jobs }) => jobs.scheduleRefresh(one))
    // Renews the lease.
    await write(async () => {})
  }
  await write(async ({ derivations, jobs }) => {
    if (hasAlerts) await jobs.scheduleJudgement({ owner, idlocal })
    else if (derived.length === 0) await derivations.stopFeeding({ owner, idlocal })
    await jobs.deleteFinished(job)
  })
}

/** Interval at which a derived grid is compared with its inputs, in ms: access to them can end without a change. */
const RECHECK_MS = 3600_000
/** Time after which a refresh that has failed is tried again, in ms: the machine may have been busy. */
const RETRY_FAILED_MS = 15 * 60_000
/** Interval at which the lease of a refresh is renewed, in ms. */
const RENEW_MS = 10_000

/** Refreshes a derived grid. */
async function refresh(
  service: RefreshService,
  held: LeasedJob,
  pace: Pace,
  minRefreshMs: number,
): Promise<number | undefined> {
  const { refreshDerived } = await import('../derivations/refresh.ts')
  return runRefresh(held, async (fid, options) => {
    const { owner, idlocal } = fid
    const row = await service.store.read(({ derivations }) => derivations.get(owner, idlocal))
    const key = formatFid(fid)
    const earliest = pace.mayRun(key) ? 0 : (row?.tried_at ?? 0) + minRefreshMs
    if (earliest > Date.now()) return earliest
    const startedAt = Date.now()
    const outcome = await refreshDerived(service, fid, options)
    if (outcome === 'refreshed' || outcome === 'failed') pace.add(key, startedAt)
    if (outcome === 'ended') return undefined
    return Date.now() + (outcome === 'failed' ? RETRY_FAILED_MS : RECHECK_MS)
  })
}

/** Refreshes a grid from its URL. */
async function download(service: UrlRefreshService, held: LeasedJob): Promise<number | undefined> {
  const { refreshFromUrl } = await import('../refreshes/refresh-from-url.ts')
  return runRefresh(held, async (fid, options) => {
    const refreshed = await refreshFromUrl(service, fid, options)
    return refreshed && Date.now() + refreshed.every * 1000
  })
}

/** Runs the job of a grid, and renews the lease meanwhile. */
function runRefresh(
  held: LeasedJob,
  work: (fid: Fid, options: RefreshOptions) => Promise<number | undefined>,
): Promise<number | undefined> {
  const { owner, key } = held.job
  const fid = { owner, idlocal: Number(key) }
  return keepLease(held, (isAborted) => work(fid, { isAborted, renew: held.renew }))
}

/**
 * Renews the lease of a job while it works. `work` is told whether the lease is lost, and returns when the job is due
 * again; undefined if it has ended.
 */
async function keepLease(
  held: LeasedJob,
  work: (isLost: () => boolean) => Promise<number | undefined>,
): Promise<number | undefined> {
  let isLost = false
  const lease = setInterval(() => {
    held
      .write(async () => {})
      .catch(() => {
        isLost = true
      })
  }, RENEW_MS)
  try {
    const due = await work(() => isLost)
    if (due !== undefined) return due
    await held.write(({ jobs }) => jobs.deleteFinished(held.job))
    return undefined
  } finally {
    clearInterval(lease)
  }
}

/** Looks at the alerts of a grid. */
async function judge(service: DeliveryService, held: LeasedJob): Promise<number | undefined> {
  const { lookAtAlerts } = await import('../alerts/look.ts')
  return runRefresh(held, (fid) => lookAtAlerts(service, fid, held.write))
}

/** Sends the messages of an alert. */
async function deliver(service: DeliveryService, held: LeasedJob): Promise<number | undefined> {
  const { deliverMessage } = await import('../alerts/deliver.ts')
  return keepLease(held, () => deliverMessage(service, held.job, held.write))
}

/** Sends a chart or board that is due. */
async function mail(service: MailingService, held: LeasedJob): Promise<number | undefined> {
  const { runMailing } = await import('../mailings/run.ts')
  const { owner, key: id } = held.job
  return keepLease(held, () => runMailing(service, { owner, id }, held.write))
}

/** Flushes the tail of a grid to slices. */
async function fold(store: Store, held: LeasedJob): Promise<number | undefined> {
  const { flushTail } = await import('../grids/change/flush.ts')
  const { owner, key } = held.job
  return keepLease(held, async () => {
    await flushTail(store, { owner, idlocal: Number(key) }, held.write)
    return undefined
  })
}
