// Migration: boards whose readers see all items.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { int }: Types): Promise<void> {
  await db.schema
    .alterTable('files')
    .addColumn('share_items', int, (c) => c.notNull().defaultTo(0))
    .execute()
}
