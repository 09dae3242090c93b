// Migration: users disabled by an operator. Their keys and sessions do not work.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { int }: Types): Promise<void> {
  await db.schema.alterTable('users').addColumn('disabled_at', int).execute()
}
