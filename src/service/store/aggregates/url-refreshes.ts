// Reads and writes the URLs from which grids are refreshed.
import type { Selectable } from 'kysely'
import type { FileKey } from '../schema/file-key.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { createRevision, FROM_URL, listIdsIn } from './derivations.ts'

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

  /** Lists the grids of an owner that are refreshed from a URL, by id. */
  listIds(owner: string, limit: number): Promise<number[]> {
    return listIdsIn(this.db, 'url_refreshes', owner, limit)
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
    await this.setFile(row, { derived: FROM_URL, stale_since: null })
  }

  /** Changes a row, unless its URL was changed meanwhile. */
  async change(row: UrlRefreshRow, fields: Partial<UrlRefreshRow>): Promise<void> {
    const { owner, idlocal, revision } = row
    const { numUpdatedRows } = await this.db
      .updateTable('url_refreshes')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal, revision }))
      .executeTakeFirst()
    const { failed_at = row.failed_at } = fields
    if (failed_at !== row.failed_at && numUpdatedRows > 0n)
      await this.setFile({ owner, idlocal }, { stale_since: failed_at })
  }

  async remove({ owner, idlocal }: FileKey): Promise<void> {
    const { numDeletedRows } = await this.db
      .deleteFrom('url_refreshes')
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirst()
    if (numDeletedRows > 0n) await this.setFile({ owner, idlocal }, { derived: 0, stale_since: null })
  }

  private async setFile(
    { owner, idlocal }: FileKey,
    fields: { derived?: 0 | typeof FROM_URL; stale_since: number | null },
  ): Promise<void> {
    await this.db
      .updateTable('files')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }
}
