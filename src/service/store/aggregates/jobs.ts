import type { Selectable } from 'kysely'
import type { Db, Schema } from '../schema/schema.ts'

export type JobRow = Selectable<Schema['jobs']>
export type JobKind = JobRow['kind']

/** When the dates of grids that get no more rows go into indexes, in ms. */
export const SETTLED_AFTER = 5 * 60_000
/** How often everything is swept, in ms. */
export const SWEEP_EVERY = 24 * 3600 * 1000

/** Work in the background, which any server on the database may do. See docs/adr/0029. */
export class JobReader {
  constructor(protected readonly db: Db) {}

  /** Jobs that are due and that nobody does, the longest due first. */
  due(now: number, limit: number): Promise<JobRow[]> {
    return this.db
      .selectFrom('jobs')
      .selectAll()
      .where('due', '<=', now)
      .where('held_until', '<', now)
      .orderBy('due')
      .limit(limit)
      .execute()
  }

  /** How many jobs are due that no server has, and since when the first one is. */
  async backlog(now: number): Promise<{ jobs: number; since: number | null }> {
    const { jobs, since } = await this.db
      .selectFrom('jobs')
      .select(({ fn }) => [fn.countAll<number>().as('jobs'), fn.min('due').as('since')])
      .where('due', '<=', now)
      .where('held_until', '<', now)
      .executeTakeFirstOrThrow()
    return { jobs: Number(jobs), since: since === null ? null : Number(since) }
  }

  all(): Promise<JobRow[]> {
    return this.db.selectFrom('jobs').selectAll().orderBy('due').execute()
  }
}

export class JobWriter extends JobReader {
  /** Whether the transaction has added a job that is due now. */
  hasAdded = false

  /** Adds a job if there is none of its kind and key. */
  async ensure(owner: string, kind: JobKind, key: string, due: number): Promise<void> {
    await this.db
      .insertInto('jobs')
      .values({ owner, kind, key, due, holder: null, held_until: 0, fence: 0 })
      .onConflict((conflict) => conflict.columns(['owner', 'kind', 'key']).doNothing())
      .execute()
  }

  /** Sets when a job is due that nobody does. */
  async set(owner: string, kind: JobKind, key: string, due: number): Promise<void> {
    await this.ensure(owner, kind, key, due)
    await this.db
      .updateTable('jobs')
      .set({ due })
      .where('owner', '=', owner)
      .where('kind', '=', kind)
      .where('key', '=', key)
      .execute()
  }

  /** Adds a job that is due at a time. One that is there already is due by then. */
  async add(owner: string, kind: JobKind, key = '', due = Date.now()): Promise<void> {
    this.hasAdded ||= due <= Date.now()
    await this.db
      .insertInto('jobs')
      .values({ owner, kind, key, due, holder: null, held_until: 0, fence: 0 })
      .onConflict((conflict) =>
        conflict.columns(['owner', 'kind', 'key']).doUpdateSet(({ ref, eb }) => ({
          due: eb.case().when(ref('jobs.due'), '<', due).then(ref('jobs.due')).else(due).end(),
        })),
      )
      .execute()
  }

  /** Takes a job for a time. Returns it with its new fence; undefined if another server has it. */
  claim(job: JobRow, holder: string, now: number, until: number): Promise<JobRow | undefined> {
    return this.one(job, job.fence)
      .set(({ eb }) => ({ holder, held_until: until, fence: eb('fence', '+', 1) }))
      .where('held_until', '<', now)
      .returningAll()
      .executeTakeFirst()
  }

  /** Holds a claimed job for longer. Returns whether it is still held: if not, the transaction must change nothing. */
  async hold(job: JobRow, until: number): Promise<boolean> {
    const { numUpdatedRows } = await this.one(job, job.fence).set({ held_until: until }).executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** Ends a claimed job. */
  async end(job: JobRow): Promise<void> {
    await this.db
      .deleteFrom('jobs')
      .where('owner', '=', job.owner)
      .where('kind', '=', job.kind)
      .where('key', '=', job.key)
      .where('fence', '=', job.fence)
      .execute()
  }

  /** Gives a claimed job back, to be done at a time. */
  async postpone(job: JobRow, due: number): Promise<void> {
    await this.one(job, job.fence).set({ holder: null, held_until: 0, due }).executeTakeFirst()
  }

  private one({ owner, kind, key }: JobRow, fence: number) {
    return this.db
      .updateTable('jobs')
      .where('owner', '=', owner)
      .where('kind', '=', kind)
      .where('key', '=', key)
      .where('fence', '=', fence)
  }
}
