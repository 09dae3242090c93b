// Migration: charts and boards that are sent regularly.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up({ schema }: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await schema
    .createTable('mailings')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('id', text, (c) => c.notNull())
    .addColumn('to_owner', text, (c) => c.notNull())
    .addColumn('to_idlocal', int, (c) => c.notNull())
    .addColumn('receivers', text, (c) => c.notNull())
    .addColumn('every', text, (c) => c.notNull())
    .addColumn('at', text, (c) => c.notNull())
    .addColumn('day', int)
    .addColumn('zone', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .addColumn('pending', text)
    .addColumn('next_at', int, (c) => c.notNull())
    .addColumn('sent_at', int)
    .addColumn('error', text)
    .addColumn('failed_at', int)
    .addPrimaryKeyConstraint('mailings_pk', ['owner', 'id'])
    .execute()
}
