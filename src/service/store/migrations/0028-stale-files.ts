// Migration: since when the refreshes of a file fail, beside the file.
import { type Kysely, sql } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { int }: Types): Promise<void> {
  await db.schema.alterTable('files').addColumn('stale_since', int).execute()
  for (const table of ['derivations', 'url_refreshes'])
    await sql`update files set stale_since =
      (select r.failed_at from ${sql.table(table)} r where r.owner = files.owner and r.idlocal = files.idlocal)
      where exists (select 1 from ${sql.table(table)} r
        where r.owner = files.owner and r.idlocal = files.idlocal and r.failed_at is not null)`.execute(db)
}
