// Migration: the layout lock of a grid, for which appends of other servers wait.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema.alterTable('grids').addColumn('held_by', text).execute()
  await db.schema
    .alterTable('grids')
    .addColumn('held_until', int, (c) => c.notNull().defaultTo(0))
    .execute()
}
