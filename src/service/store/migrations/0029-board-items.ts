// Migration: boards refer to the files that they show. Jobs add the references of earlier boards.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`insert into jobs (owner, kind, key, due, holder, held_until, fence)
    select owner, 'items', cast(idlocal as varchar(20)), 0, null, 0, 0 from files where filetype = 'dashboard'`.execute(
    db,
  )
}
