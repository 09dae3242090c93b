import type { Db } from './schema.ts'
import { Problem } from '../../contract/errors.ts'

/** How long a key is remembered: promise 2 of the design. */
export const KEY_LIFETIME = 24 * 3600 * 1000

/** Names one write of one caller, so that its retries apply once. */
export interface WriteKey {
  /** Whose files the write changes. */
  owner: string
  caller: string
  /** As the caller sent it; undefined where none was. */
  key: string | undefined
  operation: string
  /** Says whether a second request with the key is the same one. */
  fingerprint: string
}

/** What keyed writes came to, kept in the transaction of the write. */
export class IdempotencyWriter {
  constructor(private readonly db: Db) {}

  /** What the write came to if it has been made before. */
  async find(write: WriteKey, now = Date.now()): Promise<{ result: unknown } | undefined> {
    if (write.key === undefined) return undefined
    const row = await this.db
      .selectFrom('idempotency')
      .selectAll()
      .where('owner', '=', write.owner)
      .where('caller', '=', write.caller)
      .where('key', '=', write.key)
      .executeTakeFirst()
    if (!row || row.created_at < now - KEY_LIFETIME) return undefined
    if (row.operation !== write.operation || row.fingerprint !== write.fingerprint) {
      throw new Problem('idempotency_mismatch', 'this Idempotency-Key was used for another request', {
        hint: 'Use a new key for every new request.',
      })
    }
    return { result: JSON.parse(row.result) }
  }

  async record(writes: { write: WriteKey; result: unknown }[], now = Date.now()): Promise<void> {
    const rows = writes.flatMap(({ write: { key, ...write }, result }) =>
      key === undefined ? [] : [{ ...write, key, result: JSON.stringify(result), created_at: now }],
    )
    if (rows.length === 0) return
    await this.db
      .insertInto('idempotency')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['owner', 'caller', 'key']).doUpdateSet(({ ref }) => ({
          operation: ref('excluded.operation'),
          fingerprint: ref('excluded.fingerprint'),
          result: ref('excluded.result'),
          created_at: ref('excluded.created_at'),
        })),
      )
      .execute()
  }

  /** Forgets keys past their time. */
  async expire(now = Date.now()): Promise<void> {
    await this.db.deleteFrom('idempotency').where('created_at', '<', now - KEY_LIFETIME).execute()
  }
}
