import type { Insertable, Selectable } from 'kysely'
import type { Db, Schema } from './schema.ts'

export type UserRow = Selectable<Schema['users']>
export type KeyRow = Selectable<Schema['api_keys']>
export type TrustRow = Selectable<Schema['oidc_trust']>
export type SessionRow = Selectable<Schema['sessions']>

/** Users and their API keys. */
export class AccountReader {
  constructor(protected readonly db: Db) {}

  user(owner: string): Promise<UserRow | undefined> {
    return this.db.selectFrom('users').selectAll().where('owner', '=', owner).executeTakeFirst()
  }

  /** Returns a user by name, ignoring case. */
  userLike(name: string): Promise<UserRow | undefined> {
    return this.db
      .selectFrom('users')
      .selectAll()
      .where('name_key', '=', name.toLowerCase())
      .executeTakeFirst()
  }

  /** The keys of a user that are not revoked, oldest first. */
  keys(owner: string): Promise<KeyRow[]> {
    return this.db
      .selectFrom('api_keys')
      .selectAll()
      .where('owner', '=', owner)
      .where('revoked_at', 'is', null)
      .orderBy('created_at')
      .orderBy('hash')
      .execute()
  }

  async secret(name: string): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('secrets')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.value
  }

  /** What is trusted of an issuer, oldest first. */
  trustOf(issuer: string): Promise<TrustRow[]> {
    return this.trusted().where('issuer', '=', issuer).execute()
  }

  trust(): Promise<TrustRow[]> {
    return this.trusted().execute()
  }

  private trusted() {
    return this.db.selectFrom('oidc_trust').selectAll().orderBy('created_at').orderBy('id')
  }

  key(owner: string, hash: string): Promise<KeyRow | undefined> {
    return this.db
      .selectFrom('api_keys')
      .selectAll()
      .where('owner', '=', owner)
      .where('hash', '=', hash)
      .executeTakeFirst()
  }

  async hasKeys(owner: string): Promise<boolean> {
    return (
      (await this.db.selectFrom('api_keys').select('hash').where('owner', '=', owner).limit(1).execute())
        .length > 0
    )
  }

  session(owner: string, hash: string): Promise<SessionRow | undefined> {
    return this.db
      .selectFrom('sessions')
      .selectAll()
      .where('owner', '=', owner)
      .where('hash', '=', hash)
      .executeTakeFirst()
  }

  /** Returns the key of a bearer token, of any owner. */
  keyByHash(hash: string): Promise<KeyRow | undefined> {
    return this.db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst()
  }
}

export class AccountWriter extends AccountReader {
  async addUser(user: Omit<Insertable<Schema['users']>, 'name_key'>): Promise<void> {
    await this.db
      .insertInto('users')
      .values({ ...user, email: user.email?.toLowerCase() ?? null, name_key: user.owner.toLowerCase() })
      .execute()
    await this.db.insertInto('counters').values({ owner: user.owner, next_idlocal: 0 }).execute()
  }

  /**
   * Takes up to `wanted` units from a user's daily quota of `what`. Returns how many were granted. Days are
   * UTC days of the service's clock.
   */
  async takeQuota(owner: string, what: string, wanted: number, limit: number): Promise<number> {
    if (wanted === 0) return 0
    const day = Math.floor(Date.now() / 86_400_000)
    const row = await this.db
      .selectFrom('quotas')
      .select('used')
      .where('owner', '=', owner)
      .where('what', '=', what)
      .where('day', '=', day)
      .executeTakeFirst()
    const granted = Math.max(0, Math.min(wanted, limit - (row?.used ?? 0)))
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

  async revokeKey(owner: string, hash: string): Promise<void> {
    await this.db
      .updateTable('api_keys')
      .set({ revoked_at: Date.now() })
      .where('owner', '=', owner)
      .where('hash', '=', hash)
      .execute()
  }

  /** Deletes the keys of a user that have expired. */
  async removeExpiredKeys(owner: string): Promise<void> {
    await this.db
      .deleteFrom('api_keys')
      .where('owner', '=', owner)
      .where('expires_at', '<', Date.now())
      .execute()
  }

  async addTrust(row: TrustRow): Promise<void> {
    await this.db.insertInto('oidc_trust').values(row).execute()
  }

  async removeTrust(id: string): Promise<void> {
    await this.db.deleteFrom('oidc_trust').where('id', '=', id).execute()
  }

  async addSession(session: Insertable<Schema['sessions']>): Promise<void> {
    const { owner, created_at } = session
    await this.db
      .deleteFrom('sessions')
      .where('owner', '=', owner)
      .where('expires_at', '<', created_at)
      .execute()
    await this.db.insertInto('sessions').values(session).execute()
  }

  /** Removes one session of a user, or all. Returns whether there was one. */
  async removeSessions(owner: string, hash?: string): Promise<boolean> {
    let query = this.db.deleteFrom('sessions').where('owner', '=', owner)
    if (hash !== undefined) query = query.where('hash', '=', hash)
    return (await query.executeTakeFirst()).numDeletedRows > 0n
  }

  async addSecret(name: string, value: string): Promise<void> {
    await this.db.insertInto('secrets').values({ name, value }).execute()
  }

  async addKey(key: Insertable<Schema['api_keys']>): Promise<void> {
    await this.db.insertInto('api_keys').values(key).execute()
  }
}
