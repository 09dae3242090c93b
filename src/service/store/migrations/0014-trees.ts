// Migration: trash state is inherited from folders. A job copies it to `hidden`; `trashed_with` is unused.
import { type Kysely, sql } from 'kysely'
import type { Types } from '../engines/engine.ts'

/** Tables that this migration reads or writes, in their state after it. */
interface Tables {
  files: {
    owner: string
    idlocal: number
    parent: number
    filetype: string
    filename: string
    live_name: string | null
    trashed_at: number | null
    trashed_with: number | null
    hidden: number
  }
}

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  const { schema } = db
  await schema
    .alterTable('files')
    .addColumn('hidden', int, (c) => c.notNull().defaultTo(0))
    .execute()
  await schema.alterTable('files').addColumn('removed_at', int).execute()
  await schema
    .createTable('marks')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('folder', int, (c) => c.notNull())
    .addColumn('done', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('marks_pk', ['owner', 'folder'])
    .execute()
  await schema
    .createTable('jobs')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('due', int, (c) => c.notNull())
    .addColumn('holder', text)
    .addColumn('held_until', int, (c) => c.notNull())
    .addColumn('fence', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('jobs_pk', ['owner', 'kind', 'key'])
    .execute()
  await schema.createIndex('jobs_due').on('jobs').column('due').execute()
  await sql`insert into jobs (owner, kind, key, due, held_until, fence)
    select '', 'sweep', '', done_at + 86400000, 0, 0 from chores where name = 'sweep'`.execute(db)
  await hideTrashed(db as Kysely<Tables>)
  await schema.dropIndex('files_trashed').execute()
}

/**
 * Sets `hidden` below trashed folders. Files that are in no trashed folder any more stay trashed themselves.
 */
async function hideTrashed(db: Kysely<Tables>): Promise<void> {
  const owners = await db
    .selectFrom('files')
    .select('owner')
    .distinct()
    .where('trashed_with', 'is not', null)
    .execute()
  for (const { owner } of owners) {
    const below = sql<number>`with recursive below(idlocal) as (
      select idlocal from files where owner = ${owner} and filetype = 'fold' and trashed_at is not null and trashed_with is null
      union select f.idlocal from files f join below on f.parent = below.idlocal where f.owner = ${owner} and f.filetype = 'fold'
    ) select idlocal from below`
    await db
      .updateTable('files')
      .set({ hidden: 1 })
      .where('owner', '=', owner)
      .where('parent', 'in', sql<number>`(${below})`)
      .execute()
    // Of several files with one name in a folder, the first is restored to it; the others stay trashed
    // themselves.
    await sql`update files set trashed_at = null, live_name = filename where owner = ${owner} and hidden = 1
      and trashed_with is not null and filetype <> 'extra' and idlocal in (
        select min(idlocal) from files where owner = ${owner} and hidden = 1 and trashed_with is not null
        and filetype <> 'extra' group by parent, filename)`.execute(db)
  }
  await db.updateTable('files').set({ trashed_with: null }).where('trashed_with', 'is not', null).execute()
}
