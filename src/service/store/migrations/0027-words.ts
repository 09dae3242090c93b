// Migration: words of names, for searches in many files. A job adds those of earlier files.
import { type Kysely, sql } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema
    .createTable('file_words')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('word', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('file_words_pk', ['owner', 'idlocal', 'word'])
    .execute()
  await sql`create index file_words_word on file_words (owner, word, idlocal)`.execute(db)
  await sql`insert into jobs (owner, kind, key, due, holder, held_until, fence)
    select owner, 'words', '', 0, null, 0, 0 from counters where next_idlocal >= 500`.execute(db)
}
