// Migration: public boards in order of creation, for the start page.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index files_newest_boards on files (creation_time, owner, idlocal)
    where filetype = 'dashboard' and world_readable = 1 and trashed_at is null and hidden = 0`.execute(db)
}
