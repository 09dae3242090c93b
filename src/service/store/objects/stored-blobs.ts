// Stores blobs in the database or in an object store, verifies them, and collects unreferenced ones.
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { asBuffer } from '../../../json/index.ts'
import type { Transactions } from '../engines/engine.ts'
import { sha256 } from '../schema/hash.ts'
import { createInserter } from '../schema/insert-rows.ts'
import { addToSet, inBatches } from '../schema/row-groups.ts'
import type { Db } from '../schema/schema.ts'
import { type BlobRef, type Blobs, blobIdOf, type Claim } from './blobs.ts'
import type { Locations } from './locations.ts'
import {
  createObjectRow,
  type EndedObjects,
  endObjectRows,
  endUnreferenced,
  type ObjectRow,
  readObjectBatches,
  readObjects,
  selectLiveHashes,
  selectUnreferenced,
  splitIntoPieces,
} from './object-rows.ts'
import { OBJECT_STATES } from './object-states.ts'

/** Maximum size of an object stored inline in its row, in bytes. */
const MAX_INLINE_BYTES = 16 * 1024
/** Maximum total size of blobs that are stored only with their references, in bytes. */
const MAX_CARRIED_BYTES = 64 * 1024
/** Minimum age of a collected object, in ms: newer ones may belong to a running upload or read. */
export const GRACE_MS = 24 * 3600 * 1000
/** Age after which an object found by an upload is marked as new again, in ms. */
const FRESH_MS = 3600 * 1000

/** Maximum number of concurrent requests to an object store. */
const MAX_CONCURRENT_REQUESTS = 8
/** Maximum number of blobs, and their minimum total size in bytes, that end a batch of writes. */
const BATCH_WRITTEN_BLOBS = 1000
const BATCH_BYTES = 4 * 1024 * 1024
/** Objects read, and removed, in one transaction. */
const BATCH_ROWS = 500
const BATCH_REMOVED = 50

const insertObjects = createInserter('objects')
const insertPieces = createInserter('blob_pieces')

/** Stores small objects in their row, larger ones in pieces in the database or in an object store. */
export class StoredBlobs implements Blobs {
  /** `claims`: running uploads of this process. */
  constructor(
    private readonly engine: Transactions,
    private readonly locations: Locations,
    private readonly claims = new Set<Claim>(),
    private readonly maxInlineBytes = MAX_INLINE_BYTES,
  ) {}

  async put(owner: string, bytes: Uint8Array): Promise<BlobRef> {
    const [ref] = await this.putAll(owner, [bytes])
    return ref
  }

  async putAll(owner: string, all: readonly Uint8Array[], claim?: Claim): Promise<BlobRef[]> {
    const hashes = all.map(sha256)
    const size = all.reduce((sum, { length }) => sum + length, 0)
    if (size <= MAX_CARRIED_BYTES && all.every(({ length }) => length <= this.maxInlineBytes))
      return all.map((bytes, k) => ({ owner, hash: hashes[k], fresh: { body: asBuffer(bytes) } }))
    if (claim) this.claims.add(claim)
    const refs = new Map<string, BlobRef>()
    for (let k = 0; k < all.length; ) {
      let end = k
      for (let bytes = 0; end < all.length && end - k < BATCH_WRITTEN_BLOBS && bytes < BATCH_BYTES; end++)
        bytes += all[end].length
      const missing = new Map<string, Uint8Array>()
      for (let n = k; n < end; n++) if (!refs.has(hashes[n])) missing.set(hashes[n], all[n])
      for (const ref of await this.putMissing(owner, missing, claim)) refs.set(ref.hash, ref)
      k = end
    }
    return hashes.map((hash) => refs.get(hash)!)
  }

  async releaseClaim(claim: Claim, isAborted: boolean): Promise<void> {
    this.claims.delete(claim)
    const keys = isAborted ? [...claim.keys] : []
    claim.keys.clear()
    for (const batch of inBatches(keys, BATCH_REMOVED))
      await this.endObjects(claim.owner, [], (db) =>
        endObjectRows(db, claim.owner, batch, [OBJECT_STATES.writing]),
      )
  }

  /**
   * Ends objects: removes their rows, and their bytes outside the database. The row of an external object
   * stays until the next sweep, which removes the bytes again, since a slow upload may have stored them
   * meanwhile. `homes`: owners who first stored the bytes; their lock makes the last of several sharing
   * owners remove them. Returns the number of objects.
   */
  private async endObjects(
    owner: string,
    homes: readonly string[],
    work: (db: Db) => Promise<EndedObjects>,
  ): Promise<number> {
    const { count, ended } = await this.engine.write([owner, ...homes], work, { freesSpace: true })
    await forEachConcurrently(ended, async ({ place, key }) =>
      (await this.locations.storeById(place)).remove(key),
    )
    const finished = ended.flatMap(({ key, removesRow }) => (removesRow ? [key] : []))
    if (finished.length > 0)
      await this.engine.write(
        [owner],
        (db) =>
          db
            .deleteFrom('objects')
            .where('owner', '=', owner)
            .where('key', 'in', finished)
            .where('state', '=', OBJECT_STATES.ended)
            .execute(),
        { freesSpace: true },
      )
    return count
  }

  /** Stores those blobs that are missing, in one transaction. */
  private async putMissing(
    owner: string,
    missing: ReadonlyMap<string, Uint8Array>,
    claim: Claim | undefined,
  ): Promise<BlobRef[]> {
    if (missing.size === 0) return []
    const { id, store } = await this.locations.getCurrent()
    const insertRows = async (db: Db) => {
      const changed_at = Date.now()
      const stored = await selectLiveHashes(db, owner, [...missing.keys()])
      // Keep unreferenced ones as long as new ones.
      if (stored.size > 0)
        await db
          .updateTable('objects')
          .set({ changed_at })
          .where('owner', '=', owner)
          .where('hash', 'in', [...stored])
          .where('state', '=', sql.lit(OBJECT_STATES.live))
          .where('changed_at', '<', changed_at - FRESH_MS)
          .execute()
      const refs: BlobRef[] = [...stored].map((hash) => ({ owner, hash }))
      const objects = []
      const pieces = []
      const uploads: { key: string; bytes: Uint8Array; hash: string }[] = []
      for (const [hash, bytes] of missing) {
        if (stored.has(hash)) continue
        const isSmall = bytes.length <= this.maxInlineBytes
        const object = createObjectRow(owner, hash, bytes, isSmall ? '' : id)
        const { key } = object
        refs.push({ owner, hash, fresh: { key } })
        claim?.keys.add(key)
        objects.push(object)
        if (store && !isSmall) uploads.push({ key, bytes, hash })
        else if (!isSmall) pieces.push(...splitIntoPieces(owner, key, bytes))
      }
      await insertObjects(db, objects)
      await insertPieces(db, pieces)
      return { refs, uploads }
    }
    // The row must be durable first: only it tells where the bytes are.
    const { refs, uploads } = store
      ? await this.engine.write([], insertRows, { repeatable: true })
      : await this.engine.writeDeferred(insertRows)
    await forEachConcurrently(uploads, ({ key, bytes, hash }) => store!.put(key, bytes, hash))
    return refs
  }

  async get(ref: BlobRef): Promise<Buffer> {
    return (await this.getAll([ref])).get(blobIdOf(ref))!
  }

  async getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>> {
    const bytesByName = new Map<string, Buffer>()
    /** Blobs whose checksum is verified. */
    const intact = new Set<string>()
    const hashesByOwner = new Map<string, Set<string>>()
    const keysByOwner = new Map<string, Set<string>>()
    for (const ref of refs) {
      const { owner, hash, fresh } = ref
      if (fresh && 'body' in fresh) bytesByName.set(blobIdOf(ref), fresh.body)
      else if (fresh) addToSet(keysByOwner, owner, fresh.key)
      else addToSet(hashesByOwner, owner, hash)
    }
    if (hashesByOwner.size + keysByOwner.size > 0) {
      const external = await this.engine.read((db) =>
        readObjects(db, { hash: hashesByOwner, key: keysByOwner }, bytesByName),
      )
      await forEachConcurrently(external, async ({ name, place, key }) => {
        const store = await this.locations.storeById(place)
        let bytes = await store.get(key)
        if (bytes && name.endsWith(` ${sha256(bytes)}`)) intact.add(name)
        // A bucket can answer wrongly once: the second answer counts.
        else bytes = await store.get(key)
        if (bytes) bytesByName.set(name, bytes)
      })
    }
    for (const ref of refs) {
      const name = blobIdOf(ref)
      if (!intact.has(name)) bytesByName.set(name, verifyChecksum(ref, bytesByName.get(name)))
    }
    return bytesByName
  }

  async collectUnreferenced(
    grace = GRACE_MS,
    now = Date.now(),
    throwIfStopped = async (): Promise<void> => {},
  ): Promise<number> {
    await this.touchClaims(now)
    let removed = 0
    for await (const rows of readObjectBatches(this.engine, BATCH_ROWS)) {
      await throwIfStopped()
      const old = rows.filter(({ changed_at }) => changed_at < now - grace)
      for (const owner of new Set(old.map((row) => row.owner)))
        removed += await this.endUnused(
          owner,
          old.filter((row) => row.owner === owner),
          now - grace,
        )
    }
    return removed
  }

  /** Ends those of an owner's objects that are unreferenced and not changed since `before`. Returns how many. */
  private async endUnused(owner: string, objects: readonly ObjectRow[], before: number): Promise<number> {
    const unused = await this.engine.read((db) => selectUnreferenced(db, owner, objects))
    const removable = objects.filter(({ hash, state }) => state !== OBJECT_STATES.live || unused.has(hash))
    let ended = 0
    // In small batches, so that others do not wait long.
    for (const batch of inBatches(removable, BATCH_REMOVED)) {
      const homes = batch.map(({ home }) => home)
      ended += await this.endObjects(owner, homes, (db) => endUnreferenced(db, owner, batch, before))
    }
    return ended
  }

  /** Marks the objects of running uploads as new, so that they are not collected. */
  private async touchClaims(changed_at: number): Promise<void> {
    for (const { owner, keys } of this.claims)
      for (const batch of inBatches([...keys], BATCH_ROWS))
        await this.engine.write([owner], (db) =>
          db
            .updateTable('objects')
            .set({ changed_at })
            .where('owner', '=', owner)
            .where('key', 'in', batch)
            .execute(),
        )
  }
}

/** Runs `work` for all items, a few at a time. */
async function forEachConcurrently<T>(all: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < all.length) await work(all[next++])
  }
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_REQUESTS, all.length) }, worker))
}

/** Returns the bytes. Throws `damaged` unless they match their SHA-256. */
function verifyChecksum({ hash }: BlobRef, bytes: Buffer | undefined): Buffer {
  if (bytes && sha256(bytes) === hash) return bytes
  throw new Problem(
    'damaged',
    `stored bytes are damaged: blob ${hash.slice(0, 12)} ${bytes ? 'does not match its checksum' : 'is missing'}`,
  )
}
