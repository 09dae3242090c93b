// Migration: plots, extras, trashed folders, collaborators, teams, stars, the feed of public plots.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, types: Types): Promise<void> {
  const { text, int } = types
  const { schema } = db
  await schema.alterTable('files').addColumn('trashed_with', int).execute()
  await schema.alterTable('files').addColumn('is_theme', int).execute()
  await schema.alterTable('files').addColumn('is_template', int).execute()
  await schema.createIndex('files_trashed').on('files').columns(['owner', 'trashed_with']).execute()
  // Indexes for lists over all owners: newest and most viewed public files.
  await schema
    .createIndex('files_newest')
    .on('files')
    .columns(['filetype', 'world_readable', 'creation_time', 'owner', 'idlocal'])
    .execute()
  await schema
    .createIndex('files_viewed')
    .on('files')
    .columns(['filetype', 'world_readable', 'views', 'owner', 'idlocal'])
    .execute()
  await schema.createIndex('files_source').on('files').columns(['source_fid', 'owner', 'idlocal']).execute()
  await schema
    .createTable('contents')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('hash', text, (c) => c.notNull())
    .addColumn('bytes', int, (c) => c.notNull())
    .addColumn('media_type', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('contents_pk', ['owner', 'idlocal'])
    .execute()
  await schema.createIndex('contents_hash').on('contents').column('hash').execute()
  await schema
    .createTable('plots')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('quality', int, (c) => c.notNull())
    .addColumn('picked_at', int)
    .addPrimaryKeyConstraint('plots_pk', ['owner', 'idlocal'])
    .execute()
  await schema.createIndex('plots_picked').on('plots').column('picked_at').execute()
  await schema
    .createTable('references')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('to_owner', text, (c) => c.notNull())
    .addColumn('to_idlocal', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('references_pk', ['owner', 'idlocal', 'to_owner', 'to_idlocal'])
    .execute()
  await schema
    .createIndex('references_to')
    .on('references')
    .columns(['to_owner', 'to_idlocal', 'owner', 'idlocal'])
    .execute()
  await schema
    .createTable('collaborators')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('may_write', int, (c) => c.notNull())
    .addColumn('added_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('collaborators_pk', ['owner', 'idlocal', 'kind', 'name'])
    .execute()
  await schema
    .createIndex('collaborators_name')
    .on('collaborators')
    .columns(['kind', 'name', 'owner', 'idlocal'])
    .execute()
  await schema
    .createTable('stars')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('username', text, (c) => c.notNull())
    .addColumn('starred_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('stars_pk', ['owner', 'idlocal', 'username'])
    .execute()
  await schema.createIndex('stars_by').on('stars').columns(['username', 'owner', 'idlocal']).execute()
  await schema
    .createTable('teams')
    .addColumn('name_key', text, (c) => c.primaryKey())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .execute()
  await schema.createIndex('teams_owner').on('teams').column('owner').execute()
  await schema
    .createTable('team_members')
    .addColumn('team', text, (c) => c.notNull())
    .addColumn('username', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('team_members_pk', ['team', 'username'])
    .execute()
  await schema.createIndex('team_members_of').on('team_members').columns(['username', 'team']).execute()
  await schema
    .createTable('secrets')
    .addColumn('name', text, (c) => c.primaryKey())
    .addColumn('value', text, (c) => c.notNull())
    .execute()
  await schema.createIndex('users_email').on('users').column('email').execute()
}
