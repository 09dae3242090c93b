// Adds and removes references from rows to blobs.
import { type Expression, sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { yieldToEventLoop } from '../../../json/index.ts'
import { inBatches } from '../schema/row-groups.ts'
import type { Db } from '../schema/schema.ts'
import type { BlobRef } from './blobs.ts'
import { createObjectRow, selectLiveHashes } from './object-rows.ts'
import { OBJECT_STATES } from './object-states.ts'

/** Blobs that one statement refers to. */
const BATCH_BLOBS = 500

/**
 * Adds references from an owner to blobs, in the transaction that stores the referring rows. Shares blobs of
 * other owners. Throws `overloaded` if one was collected, as after a jump of the clock during an upload.
 */
export async function addBlobReferences(db: Db, owner: string, refs: readonly BlobRef[]): Promise<void> {
  const byHash = new Map<string, BlobRef>()
  for (const ref of refs) if (!byHash.get(ref.hash)?.fresh) byHash.set(ref.hash, ref)
  for (const batch of inBatches([...byHash.values()], BATCH_BLOBS)) {
    await yieldToEventLoop()
    await addBatch(db, owner, batch)
  }
}

/** Adds the references of one batch. */
async function addBatch(db: Db, owner: string, refs: readonly BlobRef[]): Promise<void> {
  const changed_at = Date.now()
  const objects = refs.flatMap(({ hash, fresh }) =>
    fresh && 'body' in fresh
      ? [{ ...createObjectRow(owner, hash, fresh.body, ''), state: OBJECT_STATES.live }]
      : [],
  )
  if (objects.length > 0)
    await db
      .insertInto('objects')
      .values(objects)
      .onConflict((conflict) =>
        conflict
          .columns(['owner', 'hash'])
          .where('state', '=', sql.lit(OBJECT_STATES.live))
          .doUpdateSet({ changed_at }),
      )
      .execute()
  const storedRefs = refs.filter(({ fresh }) => !fresh || !('body' in fresh))
  if (storedRefs.length === 0) return
  const hashes = storedRefs.map(({ hash }) => hash)
  const liveHashes = await selectLiveHashes(db, owner, hashes)
  const keys = storedRefs.flatMap(({ hash, fresh }) =>
    fresh && 'key' in fresh && !liveHashes.has(hash) ? [fresh.key] : [],
  )
  if (keys.length > 0) {
    const completed = await db
      .updateTable('objects')
      .set({ state: OBJECT_STATES.live })
      .where('owner', '=', owner)
      .where('key', 'in', keys)
      .where('state', '=', OBJECT_STATES.writing)
      .returning('hash')
      .execute()
    for (const { hash } of completed) liveHashes.add(hash)
  }
  for (const from of new Set(storedRefs.map((ref) => ref.owner))) {
    const shared = storedRefs.filter(
      (ref) => ref.owner === from && from !== owner && !liveHashes.has(ref.hash),
    )
    if (shared.length === 0) continue
    for (const hash of await shareObjects(
      db,
      from,
      owner,
      shared.map((ref) => ref.hash),
    ))
      liveHashes.add(hash)
  }
  if (hashes.some((hash) => !liveHashes.has(hash)))
    throw new Problem('overloaded', 'stored data was removed before the change was complete', {
      hint: 'Repeat the request.',
    })
}

/**
 * Adds objects to `to` that share the bytes of `from`. Returns their hashes. The caller locks both owners.
 */
async function shareObjects(db: Db, from: string, to: string, hashes: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('objects')
    .selectAll()
    .where('owner', '=', from)
    .where('hash', 'in', hashes)
    .where('state', '=', sql.lit(OBJECT_STATES.live))
    .execute()
  if (rows.length > 0)
    await db
      .insertInto('objects')
      .values(rows.map((row) => ({ ...row, owner: to, changed_at: Date.now() })))
      .onConflict((conflict) => conflict.columns(['owner', 'key']).doUpdateSet({ state: OBJECT_STATES.live }))
      .execute()
  return rows.map(({ hash }) => hash)
}

/**
 * Marks blobs that may have lost their last reference. They are collected later, since readers may still use
 * them.
 */
export async function markUnreferenced(
  db: Db,
  owner: string,
  hashes: Expression<{ hash: string }>,
): Promise<void> {
  await db
    .updateTable('objects')
    .set({ changed_at: Date.now() })
    .where('owner', '=', owner)
    .where(sql<boolean>`hash in (${hashes})`)
    .execute()
}
