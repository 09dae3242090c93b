// Migration: alerts on grids, and the messages that are still to be sent.
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'

export async function up(db: Kysely<unknown>, { text, int }: Types): Promise<void> {
  const { schema } = db
  await schema
    .alterTable('grids')
    .addColumn('has_alerts', int, (c) => c.notNull().defaultTo(0))
    .execute()
  await schema
    .createTable('alerts')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('id', text, (c) => c.notNull())
    .addColumn('condition', text, (c) => c.notNull())
    .addColumn('receiver', text, (c) => c.notNull())
    .addColumn('secret', text)
    .addColumn('created_at', int, (c) => c.notNull())
    .addColumn('judged', text)
    .addColumn('why', text, (c) => c.notNull())
    .addColumn('value', text)
    .addColumn('changed_at', int, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('reason', text, (c) => c.notNull())
    .addColumn('since', int, (c) => c.notNull())
    .addColumn('last_seq', int, (c) => c.notNull())
    .addColumn('hour', int, (c) => c.notNull())
    .addColumn('hour_messages', int, (c) => c.notNull())
    .addColumn('unsent', int, (c) => c.notNull())
    .addColumn('error', text)
    .addColumn('failed_at', int)
    .addPrimaryKeyConstraint('alerts_pk', ['owner', 'idlocal', 'id'])
    .execute()
  await schema
    .createTable('alert_messages')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idlocal', int, (c) => c.notNull())
    .addColumn('alert', text, (c) => c.notNull())
    .addColumn('seq', int, (c) => c.notNull())
    .addColumn('at', int, (c) => c.notNull())
    .addColumn('body', text, (c) => c.notNull())
    .addColumn('attempts', int, (c) => c.notNull())
    .addColumn('next_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('alert_messages_pk', ['owner', 'idlocal', 'alert', 'seq'])
    .execute()
}
