// Migration: an index for every list, and counts of files, so that lists read only what they show.
import { type Kysely, sql } from 'kysely'
import type { Types } from '../engines/engine.ts'

const INDEXES = [
  // One folder: by name (with `files_name`), by type and name, by date. Other users see only public files.
  'files_in_by_type on files (owner, parent, filetype, filename, idlocal) where trashed_at is null',
  'files_in_by_date on files (owner, parent, date_modified, idlocal) where trashed_at is null and appending = 0',
  'files_public_in_by_name on files (owner, parent, filename, idlocal) where trashed_at is null and world_readable = 1',
  'files_public_in_by_date on files (owner, parent, date_modified, idlocal) where trashed_at is null and appending = 0 and world_readable = 1',
  // All folders that are not trashed.
  'files_by_name on files (owner, filename, idlocal) where trashed_at is null and hidden = 0',
  'files_by_type on files (owner, filetype, filename, idlocal) where trashed_at is null and hidden = 0',
  'files_by_date on files (owner, date_modified, idlocal) where trashed_at is null and hidden = 0 and appending = 0',
  'files_public_by_name on files (owner, filename, idlocal) where trashed_at is null and hidden = 0 and world_readable = 1',
  'files_public_by_date on files (owner, date_modified, idlocal) where trashed_at is null and hidden = 0 and appending = 0 and world_readable = 1',
  // Files being appended to, and files below trashed folders.
  'files_appending on files (owner, idlocal) where appending = 1',
  'files_hidden on files (owner, filename, idlocal) where trashed_at is null and hidden = 1',
  'files_trashed on files (owner, filename, idlocal) where trashed_at is not null',
  // Public plots of all owners.
  "files_newest on files (creation_time, owner, idlocal) where filetype = 'plot' and world_readable = 1 and trashed_at is null and hidden = 0",
  "files_viewed on files (views, owner, idlocal) where filetype = 'plot' and world_readable = 1 and trashed_at is null and hidden = 0",
  "files_best_newest on files (quality, creation_time, owner, idlocal) where filetype = 'plot' and world_readable = 1 and trashed_at is null and hidden = 0",
  "files_best_viewed on files (quality, views, owner, idlocal) where filetype = 'plot' and world_readable = 1 and trashed_at is null and hidden = 0",
  'files_source on files (source_fid, owner, idlocal) where source_fid is not null',
  // Files shared with a grantee.
  'collaborators_in on collaborators (owner, kind, name, parent, filename, idlocal, filetype, world_readable) where filename is not null',
  'collaborators_all on collaborators (owner, kind, name, filename, idlocal, filetype, world_readable) where filename is not null and hidden = 0',
  "collaborators_folders on collaborators (owner, kind, name, idlocal) where filetype = 'fold'",
]

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  const { schema } = db
  await schema.alterTable('files').addColumn('quality', int).execute()
  await schema.alterTable('files').addColumn('appended_at', int).execute()
  for (const column of ['appending', 'starred', 'shared'])
    await schema
      .alterTable('files')
      .addColumn(column, int, (c) => c.notNull().defaultTo(0))
      .execute()
  for (const [column, table] of [
    ['starred', 'stars'],
    ['shared', 'collaborators'],
  ])
    await sql`update files set ${sql.ref(column)} = 1 where exists (select 1 from ${sql.table(table)} t
      where t.owner = files.owner and t.idlocal = files.idlocal)`.execute(db)
  await sql`update files set quality = coalesce((select quality from plots
    where plots.owner = files.owner and plots.idlocal = files.idlocal), 0) where filetype = 'plot'`.execute(
    db,
  )
  await schema.alterTable('collaborators').addColumn('filename', text).execute()
  await schema.alterTable('collaborators').addColumn('filetype', text).execute()
  await schema.alterTable('collaborators').addColumn('parent', int).execute()
  for (const column of ['hidden', 'world_readable'])
    await schema
      .alterTable('collaborators')
      .addColumn(column, int, (c) => c.notNull().defaultTo(0))
      .execute()
  for (const column of ['filetype', 'parent', 'hidden', 'world_readable'])
    await sql`update collaborators set ${sql.ref(column)} = coalesce((select ${sql.ref(column)} from files
      where files.owner = collaborators.owner and files.idlocal = collaborators.idlocal), ${
        column === 'hidden' || column === 'world_readable' ? sql`0` : sql`null`
      })`.execute(db)
  await sql`update collaborators set filename = (select filename from files where files.owner = collaborators.owner
    and files.idlocal = collaborators.idlocal and files.trashed_at is null)`.execute(db)
  for (const index of ['files_modified', 'files_newest', 'files_viewed', 'files_source'])
    await schema.dropIndex(index).execute()
  for (const index of INDEXES) await sql`create index ${sql.raw(index)}`.execute(db)
  await schema
    .createTable('file_counts')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('place', int, (c) => c.notNull())
    .addColumn('filetype', text, (c) => c.notNull())
    .addColumn('files', int, (c) => c.notNull())
    .addColumn('public_files', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('file_counts_pk', ['owner', 'place', 'filetype'])
    .execute()
  // Per folder; then per owner: not trashed, below a trashed folder, trashed.
  await sql`insert into file_counts (owner, place, filetype, files, public_files)
    select owner, parent, filetype, count(*), sum(world_readable) from files
      where trashed_at is null group by owner, parent, filetype
    union all select owner, case when hidden = 0 then -2 else -3 end, filetype, count(*), sum(world_readable) from files
      where trashed_at is null group by owner, case when hidden = 0 then -2 else -3 end, filetype
    union all select owner, -4, filetype, count(*), sum(world_readable) from files
      where trashed_at is not null group by owner, filetype`.execute(db)
}
