// Migration: identity tokens accepted in exchange for an API key.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema
    .createTable('oidc_trust')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('issuer', text, (c) => c.notNull())
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('username', text, (c) => c.notNull())
    .addColumn('scopes', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .execute()
}
