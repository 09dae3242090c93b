// Reads and writes users, their names, OIDC identities and quotas.
import type { Insertable, Selectable } from 'kysely'
import { lowerCaseAscii } from '../../../contract/ascii-case.ts'
import { Problem } from '../../../contract/errors.ts'
import { OBJECT_STATES } from '../objects/object-states.ts'
import { deleteAllReferences } from '../schema/references.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { userTables } from '../schema/tables.ts'
import type { Journal } from './audit.ts'
import { refreshDerivedFrom } from './jobs.ts'
import { renameInAllTables } from './rename-user.ts'

export type UserRow = Selectable<Schema['users']>

/** Reads users and OIDC identities. */
export class AccountReader {
  constructor(protected readonly db: Db) {}

  getUser(owner: string): Promise<UserRow | undefined> {
    return this.db.selectFrom('users').selectAll().where('owner', '=', owner).executeTakeFirst()
  }

  /** Throws `unauthenticated` if the user was deleted or renamed while the request ran. */
  async assertUser(owner: string): Promise<void> {
    if (await this.getUser(owner)) return
    throw new Problem('unauthenticated', `user ${owner} does not exist any more`)
  }

  /** Returns a user by name or former name, ignoring case. */
  async findUserByName(name: string): Promise<UserRow | undefined> {
    const name_key = name.toLowerCase()
    const { db } = this
    const user = await db.selectFrom('users').selectAll().where('name_key', '=', name_key).executeTakeFirst()
    if (user) return user
    const former = await this.findFormerOwner(name)
    return former === undefined ? undefined : this.getUser(former)
  }

  /** Returns the username linked to an OIDC identity; undefined if there is none. */
  async findOwnerByIdentity(issuer: string, subject: string): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('identities')
      .select('owner')
      .where(({ and }) => and({ issuer, subject }))
      .executeTakeFirst()
    return row?.owner
  }

  /** Returns the only user with an e-mail address; undefined if there is none, or more than one. */
  async findOwnerByEmail(email: string): Promise<string | undefined> {
    const rows = await this.db
      .selectFrom('users')
      .select('owner')
      .where('email', '=', email)
      .limit(2)
      .execute()
    return rows.length === 1 ? rows[0].owner : undefined
  }

  /** Returns the number of users with an e-mail address. */
  async countUsersWith(email: string): Promise<number> {
    const { count } = await this.db
      .selectFrom('users')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** Returns whether a user is linked to an identity of an issuer. */
  async hasIdentity(owner: string, issuer: string): Promise<boolean> {
    const identity = await this.db
      .selectFrom('identities')
      .select('owner')
      .where(({ and }) => and({ owner, issuer }))
      .executeTakeFirst()
    return identity !== undefined
  }

  /** Returns the user who had this name before: '' if deleted since, undefined if nobody had it. */
  async findFormerOwner(name: string): Promise<string | undefined> {
    const former = await this.db
      .selectFrom('former_names')
      .select('owner')
      .where('name_key', '=', name.toLowerCase())
      .executeTakeFirst()
    return former?.owner
  }

  /** Returns whether file ids were ever allocated for a name, by a current or a deleted user. */
  async hasCounter(owner: string): Promise<boolean> {
    const counter = await this.db
      .selectFrom('counters')
      .select('owner')
      .where('owner', '=', owner)
      .executeTakeFirst()
    return counter !== undefined
  }

  /** Lists former names with the current names of their users. Skips deleted users. */
  listFormerNames(): Promise<{ name: string; owner: string }[]> {
    return this.db.selectFrom('former_names').select(['name', 'owner']).where('owner', '!=', '').execute()
  }

  /** Lists plots that refer to grids of a user, ordered by id. */
  listPlotsUsingGridsOf(owner: string): Promise<{ owner: string; idlocal: number }[]> {
    return this.db
      .selectFrom('referencers')
      .select(['by_owner as owner', 'by_idlocal as idlocal'])
      .distinct()
      .where('owner', '=', owner)
      .where('kind', '=', 'grid')
      .orderBy('by_owner')
      .orderBy('by_idlocal')
      .execute()
  }

  /** Lists all users by name, with their numbers of files and valid keys. */
  async listAllUsers(): Promise<(UserRow & { files: number; keys: number })[]> {
    const rows = await this.db.selectFrom('users').selectAll().orderBy('owner').execute()
    const files = await this.db
      .selectFrom('files')
      .select(({ fn }) => ['owner', fn.countAll<number>().as('count')])
      .groupBy('owner')
      .execute()
    const keys = await this.db
      .selectFrom('api_keys')
      .select(({ fn }) => ['owner', fn.countAll<number>().as('count')])
      .where('revoked_at', 'is', null)
      .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', Date.now())]))
      .groupBy('owner')
      .execute()
    const countOf = (counts: typeof files): Map<string, number> =>
      new Map(counts.map(({ owner, count }) => [owner, Number(count)]))
    const [fileCounts, keyCounts] = [countOf(files), countOf(keys)]
    return rows.map((row) => ({
      ...row,
      files: fileCounts.get(row.owner) ?? 0,
      keys: keyCounts.get(row.owner) ?? 0,
    }))
  }
}

export class AccountWriter extends AccountReader {
  constructor(
    db: Db,
    private readonly journal: Journal,
  ) {
    super(db)
  }

  async addUser(user: Omit<Insertable<Schema['users']>, 'name_key'>): Promise<void> {
    this.journal.record(user.owner, 'user.create', { is_admin: user.is_admin === 1 })
    const email = user.email ? lowerCaseAscii(user.email) : null
    await this.db
      .insertInto('users')
      .values({ ...user, email, name_key: user.owner.toLowerCase() })
      .execute()
    // A deleted user of this name left a counter. Ids continue, so old links never lead to a new file.
    await this.db
      .insertInto('counters')
      .values({ owner: user.owner, next_idlocal: 0 })
      .onConflict((conflict) => conflict.column('owner').doNothing())
      .execute()
    await this.db
      .updateTable('counters')
      .set(({ eb }) => ({ next_idlocal: eb(eb('next_idlocal', '*', -1), '-', 1) }))
      .where('owner', '=', user.owner)
      .where('next_idlocal', '<', 0)
      .execute()
  }

  /**
   * Renames a user in all tables. The former name stays reserved and leads to the user. The caller must
   * update figures that refer to the user's grids.
   */
  async renameUser(owner: string, name: string): Promise<void> {
    this.journal.record(name, 'user.rename', { from: owner })
    await renameInAllTables(this.db, owner, name)
  }

  /** Records a changed quota in the audit log; undefined: the user now has the default quota. */
  recordQuotaChange(owner: string, change: Record<string, number | null> | undefined): void {
    this.journal.record(owner, 'user.quota', change ?? { default: true })
  }

  async setDisabled(owner: string, disabled_at: number | null): Promise<void> {
    this.journal.record(owner, disabled_at === null ? 'user.enable' : 'user.disable')
    await this.db.updateTable('users').set({ disabled_at }).where('owner', '=', owner).execute()
  }

  /**
   * Deletes a user with all their files, and all access that others granted to them. The id counter stays, so
   * that ids are never reused. A sweep removes the blobs later.
   */
  async removeUser(owner: string): Promise<void> {
    const { db } = this
    this.journal.record(owner, 'user.delete')
    await refreshDerivedFrom(db, owner)
    const teams = await db.selectFrom('teams').select('name_key').where('owner', '=', owner).execute()
    for (const { name_key } of teams) {
      await db.deleteFrom('team_members').where('team', '=', name_key).execute()
      await db.deleteFrom('collaborators').where('kind', '=', 'team').where('name', '=', name_key).execute()
    }
    await db.deleteFrom('collaborators').where('kind', '=', 'user').where('name', '=', owner).execute()
    await db.deleteFrom('team_members').where('username', '=', owner).execute()
    await db.deleteFrom('stars').where('username', '=', owner).execute()
    await db.deleteFrom('oidc_trust').where('username', '=', owner).execute()
    await deleteAllReferences(db, owner)
    for (const table of userTables) await db.deleteFrom(table).where('owner', '=', owner).execute()
    // A sweep removes the bytes, unless objects of other owners share them.
    await db.updateTable('objects').set({ state: OBJECT_STATES.ended }).where('owner', '=', owner).execute()
    // Former names stay reserved but resolve to nobody, not even to a later user of the same name.
    await db.updateTable('former_names').set({ owner: '' }).where('owner', '=', owner).execute()
    // A negative counter stops running requests from creating files for the deleted user.
    await db
      .updateTable('counters')
      .set(({ eb }) => ({ next_idlocal: eb(eb('next_idlocal', '*', -1), '-', 1) }))
      .where('owner', '=', owner)
      .where('next_idlocal', '>=', 0)
      .execute()
  }

  /**
   * Takes up to `units` from a user's daily quota of `what`. Returns how many were granted. A day is a UTC
   * day of the service's clock.
   */
  async takeQuota(owner: string, what: string, units: number, limit: number): Promise<number> {
    if (units === 0) return 0
    const day = Math.floor(Date.now() / 86_400_000)
    const row = await this.db
      .selectFrom('quotas')
      .select('used')
      .where(({ and }) => and({ owner, what, day }))
      .executeTakeFirst()
    const granted = Math.max(0, Math.min(units, limit - (row?.used ?? 0)))
    const used = (row?.used ?? 0) + granted
    await this.db
      .insertInto('quotas')
      .values({ owner, what, day, used })
      .onConflict((conflict) => conflict.columns(['owner', 'what', 'day']).doUpdateSet({ used }))
      .execute()
    await this.db
      .deleteFrom('quotas')
      .where('owner', '=', owner)
      .where('day', '<', day - 1)
      .execute()
    return granted
  }

  /** Returns units that were taken today, and not used. */
  async returnQuota(owner: string, what: string, units: number): Promise<void> {
    const day = Math.floor(Date.now() / 86_400_000)
    await this.db
      .updateTable('quotas')
      .set(({ eb }) => ({ used: eb('used', '-', units) }))
      .where(({ and }) => and({ owner, what, day }))
      .where('used', '>=', units)
      .execute()
  }

  async addIdentity(identity: Insertable<Schema['identities']>): Promise<void> {
    this.journal.record(identity.owner, 'user.identity', {
      issuer: identity.issuer,
      subject: identity.subject,
    })
    await this.db.insertInto('identities').values(identity).execute()
  }

  /** Unlinks a user from all identities: the next sign-in with their e-mail address links one again. */
  async removeIdentities(owner: string): Promise<void> {
    this.journal.record(owner, 'user.unlink')
    await this.db.deleteFrom('identities').where('owner', '=', owner).execute()
  }

  /** Changes the e-mail address of a user, in lower case; null removes it. */
  async changeEmail(owner: string, email: string | null): Promise<void> {
    this.journal.record(owner, 'user.email', { email })
    await this.db.updateTable('users').set({ email }).where('owner', '=', owner).execute()
  }
}
