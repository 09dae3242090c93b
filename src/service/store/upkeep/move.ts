// Moves all stored bytes to another location, while servers run.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { blobIdOf } from '../objects/blobs.ts'
import { IN_DATABASE } from '../objects/locations.ts'
import { OBJECT_STATES } from '../objects/object-states.ts'
import { normalizeAddress } from '../objects/object-store.ts'
import type { Store } from '../store.ts'

export interface MoveOptions {
  /** Called after each object; the move continues when the promise resolves. */
  onMoved?: (bytes: number) => void | Promise<void>
  /** Called with objects that cannot be read. They are not moved. */
  onLost?: (owner: string, error: Problem) => void
  /** How long other servers may still store bytes at the former location, in ms. */
  settleMs?: number
  /** Stops between two objects. Another run continues. */
  signal?: AbortSignal
}

/** Objects read with one statement. */
const BATCH_OBJECTS = 200
/** Time after which every server stores new bytes at the new location, in ms. */
const SETTLE_MS = 6_000

type ObjectRow = { owner: string; key: string; hash: string; bytes: number }

/**
 * Moves all bytes to another location, object by object, while servers run. New bytes are stored there at
 * once. Returns the number of moved objects. Each gets a new key; a sweep removes the old object a day later.
 */
export async function moveBlobs(
  store: Store,
  to: string,
  { onMoved = () => {}, onLost = () => {}, settleMs = SETTLE_MS, signal }: MoveOptions = {},
): Promise<number> {
  const isCurrent = (await store.locations.currentAddress()) === normalizeAddress(to)
  if (isCurrent) await store.locations.checkCurrent()
  const place = isCurrent ? (await store.locations.getCurrent()).id : await store.locations.setCurrent(to)
  let moved = 0
  /** New keys of moved objects, by old key, so that copies keep sharing them. */
  const keys = new Map<string, MovedObject>()
  const unreadable = new Set<string>()
  for (const start = performance.now(); ; ) {
    let remaining = 0
    for (let after = { owner: '', key: '' }; ; ) {
      const from = after
      const rows = await store.engine.read((db) =>
        db
          .selectFrom('objects')
          .select(['owner', 'key', 'hash', 'bytes'])
          .where(sql<boolean>`(owner, key) > (${from.owner}, ${from.key})`)
          .where('state', '=', sql.lit(OBJECT_STATES.live))
          .where('place', 'not in', ['', place])
          .orderBy('owner')
          .orderBy('key')
          .limit(BATCH_OBJECTS)
          .execute(),
      )
      for (const row of rows) {
        if (signal?.aborted) return moved
        if (unreadable.has(row.key)) continue
        remaining++
        try {
          if (!(await moveObject(store, row, place, keys))) continue
          moved++
          await onMoved(row.bytes)
        } catch (error) {
          if (!(error instanceof Problem) || error.code !== 'damaged') throw error
          unreadable.add(row.key)
          onLost(row.owner, error)
        }
      }
      const last = rows.at(-1)
      if (rows.length < BATCH_OBJECTS || !last) break
      after = last
    }
    // Servers learn within seconds where to store new bytes.
    if (remaining === 0 && (isCurrent || performance.now() - start >= settleMs)) return moved
    if (remaining === 0) await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** New key of a moved object, and the owner whose name its bytes are stored under. */
interface MovedObject {
  key: string
  home: string
}

/** Moves one object. Returns false if it no longer exists. */
async function moveObject(
  store: Store,
  row: ObjectRow,
  place: string,
  keys: Map<string, MovedObject>,
): Promise<boolean> {
  const { owner, key: before, hash } = row
  const moved = keys.get(before)
  const key = moved?.key ?? randomBytes(12).toString('hex')
  if (moved === undefined) {
    const bytes = (await store.blobs.getAll([row])).get(blobIdOf(row))!
    const object = {
      ...row,
      key,
      state: OBJECT_STATES.writing,
      home: owner,
      place,
      bytes: bytes.length,
      body: null,
    }
    await store.engine.write([], async (db) => {
      await db
        .insertInto('objects')
        .values({ ...object, changed_at: Date.now() })
        .execute()
      if (place === IN_DATABASE)
        for (let piece = 0; piece * PIECE_BYTES < bytes.length; piece++)
          await db
            .insertInto('blob_pieces')
            .values({
              home: owner,
              key,
              piece,
              body: bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES),
            })
            .execute()
    })
    if (place !== IN_DATABASE) await (await store.locations.storeById(place)).put(key, bytes, hash)
  }
  // Also locks the home of the bytes, so that nobody removes them in the meantime.
  const home = moved?.home ?? owner
  const outcome = await store.engine.write([owner, home], async (db) => {
    const target = await db
      .selectFrom('objects')
      .select('bytes')
      .where('key', '=', key)
      .where('state', '=', moved ? OBJECT_STATES.live : OBJECT_STATES.writing)
      .executeTakeFirst()
    // The moved copy was removed with its last owner: copy the bytes again.
    if (!target) return 'gone'
    const ended = await db
      .updateTable('objects')
      .set({ state: OBJECT_STATES.ended, changed_at: Date.now() })
      .where(({ and }) => and({ owner, key: before, state: OBJECT_STATES.live }))
      .returning('key')
      .execute()
    if (ended.length === 0) return 'left'
    await db
      .insertInto('objects')
      .values({
        owner,
        key,
        hash,
        state: OBJECT_STATES.live,
        home,
        place,
        bytes: target.bytes,
        body: null,
        changed_at: Date.now(),
      })
      .onConflict((conflict) => conflict.columns(['owner', 'key']).doUpdateSet({ state: OBJECT_STATES.live }))
      .execute()
    return 'moved'
  })
  if (outcome === 'gone' && moved) {
    keys.delete(before)
    return moveObject(store, row, place, keys)
  }
  if (outcome === 'moved') keys.set(before, { key, home })
  return outcome === 'moved'
}

const PIECE_BYTES = 256 * 1024
