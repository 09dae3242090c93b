import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

/** Who changes the columns of a grid, while appends of other servers wait. */
export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema.alterTable('grids').addColumn('held_by', text).execute()
  await db.schema
    .alterTable('grids')
    .addColumn('held_until', int, (c) => c.notNull().defaultTo(0))
    .execute()
}
