// Migration: former usernames. Links, keys and scripts with them still work.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema
    .createTable('former_names')
    .addColumn('name', text, (c) => c.primaryKey())
    .addColumn('name_key', text, (c) => c.notNull())
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('renamed_at', int, (c) => c.notNull())
    .execute()
}
