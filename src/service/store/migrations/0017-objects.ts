// Migration: objects belong to an owner, under keys that are never reused. Old ones keep their hash as key.
import { type Kysely, sql } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int, bytes }: Types): Promise<void> {
  const { schema } = db
  await schema
    .createTable('objects')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('hash', text, (c) => c.notNull())
    .addColumn('state', int, (c) => c.notNull())
    .addColumn('home', text, (c) => c.notNull())
    .addColumn('place', text, (c) => c.notNull())
    .addColumn('bytes', int, (c) => c.notNull())
    .addColumn('body', bytes)
    .addColumn('changed_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('objects_pk', ['owner', 'key'])
    .execute()
  await schema
    .createTable('blob_stores')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('address', text, (c) => c.notNull().unique())
    .addColumn('is_current', int, (c) => c.notNull())
    .execute()
  await sql`create unique index objects_live on objects (owner, hash) where state = 1`.execute(db)
  await sql`create index objects_key on objects (key)`.execute(db)
  await sql`alter table blob_pieces rename column hash to key`.execute(db)
  await schema
    .alterTable('blob_pieces')
    .addColumn('home', text, (c) => c.notNull().defaultTo(''))
    .execute()
  await sql`insert into objects (owner, key, hash, state, home, place, bytes, body, changed_at)
    select r.owner, r.hash, r.hash, 1, '', 'sql', 0, null, b.stored_at from (
      select owner, hash from slices union select owner, hash from contents
      union select owner, hash from past_slices union select owner, hash from versions where hash is not null
    ) as r join blobs b on b.hash = r.hash`.execute(db)
  await sql`delete from blob_pieces where not exists (select 1 from objects where objects.key = blob_pieces.key)`.execute(
    db,
  )
  await schema.dropTable('blobs').execute()
  // References are looked up within an owner.
  for (const table of ['slices', 'contents', 'past_slices', 'versions']) {
    await schema.dropIndex(`${table}_hash`).execute()
    await schema.createIndex(`${table}_hash`).on(table).columns(['owner', 'hash']).execute()
  }
}
