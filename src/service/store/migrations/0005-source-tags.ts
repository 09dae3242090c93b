// Migration: the client's tag for the source of a grid, valid for one version of the file.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema.alterTable('files').addColumn('source_tag', text).execute()
  await db.schema.alterTable('files').addColumn('source_version', int).execute()
}
