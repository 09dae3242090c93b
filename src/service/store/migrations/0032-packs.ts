// Migration: small slices of several columns share a blob.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { int }: Types): Promise<void> {
  for (const table of ['slices', 'past_slices'])
    await db.schema.alterTable(table).addColumn('pack_offset', int).execute()
}
