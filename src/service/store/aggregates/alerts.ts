// Reads and writes alerts, and the messages that are still to be sent.
import type { Selectable } from 'kysely'
import type { FileKey } from '../schema/file-key.ts'
import type { Db, Schema } from '../schema/schema.ts'

export type AlertRow = Selectable<Schema['alerts']>
export type AlertMessageRow = Selectable<Schema['alert_messages']>
/** Result of evaluating a condition on a content. */
export type Judgement = Pick<AlertRow, 'why' | 'value' | 'condition'> & {
  judged: NonNullable<AlertRow['judged']>
}

/** Key of an alert. */
export type AlertKey = Pick<AlertRow, 'owner' | 'idlocal' | 'id'>

/** Reads alerts, and the messages that are still to be sent. */
export class AlertReader {
  constructor(protected readonly db: Db) {}

  /** Lists the alerts of a grid, by time of creation. */
  list({ owner, idlocal }: FileKey): Promise<AlertRow[]> {
    return this.db
      .selectFrom('alerts')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
      .orderBy('created_at')
      .orderBy('id')
      .execute()
  }

  /** Lists the alerts of an owner, by grid and time of creation. */
  listAll(owner: string, limit: number): Promise<AlertRow[]> {
    return this.db
      .selectFrom('alerts')
      .selectAll()
      .where('owner', '=', owner)
      .orderBy('idlocal')
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit)
      .execute()
  }

  get({ owner, idlocal, id }: AlertKey): Promise<AlertRow | undefined> {
    return this.db
      .selectFrom('alerts')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal, id }))
      .executeTakeFirst()
  }

  /** Finds an alert of an owner by its id. */
  find(owner: string, id: string): Promise<AlertRow | undefined> {
    return this.db
      .selectFrom('alerts')
      .selectAll()
      .where(({ and }) => and({ owner, id }))
      .executeTakeFirst()
  }

  /** Returns the next message that is to be sent. */
  findMessage({ owner, idlocal, id }: AlertKey): Promise<AlertMessageRow | undefined> {
    return this.db
      .selectFrom('alert_messages')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal, alert: id }))
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst()
  }

  /** Returns whether there are any alerts. */
  async hasAny(): Promise<boolean> {
    return (await this.db.selectFrom('alerts').select('id').limit(1).executeTakeFirst()) !== undefined
  }
}

export class AlertWriter extends AlertReader {
  async add(row: AlertRow): Promise<void> {
    await this.db.insertInto('alerts').values(row).execute()
    await this.setFlags(row, 1)
  }

  async change({ owner, idlocal, id }: AlertKey, fields: Partial<AlertRow>): Promise<void> {
    await this.db
      .updateTable('alerts')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal, id }))
      .execute()
  }

  /** Deletes the messages of an alert that are still to be sent. */
  async deleteMessages({ owner, idlocal, id }: AlertKey): Promise<void> {
    await this.db
      .deleteFrom('alert_messages')
      .where(({ and }) => and({ owner, idlocal, alert: id }))
      .execute()
  }

  /** Removes an alert and its messages. Returns whether it existed. */
  async remove({ owner, idlocal, id }: AlertKey): Promise<boolean> {
    await this.deleteMessages({ owner, idlocal, id })
    const { numDeletedRows } = await this.db
      .deleteFrom('alerts')
      .where(({ and }) => and({ owner, idlocal, id }))
      .executeTakeFirst()
    if ((await this.list({ owner, idlocal })).length === 0) await this.setFlags({ owner, idlocal }, 0)
    return numDeletedRows > 0n
  }

  async addMessage(row: AlertMessageRow): Promise<void> {
    await this.db.insertInto('alert_messages').values(row).execute()
  }

  async changeMessage(
    { owner, idlocal, alert, seq }: AlertMessageRow,
    fields: Partial<AlertMessageRow>,
  ): Promise<void> {
    await this.db
      .updateTable('alert_messages')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal, alert, seq }))
      .execute()
  }

  async deleteMessage({ owner, idlocal, alert, seq }: AlertMessageRow): Promise<void> {
    await this.db
      .deleteFrom('alert_messages')
      .where(({ and }) => and({ owner, idlocal, alert, seq }))
      .execute()
  }

  /** Records whether a grid has alerts, so that writes judge them. A change of the file also schedules a look at them. */
  private async setFlags({ owner, idlocal }: FileKey, value: 0 | 1): Promise<void> {
    await this.db
      .updateTable('grids')
      .set({ has_alerts: value })
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
    // The job of the last change clears the other flag.
    if (value === 1)
      await this.db
        .updateTable('files')
        .set({ feeds: 1 })
        .where(({ and }) => and({ owner, idlocal }))
        .execute()
  }
}
