import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

/** Why a version was made, in the words of who made it. */
export async function up(db: Kysely<unknown>, { text }: Types): Promise<void> {
  await db.schema.alterTable('versions').addColumn('message', text).execute()
}
