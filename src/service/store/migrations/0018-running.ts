// Migration: quotas, audit log, OIDC users, sizes of locations.
import { type Kysely, sql } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  const { schema } = db
  await schema
    .createTable('place_sizes')
    .addColumn('place', text, (c) => c.primaryKey())
    .addColumn('objects', int, (c) => c.notNull())
    .addColumn('bytes', int, (c) => c.notNull())
    .execute()
  await schema
    .createTable('user_quotas')
    .addColumn('owner', text, (c) => c.primaryKey())
    .addColumn('files', int)
    .addColumn('rows', int)
    .addColumn('bytes', int)
    .execute()
  await schema
    .createTable('identities')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('issuer', text, (c) => c.notNull())
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('identities_pk', ['issuer', 'subject'])
    .execute()
  await sql`create index identities_owner on identities (owner)`.execute(db)
  await schema
    .createTable('audit')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('at', int, (c) => c.notNull())
    .addColumn('id', text, (c) => c.notNull())
    .addColumn('event', text, (c) => c.notNull())
    .addColumn('actor', text)
    .addColumn('fid', text)
    .addColumn('details', text, (c) => c.notNull())
    .addColumn('request_id', text)
    .addColumn('address', text)
    .addPrimaryKeyConstraint('audit_pk', ['owner', 'at', 'id'])
    .execute()
  await sql`create index audit_at on audit (at, owner, id)`.execute(db)
}
