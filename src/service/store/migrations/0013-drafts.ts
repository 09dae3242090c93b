// Migration: drafts. Their content is a version with a negative number, or a separate grid.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema
    .createTable('drafts')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('version', int)
    .addColumn('made_at', int, (c) => c.notNull())
    .addColumn('made_by', text)
    .addPrimaryKeyConstraint('drafts_pk', ['owner', 'idlocal', 'name'])
    .execute()
  await db.schema.createIndex('drafts_made_at').on('drafts').column('made_at').execute()
}
