import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

/** What clients say a grid was made from, valid for one version of the file. */
export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  await db.schema.alterTable('files').addColumn('source_tag', text).execute()
  await db.schema.alterTable('files').addColumn('source_version', int).execute()
}
