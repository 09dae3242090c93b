// Moves all stored bytes to another location, while servers run.
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../../contract/errors.ts'
import { IN_DATABASE } from '../objects/locations.ts'
import {
  createObjectRow,
  type ObjectRow,
  readObjectBatches,
  splitIntoPieces,
} from '../objects/object-rows.ts'
import { OBJECT_STATES } from '../objects/object-states.ts'
import { normalizeAddress } from '../objects/object-store.ts'
import { GRACE_MS } from '../objects/stored-blobs.ts'
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

export interface Moved {
  /** Number of moved objects. */
  objects: number
  /** Number of objects of unfinished uploads at former locations. Nobody moves them once these have ended. */
  unfinished: number
}

/**
 * Moves all bytes to another location, object by object, while servers run. New bytes are stored there at
 * once. Each object gets a new key; a sweep removes the old one a day later. Throws `conflict` when another move begins.
 */
export async function moveBlobs(
  store: Store,
  to: string,
  { onMoved = () => {}, onLost = () => {}, settleMs = SETTLE_MS, signal }: MoveOptions = {},
): Promise<Moved> {
  const isCurrent = (await store.locations.currentAddress()) === normalizeAddress(to)
  if (isCurrent) await store.locations.checkCurrent()
  const place = isCurrent ? (await store.locations.getCurrent()).id : await store.locations.setCurrent(to)
  let moved = 0
  /** New keys of moved objects, by old key, so that copies keep sharing them. */
  const keys = new Map<string, MovedObject>()
  const unreadable = new Set<string>()
  for (const start = performance.now(); ; ) {
    let remaining = 0
    for await (const rows of readObjectBatches(store.engine, BATCH_OBJECTS, place)) {
      if ((await store.locations.getCurrent()).id !== place)
        throw new Problem('conflict', `another move has begun, to ${await store.locations.currentAddress()}`)
      for (const row of rows) {
        if (signal?.aborted) return { objects: moved, unfinished: 0 }
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
    }
    // Servers learn within seconds where to store new bytes.
    if (remaining === 0 && (isCurrent || performance.now() - start >= settleMs))
      return { objects: moved, unfinished: await countUnfinished(store, place) }
    if (remaining === 0) await sleep(500)
  }
}

/** Counts the objects of unfinished uploads at other locations. */
function countUnfinished({ engine }: Store, place: string): Promise<number> {
  return engine.read(async (db) => {
    const { count } = await db
      .selectFrom('objects')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('state', '=', OBJECT_STATES.writing)
      .where('place', 'not in', ['', place])
      .where('changed_at', '>', Date.now() - GRACE_MS)
      .executeTakeFirstOrThrow()
    return Number(count)
  })
}

/** Where the bytes of a moved object are: `home` is the owner whose name they are stored under. */
interface MovedObject {
  key: string
  home: string
  place: string
}

/** Moves one object. Returns false if it no longer exists. */
async function moveObject(
  store: Store,
  row: ObjectRow,
  place: string,
  keys: Map<string, MovedObject>,
): Promise<boolean> {
  const moved = keys.get(row.key)
  const target = moved ?? (await copyBytes(store, row, place))
  const outcome = await replaceObject(store, row, target, moved ? OBJECT_STATES.live : OBJECT_STATES.writing)
  if (outcome === 'gone' && moved) {
    keys.delete(row.key)
    return moveObject(store, row, place, keys)
  }
  if (outcome === 'moved') keys.set(row.key, target)
  return outcome === 'moved'
}

/** Stores the bytes of an object again, at another place. Nothing refers to them yet. */
async function copyBytes(store: Store, row: ObjectRow, place: string): Promise<MovedObject> {
  const { owner, hash } = row
  const bytes = await store.blobs.get(row)
  const object = createObjectRow(owner, hash, bytes, place)
  const { key } = object
  await store.engine.write([], async (db) => {
    await db.insertInto('objects').values(object).execute()
    if (place === IN_DATABASE)
      for (const piece of splitIntoPieces(owner, key, bytes))
        await db.insertInto('blob_pieces').values(piece).execute()
  })
  if (place !== IN_DATABASE) await (await store.locations.storeById(place)).put(key, bytes, hash)
  return { key, home: owner, place }
}

/** Ends an object whose bytes were moved, and adds one in its place. `state`: state of the moved copy. */
function replaceObject(
  store: Store,
  row: ObjectRow,
  target: MovedObject,
  state: number,
): Promise<'moved' | 'left' | 'gone'> {
  const { owner, key } = row
  // Also locks the home of the bytes, so that nobody removes them in the meantime.
  return store.engine.write([owner, target.home], async (db) => {
    const changed_at = Date.now()
    const copy = await db
      .selectFrom('objects')
      .select('bytes')
      .where(({ and }) => and({ key: target.key, state }))
      .executeTakeFirst()
    // The moved copy was removed with its last owner: copy the bytes again.
    if (!copy) return 'gone'
    const ended = await db
      .updateTable('objects')
      .set({ state: OBJECT_STATES.ended, changed_at })
      .where(({ and }) => and({ owner, key, state: OBJECT_STATES.live }))
      .returning('key')
      .execute()
    if (ended.length === 0) return 'left'
    await db
      .insertInto('objects')
      .values({ ...row, ...target, state: OBJECT_STATES.live, bytes: copy.bytes, body: null, changed_at })
      .onConflict((conflict) => conflict.columns(['owner', 'key']).doUpdateSet({ state: OBJECT_STATES.live }))
      .execute()
    return 'moved'
  })
}
