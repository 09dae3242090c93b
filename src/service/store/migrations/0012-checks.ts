// Migration: checks of grids.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text }: Types): Promise<void> {
  await db.schema.alterTable('grids').addColumn('checks', text).execute()
}
