import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

/** The checks of a grid: what every write is checked for. */
export async function up(db: Kysely<unknown>, { text }: Types): Promise<void> {
  await db.schema.alterTable('grids').addColumn('checks', text).execute()
}
