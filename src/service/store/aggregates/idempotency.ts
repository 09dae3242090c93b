// Stores the results of writes with an idempotency key, so that a retry returns them.
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import type { Engine } from '../engines/engine.ts'
import { createInserter } from '../schema/insert-rows.ts'
import type { Db } from '../schema/schema.ts'

/** Lifetime of an idempotency key, in ms. See docs/api.md#idempotency. */
const KEY_LIFETIME_MS = 24 * 3600 * 1000

/** Identifies one write of one caller, so that a retry does not apply it again. */
export interface WriteKey {
  /** Owner of the files that the write changes. */
  owner: string
  caller: string
  /** The Idempotency-Key header; undefined if none was sent. */
  key: string | undefined
  operation: string
  /** Hash of the request, to detect that a key was reused for another one. */
  fingerprint: string
  /** Checksum of a streamed body; undefined without one, or before it has arrived. */
  bodySum?: string
}

/** Identifies the idempotency key of a caller, whose name has no space. */
export function callerKeyOf({ caller, key }: { caller: string; key: string | undefined }): string {
  return `${caller} ${key}`
}

/** Stored form: the fingerprint, then the body checksum if known. */
export function encodeFingerprint({ fingerprint, bodySum }: WriteKey): string {
  return bodySum === undefined ? fingerprint : `${fingerprint} ${bodySum}`
}

/**
 * Returns whether a stored key was used for the same request. A streamed body is compared after it has
 * arrived.
 */
export function isSameRequest(write: WriteKey, before: Pick<WriteKey, 'operation' | 'fingerprint'>): boolean {
  const [fingerprint, bodySum] = before.fingerprint.split(' ')
  return (
    write.operation === before.operation &&
    write.fingerprint === fingerprint &&
    (write.bodySum === undefined || bodySum === undefined || write.bodySum === bodySum)
  )
}

/** Creates the error for an idempotency key that was used for another request. */
export function reusedKeyError(): Problem {
  return new Problem('idempotency_mismatch', 'this Idempotency-Key was used for another request', {
    hint: 'Use a new key for every new request.',
  })
}

/** Stores results. A key that was used before the lifetime of keys is replaced. */
const insertResults = createInserter('idempotency', (query) =>
  query.onConflict((conflict) =>
    conflict.columns(['owner', 'key', 'caller']).doUpdateSet(({ ref }) => ({
      operation: ref('excluded.operation'),
      fingerprint: ref('excluded.fingerprint'),
      result: ref('excluded.result'),
      created_at: ref('excluded.created_at'),
    })),
  ),
)

/** Reads the results of writes with an idempotency key. */
export class IdempotencyReader {
  constructor(protected readonly db: Db) {}

  /** Returns the stored result; undefined for a new write. Throws if the key was used for another request. */
  async findResult<T>(write: WriteKey): Promise<{ result: T } | undefined> {
    const [result] = await this.findResults([write])
    if (result instanceof Problem) throw result
    return result === undefined ? undefined : { result: result as T }
  }

  /** Like `findResult`, for several writes on one owner's files. Per write: the result, undefined, or a Problem. */
  async findResults(writes: readonly WriteKey[], now = Date.now()): Promise<unknown[]> {
    const keys = writes.flatMap(({ key }) => (key === undefined ? [] : [key]))
    if (keys.length === 0) return writes.map(() => undefined)
    const rows = await this.db
      .selectFrom('idempotency')
      .selectAll()
      .where('owner', '=', writes[0].owner)
      .where('key', 'in', keys)
      .where('created_at', '>=', now - KEY_LIFETIME_MS)
      .execute()
    if (rows.length === 0) return writes.map(() => undefined)
    const rowsByKey = new Map(rows.map((row) => [callerKeyOf(row), row]))
    return writes.map((write) => {
      const row = write.key === undefined ? undefined : rowsByKey.get(callerKeyOf(write))
      if (!row) return undefined
      if (!isSameRequest(write, row)) return reusedKeyError()
      return JSON.parse(row.result)
    })
  }
}

export interface OnceOptions<T> {
  /** Checks a retry before it gets the stored result; may throw. */
  onReplay?: (result: T) => unknown
  /** Returns whether `work` changed anything. If not, no result is stored. Default: it did. */
  hasApplied?: (result: T) => boolean
  /** Other users whose rows `work` changes, or reads to decide on a change. */
  owners?: readonly string[]
}

export class IdempotencyWriter extends IdempotencyReader {
  /**
   * Runs `work` once per idempotency key, in the transaction of these writers. A retry gets the stored
   * result, which must be JSON; undefined is stored as null.
   */
  async runOnce<T>(write: WriteKey, work: () => Promise<T>, options: OnceOptions<T> = {}): Promise<T> {
    const before = await this.findResult<T>(write)
    if (before) {
      await options.onReplay?.(before.result)
      return before.result
    }
    const result = await work()
    if (options.hasApplied?.(result) ?? true) await this.recordResults([{ write, result: result ?? null }])
    return result
  }

  async recordResults(writes: { write: WriteKey; result: unknown }[], now = Date.now()): Promise<void> {
    const rows = []
    for (const { write, result } of writes) {
      const { owner, caller, operation, key } = write
      if (key === undefined) continue
      const fingerprint = encodeFingerprint(write)
      rows.push({
        owner,
        caller,
        operation,
        fingerprint,
        key,
        result: JSON.stringify(result),
        created_at: now,
      })
    }
    await insertResults(this.db, rows)
  }

  /** Deletes a key, unless it was used again since `before`. */
  async remove({ owner, key, caller }: StoredKey, before: number): Promise<void> {
    await this.db
      .deleteFrom('idempotency')
      .where(({ and }) => and({ owner, key, caller }))
      .where('created_at', '<', before)
      .execute()
  }
}

type StoredKey = Pick<WriteKey, 'owner' | 'caller'> & { key: string }

/** Keys read in one transaction. */
const BATCH_KEYS = 2000

/** Deletes idempotency keys older than their lifetime in small batches, so that no request waits long. */
export async function deleteExpiredIdempotencyKeys(engine: Engine, now = Date.now()): Promise<void> {
  for (let after: StoredKey | undefined = { owner: '', key: '', caller: '' }; after; ) {
    const from: StoredKey = after
    const rows = await engine.read((db) =>
      db
        .selectFrom('idempotency')
        .select(['owner', 'key', 'caller', 'created_at'])
        .where(sql<boolean>`(owner, key, caller) > (${from.owner}, ${from.key}, ${from.caller})`)
        .orderBy('owner')
        .orderBy('key')
        .orderBy('caller')
        .limit(BATCH_KEYS)
        .execute(),
    )
    const expired = rows.filter(({ created_at }) => created_at < now - KEY_LIFETIME_MS)
    if (expired.length > 0)
      await engine.write([], async (db) => {
        const keys = new IdempotencyWriter(db)
        for (const key of expired) await keys.remove(key, now - KEY_LIFETIME_MS)
      })
    after = rows.length === BATCH_KEYS ? rows.at(-1) : undefined
  }
}
