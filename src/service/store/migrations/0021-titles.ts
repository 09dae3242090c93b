// Migration: titles of charts, for searches. Those of earlier charts are unknown until their figure is changed.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text }: Types): Promise<void> {
  await db.schema.alterTable('plots').addColumn('title', text).execute()
}
