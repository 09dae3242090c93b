import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

/** Users whom an operator has disabled: their keys and sessions do not work. */
export async function up(db: Kysely<unknown>, { int }: Types): Promise<void> {
  await db.schema.alterTable('users').addColumn('disabled_at', int).execute()
}
