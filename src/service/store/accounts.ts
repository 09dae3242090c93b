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
      .values({ ...user, name_key: user.owner.toLowerCase() })
      .execute()
    await this.db.insertInto('counters').values({ owner: user.owner, next_idlocal: 0 }).execute()
  }

  async addKey(key: Insertable<Schema['api_keys']>): Promise<void> {
    await this.db.insertInto('api_keys').values(key).execute()
  }
}
