// Stores background jobs, and the leases of the servers that run them.
import type { ExpressionBuilder, Selectable } from 'kysely'
import type { FileKey } from '../schema/file-key.ts'
import type { Db, Schema } from '../schema/schema.ts'

export type JobRow = Selectable<Schema['jobs']>
export type JobKind = JobRow['kind']

/** Delay before the modification date of an idle grid is indexed, in ms. */
export const SETTLE_DELAY_MS = 5 * 60_000
/** Interval between sweeps, in ms. */
export const SWEEP_INTERVAL_MS = 24 * 3600 * 1000

/** A job that is due later than this after now, in ms, is not one that was scheduled while it ran. */
const MAX_AHEAD_MS = 60_000
/** Longest lease, in ms. One that ends later was taken before the clock was set back. */
const MAX_LEASE_MS = 3600_000

/** Returns the condition that no server holds the lease of a job. */
function isFree(now: number) {
  return ({ eb }: { eb: ExpressionBuilder<Schema, 'jobs'> }) =>
    eb.or([eb('held_until', '<', now), eb('held_until', '>', now + MAX_LEASE_MS)])
}

/** Reads background jobs, which any server on the database may run. See docs/adr/0029. */
export class JobReader {
  constructor(protected readonly db: Db) {}

  /**
   * Lists due jobs of some kinds that no server has leased, longest due first. `latest`: those that are due later are
   * due too, since the clock has been set back.
   */
  listDue(now: number, limit: number, kinds: readonly JobKind[], latest?: number): Promise<JobRow[]> {
    return this.db
      .selectFrom('jobs')
      .selectAll()
      .where((eb) =>
        latest === undefined ? eb('due', '<=', now) : eb.or([eb('due', '<=', now), eb('due', '>', latest)]),
      )
      .where(isFree(now))
      .where('kind', 'in', kinds)
      .orderBy('due')
      .limit(limit)
      .execute()
  }

  /** Counts due jobs that no server has leased. `since`: when the first one was due; null without any. */
  async countDue(now: number): Promise<{ jobs: number; since: number | null }> {
    const { jobs, since } = await this.db
      .selectFrom('jobs')
      .select(({ fn }) => [fn.countAll<number>().as('jobs'), fn.min('due').as('since')])
      .where('due', '<=', now)
      .where(isFree(now))
      .executeTakeFirstOrThrow()
    return { jobs: Number(jobs), since: since === null ? null : Number(since) }
  }

  /** Counts due jobs of a kind that a server has leased. */
  async countRunning(kind: JobKind, now: number): Promise<number> {
    const { jobs } = await this.db
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll<number>().as('jobs'))
      .where('kind', '=', kind)
      .where('due', '<=', now)
      .where(({ not }) => not(isFree(now)))
      .executeTakeFirstOrThrow()
    return Number(jobs)
  }

  listAll(): Promise<JobRow[]> {
    return this.db.selectFrom('jobs').selectAll().orderBy('due').execute()
  }
}

export class JobWriter extends JobReader {
  /** Whether this transaction has added a job that is due now. */
  hasAddedDueJob = false

  /** Adds a job unless one with its kind and key exists. */
  async addIfMissing(owner: string, kind: JobKind, key: string, due: number): Promise<void> {
    await this.db
      .insertInto('jobs')
      .values({ owner, kind, key, due, holder: null, held_until: 0, fence: 0 })
      .onConflict((conflict) => conflict.columns(['owner', 'kind', 'key']).doNothing())
      .execute()
  }

  /** Sets the due time of a job, and adds it if it does not exist. */
  async setDue(owner: string, kind: JobKind, key: string, due: number): Promise<void> {
    await this.addIfMissing(owner, kind, key, due)
    await this.db
      .updateTable('jobs')
      .set({ due })
      .where(({ and }) => and({ owner, kind, key }))
      .execute()
  }

  /**
   * Adds a job. If it exists, keeps the earlier due time. One that a server runs gets another due time, and so runs
   * again.
   */
  async schedule(owner: string, kind: JobKind, key = '', due = Date.now()): Promise<void> {
    this.hasAddedDueJob ||= due <= Date.now()
    await this.db
      .insertInto('jobs')
      .values({ owner, kind, key, due, holder: null, held_until: 0, fence: 0 })
      .onConflict((conflict) =>
        conflict.columns(['owner', 'kind', 'key']).doUpdateSet(({ ref, eb }) => ({
          due: eb
            .case()
            .when('jobs.due', '>', due + MAX_AHEAD_MS)
            .then(due)
            .when('jobs.holder', 'is not', null)
            .then(eb('jobs.due', '+', 1))
            .when('jobs.due', '<', due)
            .then(ref('jobs.due'))
            .else(due)
            .end(),
        })),
      )
      .execute()
  }

  /** Schedules the refresh of a derived grid. */
  scheduleRefresh({ owner, idlocal }: FileKey): Promise<void> {
    return this.schedule(owner, 'refresh', String(idlocal))
  }

  /** Schedules that the files of a board's items know the board. */
  scheduleItems({ owner, idlocal }: FileKey): Promise<void> {
    return this.schedule(owner, 'items', String(idlocal))
  }

  /** Schedules a look at the alerts of a grid. */
  scheduleJudgement({ owner, idlocal }: FileKey): Promise<void> {
    return this.schedule(owner, 'judge', String(idlocal))
  }

  /**
   * Leases a job until `until`. Returns it with its new fencing token; undefined if another server has it.
   */
  claim(job: JobRow, holder: string, now: number, until: number): Promise<JobRow | undefined> {
    return this.updateLeased(job, job.fence)
      .set(({ eb }) => ({ holder, held_until: until, fence: eb('fence', '+', 1) }))
      .where(isFree(now))
      .returningAll()
      .executeTakeFirst()
  }

  /**
   * Renews the lease of a job. Returns false if it was lost: then the transaction must not change anything.
   */
  async renewLease(job: JobRow, until: number): Promise<boolean> {
    const { numUpdatedRows } = await this.updateLeased(job, job.fence)
      .set({ held_until: until })
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** Deletes a finished job, if its lease was not lost. Releases it if it was scheduled again meanwhile. */
  async deleteFinished(job: JobRow): Promise<void> {
    const { owner, kind, key, fence, due } = job
    const { numDeletedRows } = await this.db
      .deleteFrom('jobs')
      .where(({ and }) => and({ owner, kind, key, fence, due }))
      .executeTakeFirst()
    if (numDeletedRows === 0n) await this.releaseUntil(job, due)
  }

  /** Releases a job, which is then due at `due`; now, if it was scheduled again meanwhile. */
  async releaseUntil(job: JobRow, due: number): Promise<void> {
    const { numUpdatedRows } = await this.updateLeased(job, job.fence)
      .set({ holder: null, held_until: 0, due })
      .where('due', '=', job.due)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) return
    this.hasAddedDueJob = true
    await this.updateLeased(job, job.fence).set({ holder: null, held_until: 0 }).executeTakeFirst()
  }

  /** Releases a job, which is not due before `due`, even if it was scheduled again meanwhile. */
  async postpone(job: JobRow, due: number): Promise<void> {
    await this.updateLeased(job, job.fence).set({ holder: null, held_until: 0, due }).executeTakeFirst()
  }

  /** Returns an UPDATE of a job, which has no effect if its fencing token has changed. */
  private updateLeased({ owner, kind, key }: JobRow, fence: number) {
    return this.db.updateTable('jobs').where(({ and }) => and({ owner, kind, key, fence }))
  }
}

/** Schedules the refresh of the derived grids whose inputs, files `ids` or all of an owner, are about to be deleted. */
export async function refreshDerivedFrom(db: Db, owner: string, ids?: readonly number[]): Promise<void> {
  let select = db
    .selectFrom('referencers')
    .select(['by_owner', 'by_idlocal'])
    .where('owner', '=', owner)
    .where('kind', '=', 'input')
  if (ids) select = select.where('idlocal', 'in', ids)
  const jobs = new JobWriter(db)
  for (const { by_owner, by_idlocal } of await select.execute())
    if (by_owner !== owner || ids) await jobs.scheduleRefresh({ owner: by_owner, idlocal: by_idlocal })
}
