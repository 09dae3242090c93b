// Leases due jobs and runs them.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../contract/errors.ts'
import type { JobKind, JobRow } from '../store/aggregates/jobs.ts'
import type { Store, Write, Writers } from '../store/store.ts'
import { runInSpan } from '../tracing/tracing.ts'

/** Time after which another server may take over a job, in ms. Each step of the job renews the lease. */
const LEASE_MS = 30_000
/** Interval of looking for jobs that other servers have left, in ms. */
const POLL_MS = 5_000
/** Interval of looking whether another process has ended a refresh, in ms. */
const OTHERS_POLL_MS = 100

interface LaneRules {
  readonly kinds: readonly JobKind[]
  readonly concurrency: number
  /** How many jobs of one owner run at the same time; undefined for no limit. */
  readonly concurrencyOfOwner?: number
  /** Longest time until a job of the lane is due, in ms: beyond it, the clock has been set back. */
  readonly maxDelayMs?: number
}

/** Kinds of jobs that run beside each other, and how many at the same time: queries and downloads delay no others. */
const LANES: readonly LaneRules[] = [
  {
    kinds: ['tree', 'dates', 'words', 'items', 'fold', 'feed', 'sweep'],
    concurrency: 2,
    maxDelayMs: 25 * 3600_000,
  },
  { kinds: ['judge'], concurrency: 2, maxDelayMs: 4 * 3600_000 },
  // Receivers may be slow: they delay no other job, and those of one user not those of others.
  { kinds: ['deliver'], concurrency: 16, concurrencyOfOwner: 4, maxDelayMs: 4 * 3600_000 },
  { kinds: ['mail'], concurrency: 2, concurrencyOfOwner: 1, maxDelayMs: 25 * 3600_000 },
  { kinds: ['refresh'], concurrency: 1 },
  // As receivers: hosts may be slow.
  { kinds: ['download'], concurrency: 4, concurrencyOfOwner: 1 },
]
/** Maximum number of due jobs that are looked at in a lane with limits of owners. */
const MAX_LISTED_JOBS = 500
/** Delay before a failed job runs again, in ms. */
const RETRY_MS = 10_000

/** Job that this server has leased. */
export interface LeasedJob {
  job: JobRow
  /** Runs a transaction of the job. Throws `LeaseLost` if another server has taken over the job. */
  write: Write
  /** Renews the lease in a transaction. Throws `LeaseLost` if another server has taken over the job. */
  renew(writers: Writers): Promise<void>
  /** True if the server is stopping. Another server continues the job. */
  readonly isStopping: boolean
}

/** Runs a job. Returns when it is due again, in ms since 1970; undefined if it has ended the job. */
export type JobWork = (held: LeasedJob) => Promise<number | undefined>

/** `done`: ended, or due again later. `lost`: another server took the job over. */
export type JobOutcome = 'done' | 'failed' | 'lost'

class LeaseLost extends Error {}

/** State of the jobs that run beside others. */
interface Lane extends LaneRules {
  /** Ends when no job of the lane is due any more. */
  run: Promise<void> | undefined
  isPollRequested: boolean
  /** Jobs that this server runs. */
  readonly jobs: Map<string, Promise<void>>
  /** Lets `run` look for jobs again. */
  wake: () => void
}

const NO_BACKLOG: { jobs: number; since: number | null } = { jobs: 0, since: null }

/** Runs background jobs, together with the other servers on the database. See docs/adr/0029. */
export class Jobs {
  /** Counts of finished jobs by kind and outcome, of running jobs and of the backlog. */
  readonly stats = {
    ended: new Map<JobKind, Record<JobOutcome, number>>(),
    running: 0,
    /** Due jobs without a server, at the last poll. `since`: due time of the oldest, in ms since 1970. */
    backlog: NO_BACKLOG,
  }
  readonly #holder = randomBytes(8).toString('hex')
  #timer: NodeJS.Timeout | undefined
  readonly #lanes = LANES.map(
    (lane): Lane => ({
      ...lane,
      run: undefined,
      isPollRequested: false,
      jobs: new Map(),
      wake: () => {},
    }),
  )
  #isStopping = false

  constructor(
    private readonly store: Store,
    private readonly kinds: Record<JobKind, JobWork>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Starts polling for jobs, including recurring ones. */
  start(): void {
    this.store
      .write([], ({ jobs }) => jobs.addIfMissing('', 'sweep', '', Date.now()))
      .catch((error) => this.onError(error))
    this.#timer = setInterval(() => this.poll(), POLL_MS)
    this.#timer.unref()
    this.poll()
  }

  /** Runs all due jobs. Joins a run that is already in progress. */
  async poll(): Promise<void> {
    await Promise.all(
      this.#lanes.map((lane) => {
        lane.isPollRequested = true
        lane.wake()
        lane.run ??= this.runDueJobs(lane).finally(() => {
          lane.run = undefined
        })
        return lane.run
      }),
    )
  }

  /**
   * Runs all due jobs, and those that they make due, as long as this server ends some. Waits for refreshes of derived
   * grids that another process has leased, which may have been killed.
   */
  async drain(): Promise<void> {
    while (!this.#isStopping) {
      const ended = this.countEnded()
      await this.poll()
      const now = Date.now()
      const { due, refreshes } = await this.store.read(async ({ jobs }) => ({
        due: await jobs.countDue(now),
        refreshes: await jobs.countRunning('refresh', now),
      }))
      // A job that has become due meanwhile may be running already.
      const isRunning = this.#lanes.some(({ run }) => run !== undefined)
      if (isRunning || (due.jobs > 0 && this.countEnded() !== ended)) continue
      if (refreshes === 0) return
      await sleep(OTHERS_POLL_MS)
    }
  }

  private countEnded(): number {
    let count = 0
    for (const { done, failed, lost } of this.stats.ended.values()) count += done + failed + lost
    return count
  }

  /** Stops after the current step of each job. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#timer)
    await Promise.all(this.#lanes.map(({ run }) => run))
  }

  /** Runs the due jobs of a lane until none is left, with limited concurrency. A slow job delays no other. */
  private async runDueJobs(lane: Lane): Promise<void> {
    const { jobs: running } = lane
    while (running.size > 0 || (lane.isPollRequested && !this.#isStopping)) {
      const free = lane.concurrency - running.size
      if (lane.isPollRequested && free > 0 && !this.#isStopping) {
        lane.isPollRequested = false
        for (const job of await this.listDue(lane, free)) this.startJob(lane, job)
        continue
      }
      const woken = new Promise<void>((resolve) => {
        lane.wake = resolve
      })
      await Promise.race([woken, ...running.values()])
    }
  }

  /** Lists due jobs of a lane that this server does not run. */
  private async listDue(lane: Lane, limit: number): Promise<JobRow[]> {
    try {
      const due = await this.store.read(async ({ jobs }) => {
        // Once per poll, not for each lane.
        if (lane === this.#lanes[0]) this.stats.backlog = await jobs.countDue(Date.now())
        const now = Date.now()
        const latest = lane.maxDelayMs && now + lane.maxDelayMs
        const isFair = lane.concurrencyOfOwner !== undefined
        return jobs.listDue(now, isFair ? MAX_LISTED_JOBS : limit + lane.jobs.size, lane.kinds, latest)
      })
      return chooseJobs(lane, due).slice(0, limit)
    } catch (error) {
      if (!(error instanceof Problem)) this.onError(error)
      return []
    }
  }

  /** Runs a job beside the others of its lane, which then looks for another. */
  private startJob(lane: Lane, job: JobRow): void {
    const key = formatJobKey(job)
    const done = this.runJob(job)
      .then(
        () => {
          lane.isPollRequested = true
        },
        // The next poll tries again.
        (error) => {
          if (!(error instanceof Problem)) this.onError(error)
        },
      )
      .finally(() => lane.jobs.delete(key))
    lane.jobs.set(key, done)
  }

  /** Leases and runs one job. Failed jobs are due again after a delay. */
  private async runJob(row: JobRow): Promise<void> {
    const now = Date.now()
    const owners = row.owner === '' ? [] : [row.owner]
    // Queue behind requests for the files of the same owner.
    const store = row.owner === '' ? this.store : this.store.forOwner(row.owner)
    const job = await store.write(owners, ({ jobs }) => jobs.claim(row, this.#holder, now, now + LEASE_MS))
    if (!job) return
    const stopping = (): boolean => this.#isStopping
    const renew = async ({ jobs }: Writers): Promise<void> => {
      if (!(await jobs.renewLease(job, Date.now() + LEASE_MS))) throw new LeaseLost()
    }
    const leased: LeasedJob = {
      job,
      renew,
      write: (work) =>
        store.write(owners, async (writers) => {
          await renew(writers)
          return work(writers)
        }),
      get isStopping() {
        return stopping()
      },
    }
    this.stats.running++
    try {
      const due = await runInSpan({ name: `job ${job.kind}`, kind: 'internal' }, () =>
        this.kinds[job.kind](leased),
      )
      if (due !== undefined) await leased.write(({ jobs }) => jobs.releaseUntil(job, due))
      this.countOutcome(job.kind, 'done')
    } catch (error) {
      this.countOutcome(job.kind, error instanceof LeaseLost ? 'lost' : 'failed')
      if (error instanceof LeaseLost) return
      if (!(error instanceof Problem)) this.onError(error)
      await leased.write(({ jobs }) => jobs.postpone(job, Date.now() + RETRY_MS)).catch(() => {})
    } finally {
      this.stats.running--
    }
  }

  private countOutcome(kind: JobKind, outcome: JobOutcome): void {
    const counts = this.stats.ended.get(kind) ?? { done: 0, failed: 0, lost: 0 }
    counts[outcome]++
    this.stats.ended.set(kind, counts)
  }
}

/** Chooses the jobs that this server does not run, with a limited number of one owner. */
function chooseJobs(
  { jobs, concurrencyOfOwner = Number.POSITIVE_INFINITY }: Lane,
  due: readonly JobRow[],
): JobRow[] {
  const running = new Map<string, number>()
  const add = (owner: string): number => {
    const count = (running.get(owner) ?? 0) + 1
    running.set(owner, count)
    return count
  }
  for (const key of jobs.keys()) add(key.split(' ')[0])
  return due.filter((job) => !jobs.has(formatJobKey(job)) && add(job.owner) <= concurrencyOfOwner)
}

function formatJobKey({ owner, kind, key }: JobRow): string {
  return `${owner} ${kind} ${key}`
}
