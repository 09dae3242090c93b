// Reads and writes the URLs from which grids are refreshed.
import type { Selectable } from 'kysely'
import type { FileKey } from '../schema/file-key.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { createRevision } from './derivations.ts'

export type UrlRefreshRow = Selectable<Schema['url_refreshes']>

export class UrlRefreshReader {
  constructor(protected readonly db: Db) {}

  get(owner: string, idlocal: number): Promise<UrlRefreshRow | undefined> {
    return this.db
      .selectFrom('url_refreshes')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirst()
  }
}

export class UrlRefreshWriter extends UrlRefreshReader {
  /** Sets the URL of a grid, whose content was just fetched from it. */
  async put(row: Omit<UrlRefreshRow, 'revision' | 'refreshed_at' | 'error' | 'failed_at'>): Promise<void> {
    await this.remove(row)
    await this.db
      .insertInto('url_refreshes')
      .values({
        ...row,
        revision: createRevision(),
        refreshed_at: Date.now(),
        error: null,
        failed_at: null,
      })
      .execute()
  }

  /** Changes a row, unless its URL was changed meanwhile. */
  async change({ owner, idlocal, revision }: UrlRefreshRow, fields: Partial<UrlRefreshRow>): Promise<void> {
    await this.db
      .updateTable('url_refreshes')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal, revision }))
      .execute()
  }

  async remove({ owner, idlocal }: FileKey): Promise<void> {
    await this.db
      .deleteFrom('url_refreshes')
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }
}
