import { Problem } from '../../contract/errors.ts'
import type { Db } from './schema.ts'

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
  /** The same of bytes that stream in; undefined until all have come, and where there are none. */
  bodySum?: string
}

/** As the fingerprint of a write is kept. */
export function kept({ fingerprint, bodySum }: WriteKey): string {
  return bodySum === undefined ? fingerprint : `${fingerprint} ${bodySum}`
}

/** Whether a key was used for this very write. As long as its bytes are coming in, they are not compared. */
export function sameRequest(write: WriteKey, before: Pick<WriteKey, 'operation' | 'fingerprint'>): boolean {
  const [fingerprint, bodySum] = before.fingerprint.split(' ')
  return (
    write.operation === before.operation &&
    write.fingerprint === fingerprint &&
    (write.bodySum === undefined || bodySum === undefined || write.bodySum === bodySum)
  )
}

export function otherRequest(): Problem {
  return new Problem('idempotency_mismatch', 'this Idempotency-Key was used for another request', {
    hint: 'Use a new key for every new request.',
  })
}

/** What keyed writes came to, kept in the transaction of the write. */
export class IdempotencyReader {
  constructor(protected readonly db: Db) {}

  /** What the write came to if it has been made before. */
  async find(write: WriteKey): Promise<{ result: unknown } | undefined> {
    const [result] = await this.findAll([write])
    if (result instanceof Problem) throw result
    return result === undefined ? undefined : { result }
  }

  /** The same for several writes on one owner's files; undefined where a write is new, a Problem where it is another. */
  async findAll(writes: readonly WriteKey[], now = Date.now()): Promise<unknown[]> {
    const keys = writes.flatMap(({ key }) => (key === undefined ? [] : [key]))
    if (keys.length === 0) return writes.map(() => undefined)
    const rows = await this.db
      .selectFrom('idempotency')
      .selectAll()
      .where('owner', '=', writes[0].owner)
      .where('key', 'in', keys)
      .where('created_at', '>=', now - KEY_LIFETIME)
      .execute()
    if (rows.length === 0) return writes.map(() => undefined)
    return writes.map((write) => {
      const row = rows.find(({ caller, key }) => caller === write.caller && key === write.key)
      if (!row) return undefined
      if (!sameRequest(write, row)) return otherRequest()
      return JSON.parse(row.result)
    })
  }
}

export class IdempotencyWriter extends IdempotencyReader {
  async record(writes: { write: WriteKey; result: unknown }[], now = Date.now()): Promise<void> {
    const rows = writes.flatMap(({ write: { key, ...write }, result }) =>
      key === undefined
        ? []
        : [
            {
              owner: write.owner,
              caller: write.caller,
              operation: write.operation,
              fingerprint: kept({ ...write, key }),
              key,
              result: JSON.stringify(result),
              created_at: now,
            },
          ],
    )
    if (rows.length === 0) return
    await this.db
      .insertInto('idempotency')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['owner', 'key', 'caller']).doUpdateSet(({ ref }) => ({
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
    await this.db
      .deleteFrom('idempotency')
      .where('created_at', '<', now - KEY_LIFETIME)
      .execute()
  }
}
