// Migration: derived grids, flags of files that are derived or feed others, and refreshes from URLs.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  const { schema } = db
  for (const flag of ['derived', 'feeds'])
    await schema
      .alterTable('files')
      .addColumn(flag, int, (c) => c.notNull().defaultTo(0))
      .execute()
  await schema
    .createTable('derivations')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('sql', text, (c) => c.notNull())
    .addColumn('parameters', text, (c) => c.notNull())
    .addColumn('revision', int, (c) => c.notNull())
    .addColumn('refreshed_at', int, (c) => c.notNull())
    .addColumn('tried_at', int, (c) => c.notNull())
    .addColumn('error', text)
    .addColumn('failed_at', int)
    .addPrimaryKeyConstraint('derivations_pk', ['owner', 'idlocal'])
    .execute()
  await schema
    .createTable('derivation_inputs')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('to_owner', text, (c) => c.notNull())
    .addColumn('to_idlocal', int, (c) => c.notNull())
    .addColumn('version', text)
    .addColumn('seen', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('derivation_inputs_pk', ['owner', 'idlocal', 'name'])
    .execute()
  await schema
    .createTable('url_refreshes')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('url', text, (c) => c.notNull())
    .addColumn('every', int, (c) => c.notNull())
    .addColumn('headers', text, (c) => c.notNull())
    .addColumn('etag', text)
    .addColumn('last_modified', text)
    .addColumn('revision', int, (c) => c.notNull())
    .addColumn('refreshed_at', int, (c) => c.notNull())
    .addColumn('error', text)
    .addColumn('failed_at', int)
    .addPrimaryKeyConstraint('url_refreshes_pk', ['owner', 'idlocal'])
    .execute()
}
