// Migration: nobody writes to grids that are refreshed from a URL.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`update files set derived = 2 where exists
    (select 1 from url_refreshes r where r.owner = files.owner and r.idlocal = files.idlocal)`.execute(db)
}
