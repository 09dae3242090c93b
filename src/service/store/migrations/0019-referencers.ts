// Migration: references under the owner of the file that is referred to, for lookups on one node.
import { type Kysely, sql } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  const { schema } = db
  await schema
    .createTable('referencers')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('by_owner', text, (c) => c.notNull())
    .addColumn('by_idlocal', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('referencers_pk', ['owner', 'idlocal', 'by_owner', 'by_idlocal'])
    .execute()
  await sql`insert into referencers (owner, idlocal, kind, by_owner, by_idlocal)
    select to_owner, to_idlocal, kind, owner, idlocal from "references"`.execute(db)
  await schema.dropIndex('references_to').execute()
  // New bytes have one location, even if two servers choose one at the same time.
  await sql`create unique index blob_stores_current on blob_stores (is_current) where is_current = 1`.execute(
    db,
  )
}
