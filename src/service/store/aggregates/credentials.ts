// Reads and writes API keys, sessions, OIDC trust rules and secrets of the server.
import type { Insertable, Selectable } from 'kysely'
import type { Db, Schema } from '../schema/schema.ts'
import { AccountReader } from './accounts.ts'
import type { Journal } from './audit.ts'

export type ApiKeyRow = Selectable<Schema['api_keys']>
export type TrustRow = Selectable<Schema['oidc_trust']>
export type SessionRow = Selectable<Schema['sessions']>

/** Reads API keys, sessions, OIDC trust rules and secrets. */
export class CredentialReader {
  constructor(protected readonly db: Db) {}

  getKey(owner: string, hash: string): Promise<ApiKeyRow | undefined> {
    return this.db
      .selectFrom('api_keys')
      .selectAll()
      .where(({ and }) => and({ owner, hash }))
      .executeTakeFirst()
  }

  /** Returns a key by the SHA-256 of its bearer token, whoever owns it. */
  findKeyByHash(hash: string): Promise<ApiKeyRow | undefined> {
    return this.db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst()
  }

  async hasKeys(owner: string): Promise<boolean> {
    return (
      (await this.db.selectFrom('api_keys').select('hash').where('owner', '=', owner).limit(1).execute())
        .length > 0
    )
  }

  /** Lists the keys of a user that are not revoked, oldest first. */
  listApiKeys(owner: string): Promise<ApiKeyRow[]> {
    return this.db
      .selectFrom('api_keys')
      .selectAll()
      .where('owner', '=', owner)
      .where('revoked_at', 'is', null)
      .orderBy('created_at')
      .orderBy('hash')
      .execute()
  }

  getSession(owner: string, hash: string): Promise<SessionRow | undefined> {
    return this.db
      .selectFrom('sessions')
      .selectAll()
      .where(({ and }) => and({ owner, hash }))
      .executeTakeFirst()
  }

  /** Lists the OIDC trust rules of an issuer, oldest first. */
  listTrustOfIssuer(issuer: string): Promise<TrustRow[]> {
    return this.selectTrust().where('issuer', '=', issuer).execute()
  }

  listAllTrust(): Promise<TrustRow[]> {
    return this.selectTrust().execute()
  }

  private selectTrust() {
    return this.db.selectFrom('oidc_trust').selectAll().orderBy('created_at').orderBy('id')
  }

  async getSecret(name: string): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('secrets')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.value
  }
}

export class CredentialWriter extends CredentialReader {
  constructor(
    db: Db,
    private readonly journal: Journal,
  ) {
    super(db)
  }

  async addKey(key: Insertable<Schema['api_keys']>): Promise<void> {
    await new AccountReader(this.db).assertUser(key.owner)
    this.journal.record(key.owner, 'key.create', {
      key: key.hash.slice(0, 12),
      name: key.name,
      scopes: key.scopes,
    })
    await this.db.insertInto('api_keys').values(key).execute()
  }

  async revokeKey(owner: string, hash: string): Promise<void> {
    this.journal.record(owner, 'key.revoke', { key: hash.slice(0, 12) })
    await this.db
      .updateTable('api_keys')
      .set({ revoked_at: Date.now() })
      .where(({ and }) => and({ owner, hash }))
      .execute()
  }

  /** Deletes the expired API keys of a user. */
  async removeExpiredKeys(owner: string): Promise<void> {
    await this.db
      .deleteFrom('api_keys')
      .where('owner', '=', owner)
      .where('expires_at', '<', Date.now())
      .execute()
  }

  async addSession(session: Insertable<Schema['sessions']>): Promise<void> {
    await new AccountReader(this.db).assertUser(session.owner)
    const { owner, created_at, kind, key_hash } = session
    if (kind === 'session')
      this.journal.record(owner, 'session.open', { key: key_hash?.slice(0, 12) ?? null })
    await this.db
      .deleteFrom('sessions')
      .where('owner', '=', owner)
      .where('expires_at', '<', created_at)
      .execute()
    await this.db.insertInto('sessions').values(session).execute()
  }

  /** Deletes one session of a user, or all without `hash`. Returns whether there was one. */
  async removeSessions(owner: string, hash?: string): Promise<boolean> {
    let query = this.db.deleteFrom('sessions').where('owner', '=', owner)
    if (hash !== undefined) query = query.where('hash', '=', hash)
    const { numDeletedRows } = await query.executeTakeFirst()
    if (hash === undefined && numDeletedRows > 0n)
      this.journal.record(owner, 'session.close', { sessions: Number(numDeletedRows) })
    return numDeletedRows > 0n
  }

  async addTrust(row: TrustRow): Promise<void> {
    const { id, issuer, subject, scopes } = row
    this.journal.record(row.username, 'trust.add', { id, issuer, subject, scopes })
    await this.db.insertInto('oidc_trust').values(row).execute()
  }

  async removeTrust(id: string): Promise<void> {
    const row = await this.db.selectFrom('oidc_trust').selectAll().where('id', '=', id).executeTakeFirst()
    if (row)
      this.journal.record(row.username, 'trust.remove', { id, issuer: row.issuer, subject: row.subject })
    await this.db.deleteFrom('oidc_trust').where('id', '=', id).execute()
  }

  async addSecret(name: string, value: string): Promise<void> {
    await this.db.insertInto('secrets').values({ name, value }).execute()
  }
}
