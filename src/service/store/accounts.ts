import type { Insertable, Selectable } from 'kysely'
import type { Db, Schema } from './schema.ts'

export type UserRow = Selectable<Schema['users']>
export type KeyRow = Selectable<Schema['api_keys']>

/** Users and their API keys. */
export class AccountReader {
  constructor(protected readonly db: Db) {}

  user(owner: string): Promise<UserRow | undefined> {
    return this.db.selectFrom('users').selectAll().where('owner', '=', owner).executeTakeFirst()
  }

  /** A user of that name, whatever its case. */
  userLike(name: string): Promise<UserRow | undefined> {
    return this.db
      .selectFrom('users')
      .selectAll()
      .where('name_key', '=', name.toLowerCase())
      .executeTakeFirst()
  }

  /** The user of an address. */
  userByEmail(email: string): Promise<UserRow | undefined> {
    return this.db
      .selectFrom('users')
      .selectAll()
      .where('email', '=', email.toLowerCase())
      .orderBy('owner')
      .executeTakeFirst()
  }

  /** Those of the names that are users. */
  async known(names: readonly string[]): Promise<Set<string>> {
    if (names.length === 0) return new Set()
    const rows = await this.db.selectFrom('users').select('owner').where('owner', 'in', names).execute()
    return new Set(rows.map(({ owner }) => owner))
  }

  /** The keys of a user that have not been revoked, the oldest first. */
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

  /** The key a bearer token stands for, whoever owns it. */
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

  async revokeKey(owner: string, hash: string): Promise<void> {
    await this.db
      .updateTable('api_keys')
      .set({ revoked_at: Date.now() })
      .where('owner', '=', owner)
      .where('hash', '=', hash)
      .execute()
  }

  async addSecret(name: string, value: string): Promise<void> {
    await this.db.insertInto('secrets').values({ name, value }).execute()
  }

  async addKey(key: Insertable<Schema['api_keys']>): Promise<void> {
    await this.db.insertInto('api_keys').values(key).execute()
  }
}
