// Migration: removed columns that plots refer to. A column added again by its name gets the same uid.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema
    .createTable('lost_columns')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('uid', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('lost_columns_pk', ['owner', 'idlocal', 'uid'])
    .execute()
}
