import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

/** The key of a grid: columns by which its rows are found. */
export async function up(db: Kysely<unknown>, { text }: Types): Promise<void> {
  await db.schema.alterTable('grids').addColumn('primary_key', text).execute()
}
