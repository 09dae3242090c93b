import { randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { JobKind, JobRow } from '../store/aggregates/jobs.ts'
import type { Store, Writers } from '../store/store.ts'
import { span } from '../tracing/tracing.ts'

/** How long a server has a job before another one may take it, in ms. Each step of the job renews it. */
const LEASE_MS = 30_000
/** How often a server looks for jobs that others have left, in ms. */
const POLL_MS = 5_000
/** Jobs that a server does at a time. */
const AT_ONCE = 2
/** How long a job that failed waits, in ms. */
const RETRY_MS = 10_000
const BATCH_JOBS = 20

/** A job that this server holds. */
export interface Held {
  job: JobRow
  /**
   * A transaction of the job. Throws `Lost` if the server has lost it meanwhile: one that was away for longer than its
   * lease changes nothing.
   */
  write<T>(work: (writers: Writers) => Promise<T>): Promise<T>
  /** Whether the server is stopping: another one goes on. */
  readonly isStopping: boolean
}

/** Does a job. Returns when it is due again; undefined if it is done, and its last transaction has ended it. */
export type JobWork = (held: Held) => Promise<number | undefined>

/** `done`: ended, or due again later. */
export type JobOutcome = 'done' | 'failed' | 'lost'

class Lost extends Error {}

/** Does work in the background with the other servers on the database. See docs/adr/0029. */
export class Jobs {
  /** What has become of jobs, by kind, and what is left. */
  readonly stats = {
    ended: new Map<JobKind, Record<JobOutcome, number>>(),
    running: 0,
    /** Jobs that were due and that no server had, at the last look; the oldest one in ms since 1970. */
    backlog: { jobs: 0, since: null as number | null },
  }
  readonly #holder = randomBytes(8).toString('hex')
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isAsked = false
  #isStopping = false

  constructor(
    private readonly store: Store,
    private readonly kinds: Record<JobKind, JobWork>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Looks for jobs from now on, those that come again among them. */
  start(): void {
    this.store
      .write([], ({ jobs }) => jobs.ensure('', 'sweep', '', Date.now()))
      .catch((error) => this.failed(error))
    this.#timer = setInterval(() => this.look(), POLL_MS)
    this.#timer.unref()
    this.look()
  }

  /** Does the jobs that are due, unless it is at it. */
  look(): Promise<void> {
    this.#isAsked = true
    this.#running ??= this.drain().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Ends after the present step of each job. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#timer)
    await this.#running
  }

  private async drain(): Promise<void> {
    while (this.#isAsked && !this.#isStopping) {
      this.#isAsked = false
      try {
        const due = await this.store.read(async ({ jobs }) => {
          this.stats.backlog = await jobs.backlog(Date.now())
          return jobs.due(Date.now(), BATCH_JOBS)
        })
        const waiting = [...due]
        const one = async (): Promise<void> => {
          for (let job = waiting.shift(); job && !this.#isStopping; job = waiting.shift()) await this.run(job)
        }
        await Promise.all(Array.from({ length: AT_ONCE }, one))
        if (due.length === BATCH_JOBS) this.#isAsked = true
      } catch (error) {
        if (!(error instanceof Problem)) this.failed(error)
      }
    }
  }

  private async run(row: JobRow): Promise<void> {
    const now = Date.now()
    const owners = row.owner === '' ? [] : [row.owner]
    // In turn with requests for the same files.
    const store = row.owner === '' ? this.store : this.store.for(row.owner)
    const job = await store.write(owners, ({ jobs }) => jobs.claim(row, this.#holder, now, now + LEASE_MS))
    if (!job) return
    const stopping = (): boolean => this.#isStopping
    const held: Held = {
      job,
      write: (work) =>
        store.write(owners, async (writers) => {
          if (!(await writers.jobs.hold(job, Date.now() + LEASE_MS))) throw new Lost()
          return work(writers)
        }),
      get isStopping() {
        return stopping()
      },
    }
    this.stats.running++
    try {
      const due = await span({ name: `job ${job.kind}`, kind: 'internal' }, () => this.kinds[job.kind](held))
      if (due !== undefined) await held.write(({ jobs }) => jobs.postpone(job, due))
      this.count(job.kind, 'done')
    } catch (error) {
      this.count(job.kind, error instanceof Lost ? 'lost' : 'failed')
      if (error instanceof Lost) return
      if (!(error instanceof Problem)) this.failed(error)
      await held.write(({ jobs }) => jobs.postpone(job, Date.now() + RETRY_MS)).catch(() => {})
    } finally {
      this.stats.running--
    }
  }

  private count(kind: JobKind, outcome: JobOutcome): void {
    const counts = this.stats.ended.get(kind) ?? { done: 0, failed: 0, lost: 0 }
    counts[outcome]++
    this.stats.ended.set(kind, counts)
  }
}
