// Audit log: changes of access, and deletions.
import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Limits } from '../../../contract/limits.ts'
import type { Engine } from '../engines/engine.ts'
import { createInserter } from '../schema/insert-rows.ts'
import { inBatches } from '../schema/row-groups.ts'
import type { Db, Schema } from '../schema/schema.ts'

/** Audited events: changes of access, and deletions. */
export const AUDIT_EVENTS = [
  'file.publish',
  'file.unpublish',
  'file.link.create',
  'file.link.remove',
  'file.items.share',
  'file.items.unshare',
  'file.share',
  'file.unshare',
  'file.move',
  'file.trash',
  'file.restore',
  'file.delete',
  'file.copy',
  'version.keep',
  'version.release',
  'version.forget',
  'draft.share',
  'draft.delete',
  'key.create',
  'key.revoke',
  'session.open',
  'session.close',
  'team.create',
  'team.delete',
  'team.member.add',
  'team.member.remove',
  'trust.add',
  'trust.remove',
  'user.create',
  'user.identity',
  'user.unlink',
  'user.email',
  'user.rename',
  'user.disable',
  'user.enable',
  'user.quota',
  'user.delete',
] as const

export type AuditEventName = (typeof AUDIT_EVENTS)[number]

/** The author of changes. */
export interface Actor {
  /** The username; null for an operator, and for the server itself. */
  user: string | null
  request_id?: string
  address?: string
  /** Message of the versions that the changes create, as written by the user. */
  message?: string
}

export interface AuditEvent {
  /** Owner of the affected files or keys. */
  owner: string
  event: AuditEventName
  fid?: string
  details?: Record<string, string | number | boolean | null>
}

export type AuditRow = Selectable<Schema['audit']>

/** Collects the events of one transaction, which stores them with its changes. */
export class Journal {
  readonly events: AuditEvent[] = []

  add(event: AuditEvent): void {
    this.events.push(event)
  }

  /** Adds an event that is about no file. */
  record(owner: string, event: AuditEventName, details: AuditEvent['details'] = {}): void {
    this.add({ owner, event, details })
  }
}

export class AuditReader {
  constructor(protected readonly db: Db) {}

  /** Lists events, latest first. `before`: only events before this one. */
  listEvents(
    filter: { owner?: string; actor?: string; event?: string; fid?: string; since?: number },
    before: Pick<AuditRow, 'at' | 'owner' | 'id'> | undefined,
    limit: number,
  ): Promise<AuditRow[]> {
    let select = this.db
      .selectFrom('audit')
      .selectAll()
      .orderBy('at', 'desc')
      .orderBy('owner', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
    for (const field of ['owner', 'actor', 'fid'] as const) {
      const value = filter[field]
      if (value !== undefined) select = select.where(field, '=', value)
    }
    const { event, since } = filter
    // `file` matches all events `file.*`.
    if (event !== undefined)
      select = select.where(({ or, eb }) =>
        or([eb('event', '=', event), eb('event', 'like', `${event.replace(/[%_\\]/g, '')}.%`)]),
      )
    if (since !== undefined) select = select.where('at', '>=', since)
    if (before)
      select = select.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('at', 'owner', 'id'), '<', tuple(before.at, before.owner, before.id)),
      )
    return select.execute()
  }
}

const insertEvents = createInserter('audit')

export class AuditWriter extends AuditReader {
  /** Stores the events of a transaction. Returns the rows. */
  async record(events: readonly AuditEvent[], actor: Actor): Promise<AuditRow[]> {
    const rows = events.map(({ owner, event, fid = null, details = {} }) => ({
      owner,
      at: nextTimestamp(),
      id: randomBytes(6).toString('hex'),
      event,
      actor: actor.user,
      fid,
      details: JSON.stringify(details),
      request_id: actor.request_id ?? null,
      address: actor.address ?? null,
    }))
    await insertEvents(this.db, rows)
    return rows
  }
}

let lastTimestamp = 0

/** Returns the current time in ms, but at least 1 ms later for each event of this process. */
function nextTimestamp(): number {
  lastTimestamp = Math.max(lastTimestamp + 1, Date.now())
  return lastTimestamp
}

const BATCH_ROWS = 500
const BATCH_DELETED_ROWS = 5_000

/** Deletes events older than limit `audit_days`, in batches. */
export async function expireAudit(engine: Engine, { audit_days }: Limits): Promise<void> {
  const before = Date.now() - audit_days * 86_400_000
  for (let removed = BATCH_DELETED_ROWS; removed === BATCH_DELETED_ROWS; )
    removed = await engine.write([], async (db) => {
      const expired = await db
        .selectFrom('audit')
        .select(['owner', 'at', 'id'])
        .where('at', '<', before)
        .orderBy('at')
        .limit(BATCH_DELETED_ROWS)
        .execute()
      if (expired.length === 0) return 0
      for (const batch of inBatches(expired, BATCH_ROWS))
        await db
          .deleteFrom('audit')
          .where(({ eb, refTuple, tuple }) =>
            eb(
              refTuple('owner', 'at', 'id'),
              'in',
              batch.map(({ owner, at, id }) => tuple(owner, at, id)),
            ),
          )
          .execute()
      return expired.length
    })
}
