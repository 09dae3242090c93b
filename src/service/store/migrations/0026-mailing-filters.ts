// Migration: boards that are sent with filters.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up({ schema }: Kysely<unknown>, { text }: Types): Promise<void> {
  await schema
    .alterTable('mailings')
    .addColumn('filters', text, (c) => c.notNull().defaultTo(''))
    .execute()
}
