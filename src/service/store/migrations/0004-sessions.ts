// Migration: sessions of browsers, and one-time codes to sign in.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema
    .createTable('sessions')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('hash', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('key_hash', text)
    .addColumn('scopes', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .addColumn('expires_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('sessions_pk', ['owner', 'hash'])
    .execute()
}
