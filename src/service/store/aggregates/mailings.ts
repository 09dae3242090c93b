// Reads and writes the charts and boards that are sent regularly.
import type { Selectable } from 'kysely'
import type { Db, Schema } from '../schema/schema.ts'

export type MailingRow = Selectable<Schema['mailings']>

export class MailingReader {
  constructor(protected readonly db: Db) {}

  get(owner: string, id: string): Promise<MailingRow | undefined> {
    return this.db
      .selectFrom('mailings')
      .selectAll()
      .where(({ and }) => and({ owner, id }))
      .executeTakeFirst()
  }

  /** Lists the mailings of a user, by time of creation. */
  list(owner: string, limit: number): Promise<MailingRow[]> {
    return this.db
      .selectFrom('mailings')
      .selectAll()
      .where('owner', '=', owner)
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit)
      .execute()
  }
}

export class MailingWriter extends MailingReader {
  async add(row: MailingRow): Promise<void> {
    await this.db.insertInto('mailings').values(row).execute()
  }

  async change({ owner, id }: MailingRow, fields: Partial<MailingRow>): Promise<void> {
    await this.db
      .updateTable('mailings')
      .set(fields)
      .where(({ and }) => and({ owner, id }))
      .execute()
  }

  /** Removes a mailing. Returns whether it existed. */
  async remove(owner: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.db
      .deleteFrom('mailings')
      .where(({ and }) => and({ owner, id }))
      .executeTakeFirst()
    return numDeletedRows > 0n
  }
}
