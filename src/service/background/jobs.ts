// Leases due jobs and runs them.
import { randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { JobKind, JobRow } from '../store/aggregates/jobs.ts'
import type { Store, Writers } from '../store/store.ts'
import { runInSpan } from '../tracing/tracing.ts'

/** Time after which another server may take over a job, in ms. Each step of the job renews the lease. */
const LEASE_MS = 30_000
/** Interval of looking for jobs that other servers have left, in ms. */
const POLL_MS = 5_000
/** Kinds of jobs that run beside each other, and how many at the same time: queries and downloads delay no others. */
const LANES: readonly { kinds: readonly JobKind[]; concurrency: number }[] = [
  { kinds: ['tree', 'dates', 'fold', 'feed', 'sweep'], concurrency: 2 },
  { kinds: ['refresh'], concurrency: 1 },
  { kinds: ['download'], concurrency: 1 },
]
/** Delay before a failed job runs again, in ms. */
const RETRY_MS = 10_000
/** Maximum number of due jobs loaded by one query. */
const BATCH_JOBS = 20

/** Job that this server has leased. */
export interface LeasedJob {
  job: JobRow
  /** Runs a transaction of the job. Throws `LeaseLost` if another server has taken over the job. */
  write<T>(work: (writers: Writers) => Promise<T>): Promise<T>
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
interface Lane {
  readonly kinds: readonly JobKind[]
  readonly concurrency: number
  running: Promise<void> | undefined
  isPollRequested: boolean
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
  readonly #lanes = LANES.map((lane): Lane => ({ ...lane, running: undefined, isPollRequested: false }))
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
        lane.running ??= this.runDueJobs(lane).finally(() => {
          lane.running = undefined
        })
        return lane.running
      }),
    )
  }

  /** Stops after the current step of each job. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#timer)
    await Promise.all(this.#lanes.map(({ running }) => running))
  }

  /** Runs the due jobs of a lane until none is left, with limited concurrency. */
  private async runDueJobs(lane: Lane): Promise<void> {
    while (lane.isPollRequested && !this.#isStopping) {
      lane.isPollRequested = false
      try {
        const due = await this.store.read(async ({ jobs }) => {
          // Once per poll, not for each lane.
          if (lane === this.#lanes[0]) this.stats.backlog = await jobs.countDue(Date.now())
          return jobs.listDue(Date.now(), BATCH_JOBS, lane.kinds)
        })
        const queue = [...due]
        const runQueued = async (): Promise<void> => {
          for (let job = queue.shift(); job && !this.#isStopping; job = queue.shift()) await this.runJob(job)
        }
        await Promise.all(Array.from({ length: lane.concurrency }, runQueued))
        if (due.length === BATCH_JOBS) lane.isPollRequested = true
      } catch (error) {
        if (!(error instanceof Problem)) this.onError(error)
      }
    }
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
