// Stores immutable blobs by owner and SHA-256, and collects unreferenced ones.
import { randomBytes } from 'node:crypto'
import { type Expression, sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { asBuffer, yieldToEventLoop } from '../../../json/index.ts'
import type { Transactions } from '../engines/engine.ts'
import { sha256 } from '../schema/hash.ts'
import type { Db } from '../schema/schema.ts'
import { blobTables } from '../schema/tables.ts'
import { IN_DATABASE, type Locations } from './locations.ts'
import { OBJECT_STATES } from './object-states.ts'

/** Content of an owner, identified by its SHA-256. */
export interface BlobRef {
  owner: string
  hash: string
  /** For a blob without references: the key of its object, or its bytes, which `addBlobReferences` stores. */
  fresh?: { key: string } | { body: Buffer }
}

/**
 * Stores blobs by owner and SHA-256. A blob is stored before the row that refers to it, never changed, and
 * verified at every read. Unreferenced blobs are collected later.
 */
export interface Blobs extends BlobReader {
  /** Stores bytes of an owner, unless they are already stored. */
  put(owner: string, bytes: Uint8Array): Promise<BlobRef>
  /** Stores several blobs in few transactions. `claim`: an upload that may be aborted. */
  putAll(owner: string, all: readonly Uint8Array[], claim?: Claim): Promise<BlobRef[]>
  /** Ends a claim. With `isAborted`, removes the objects that it added, unless they are referenced. */
  releaseClaim(claim: Claim, isAborted: boolean): Promise<void>
  /**
   * Removes objects unreferenced for `grace` ms, in batches, so that no transaction takes long. Returns how
   * many.
   */
  collectUnreferenced(grace?: number, now?: number): Promise<number>
}

/** Keys of the objects of a running upload. */
export interface Claim {
  owner: string
  keys: Set<string>
}

export interface BlobReader {
  /** Returns the bytes. Throws `damaged` if they are missing or have changed. */
  get(ref: BlobRef): Promise<Buffer>
  /** Returns several blobs, by `blobIdOf`, with few queries. */
  getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>>
}

/** Returns an id of a blob that is unique over all owners. */
export function blobIdOf({ owner, hash }: BlobRef): string {
  return `${owner} ${hash}`
}

const PIECE_BYTES = 256 * 1024
/** Maximum size of an object stored inline in its row, in bytes. */
const MAX_INLINE_BYTES = 16 * 1024
/** Maximum total size of blobs that are stored only with their references, in bytes. */
const MAX_CARRIED_BYTES = 64 * 1024
/** Minimum age of a collected object, in ms: newer ones may belong to a running upload or read. */
const GRACE_MS = 24 * 3600 * 1000
/** Age after which an object found by an upload is marked as new again, in ms. */
const FRESH_MS = 3600 * 1000

/** Maximum number of concurrent requests to an object store. */
const MAX_CONCURRENT_REQUESTS = 8

/** Blobs of a dry run: what is stored is removed at its end. */
export class UnkeptBlobs implements Blobs {
  private readonly claims = new Map<string, Claim>()
  /** Blobs stored by this dry run, by name: rows that refer to it are rolled back. */
  private readonly fresh = new Map<string, BlobRef>()

  constructor(private readonly stored: Blobs) {}

  get(ref: BlobRef): Promise<Buffer> {
    return this.stored.get(this.fresh.get(blobIdOf(ref)) ?? ref)
  }

  getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>> {
    return this.stored.getAll(refs.map((ref) => this.fresh.get(blobIdOf(ref)) ?? ref))
  }

  collectUnreferenced(grace?: number, now?: number): Promise<number> {
    return this.stored.collectUnreferenced(grace, now)
  }

  async put(owner: string, bytes: Uint8Array): Promise<BlobRef> {
    const [ref] = await this.putAll(owner, [bytes])
    return ref
  }

  async putAll(owner: string, all: readonly Uint8Array[]): Promise<BlobRef[]> {
    const claim = this.claims.get(owner) ?? { owner, keys: new Set() }
    this.claims.set(owner, claim)
    const refs = await this.stored.putAll(owner, all, claim)
    for (const ref of refs) if (ref.fresh) this.fresh.set(blobIdOf(ref), ref)
    return refs
  }

  /** Does nothing: all claims end with the dry run. */
  async releaseClaim(): Promise<void> {}

  async giveUp(): Promise<void> {
    for (const claim of this.claims.values()) await this.stored.releaseClaim(claim, true)
  }
}

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
    for (let k = 0; k < keys.length; k += BATCH_REMOVED)
      await this.endObjects(claim.owner, [], (db) =>
        endObjectRows(db, claim.owner, keys.slice(k, k + BATCH_REMOVED), [OBJECT_STATES.writing]),
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
      const stored = new Set(await selectLiveHashes(db, owner, [...missing.keys()]))
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
        // Keys are never reused, so a late removal cannot delete a newer object.
        const key = randomBytes(12).toString('hex')
        refs.push({ owner, hash, fresh: { key } })
        claim?.keys.add(key)
        const isSmall = bytes.length <= this.maxInlineBytes
        objects.push({
          owner,
          key,
          hash,
          state: OBJECT_STATES.writing,
          home: owner,
          place: isSmall ? '' : id,
          bytes: bytes.length,
          body: isSmall ? bytes : null,
          changed_at,
        })
        if (store && !isSmall) uploads.push({ key, bytes, hash })
        for (let piece = 0; !store && !isSmall && piece * PIECE_BYTES < bytes.length; piece++)
          pieces.push({
            home: owner,
            key,
            piece,
            body: bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES),
          })
      }
      if (objects.length > 0) await db.insertInto('objects').values(objects).execute()
      if (pieces.length > 0) await db.insertInto('blob_pieces').values(pieces).execute()
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
    const byOwner = new Map<string, { hashes: Set<string>; keys: Set<string> }>()
    for (const ref of refs) {
      const { owner, hash, fresh } = ref
      if (fresh && 'body' in fresh) {
        bytesByName.set(blobIdOf(ref), fresh.body)
        continue
      }
      const ownerRefs = byOwner.get(owner) ?? { hashes: new Set(), keys: new Set() }
      if (fresh) ownerRefs.keys.add(fresh.key)
      else ownerRefs.hashes.add(hash)
      byOwner.set(owner, ownerRefs)
    }
    if (byOwner.size > 0) {
      const external = await this.engine.read((db) => readObjects(db, byOwner, bytesByName))
      await forEachConcurrently(external, async ({ name, place, key }) => {
        const bytes = await (await this.locations.storeById(place)).get(key)
        if (bytes) bytesByName.set(name, bytes)
      })
    }
    for (const ref of refs)
      bytesByName.set(blobIdOf(ref), verifyChecksum(ref, bytesByName.get(blobIdOf(ref))))
    return bytesByName
  }

  async collectUnreferenced(grace = GRACE_MS, now = Date.now()): Promise<number> {
    await this.touchClaims(now)
    let removed = 0
    for (let after = { owner: '', key: '' }; ; ) {
      const from = after
      const rows = await this.engine.read((db) =>
        db
          .selectFrom('objects')
          .select(['owner', 'key', 'hash', 'state', 'home', 'changed_at'])
          .where(sql<boolean>`(owner, key) > (${from.owner}, ${from.key})`)
          .orderBy('owner')
          .orderBy('key')
          .limit(BATCH_ROWS)
          .execute(),
      )
      const old = rows.filter(({ changed_at }) => changed_at < now - grace)
      for (const owner of new Set(old.map((row) => row.owner))) {
        const ownerRows = old.filter((row) => row.owner === owner)
        const unused = new Set(
          await this.engine.read((db) =>
            selectUnreferenced(
              db,
              owner,
              ownerRows.map(({ hash }) => hash),
            ),
          ),
        )
        const removable = ownerRows.filter(
          ({ hash, state }) => state !== OBJECT_STATES.live || unused.has(hash),
        )
        // In small batches, so that others do not wait long.
        for (let k = 0; k < removable.length; k += BATCH_REMOVED) {
          const batch = removable.slice(k, k + BATCH_REMOVED)
          const homes = batch.map(({ home }) => home)
          removed += await this.endObjects(owner, homes, (db) =>
            endUnreferenced(db, owner, batch, now - grace),
          )
        }
      }
      if (rows.length < BATCH_ROWS) return removed
      after = rows.at(-1)!
    }
  }

  /** Marks the objects of running uploads as new, so that they are not collected. */
  private async touchClaims(changed_at: number): Promise<void> {
    for (const { owner, keys } of this.claims)
      for (let claimed = [...keys], k = 0; k < claimed.length; k += BATCH_ROWS) {
        const batch = claimed.slice(k, k + BATCH_ROWS)
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
}

/** An object outside the database. `name`: id of its blob. */
interface ExternalObject {
  name: string
  place: string
  key: string
}

/** Runs `work` for all items, a few at a time. */
async function forEachConcurrently<T>(all: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < all.length) await work(all[next++])
  }
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_REQUESTS, all.length) }, worker))
}

/** Owners whose objects are read with one statement. */
const BATCH_OWNERS = 100

/** Adds the bytes of objects to `bytesByName`, unverified. Returns those outside the database. */
async function readObjects(
  db: Db,
  byOwner: ReadonlyMap<string, { hashes: ReadonlySet<string>; keys: ReadonlySet<string> }>,
  bytesByName: Map<string, Buffer>,
): Promise<ExternalObject[]> {
  const rows = []
  const select = db.selectFrom('objects').select(['owner', 'key', 'hash', 'home', 'place', 'body'])
  const all = [...byOwner]
  for (const [column, valuesOf] of [
    ['hash', (ownerRefs) => ownerRefs.hashes],
    ['key', (ownerRefs) => ownerRefs.keys],
  ] as const satisfies [
    string,
    (ownerRefs: { hashes: ReadonlySet<string>; keys: ReadonlySet<string> }) => ReadonlySet<string>,
  ][])
    for (let k = 0; k < all.length; k += BATCH_OWNERS) {
      const batch = all.slice(k, k + BATCH_OWNERS).filter(([, ownerRefs]) => valuesOf(ownerRefs).size > 0)
      if (batch.length === 0) continue
      const query = select.where(({ or, and, eb }) =>
        or(
          batch.map(([owner, ownerRefs]) =>
            and([eb('owner', '=', owner), eb(column, 'in', [...valuesOf(ownerRefs)])]),
          ),
        ),
      )
      rows.push(
        ...(await (column === 'hash'
          ? query.where('state', '=', sql.lit(OBJECT_STATES.live))
          : query
        ).execute()),
      )
    }
  const external: ExternalObject[] = []
  const inPieces = new Map<string, Map<string, string>>()
  for (const { owner, key, hash, home, place, body } of rows) {
    if (body) {
      bytesByName.set(blobIdOf({ owner, hash }), asBuffer(body))
      continue
    }
    if (place !== IN_DATABASE) {
      external.push({ name: blobIdOf({ owner, hash }), place, key })
      continue
    }
    const names = inPieces.get(home) ?? new Map<string, string>()
    names.set(key, blobIdOf({ owner, hash }))
    inPieces.set(home, names)
  }
  for (const [home, names] of inPieces) {
    const pieces = await db
      .selectFrom('blob_pieces')
      .select(['key', 'body'])
      .where('home', '=', home)
      .where('key', 'in', [...names.keys()])
      .orderBy('key')
      .orderBy('piece')
      .execute()
    const chunksByKey = new Map<string, Uint8Array[]>()
    for (const { key, body } of pieces) {
      const chunks = chunksByKey.get(key)
      if (chunks) chunks.push(body)
      else chunksByKey.set(key, [body])
    }
    for (const [key, chunks] of chunksByKey)
      bytesByName.set(names.get(key)!, chunks.length === 1 ? asBuffer(chunks[0]) : Buffer.concat(chunks))
  }
  return external
}

/** Returns the bytes. Throws `damaged` unless they match their SHA-256. */
function verifyChecksum({ hash }: BlobRef, bytes: Buffer | undefined): Buffer {
  if (bytes && sha256(bytes) === hash) return bytes
  throw new Problem(
    'damaged',
    `stored bytes are damaged: blob ${hash.slice(0, 12)} ${bytes ? 'does not match its checksum' : 'is missing'}`,
  )
}

/** Size and number of blobs read or written together. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_BLOBS = 500
const BATCH_WRITTEN_BLOBS = 1000

/** Reads blobs in batches, if they are requested in the order of `slices`. Keeps each until its last read. */
export class BatchedBlobs implements BlobReader {
  /** Per blob: the batch that loads it, and how many reads remain. */
  private readonly waiting = new Map<string, { batch: Promise<Map<string, Buffer>>; left: number }>()
  private next = 0

  constructor(
    private readonly blobs: BlobReader,
    private readonly slices: readonly { blob: BlobRef; bytes: number }[],
  ) {}

  async get(ref: BlobRef): Promise<Buffer> {
    const { slices } = this
    const name = blobIdOf(ref)
    const next = slices[this.next]
    if (!this.waiting.has(name) && next && blobIdOf(next.blob) === name) this.loadBatch()
    const entry = this.waiting.get(name)
    if (!entry) return this.blobs.get(ref)
    if (--entry.left === 0) this.waiting.delete(name)
    return (await entry.batch).get(name)!
  }

  getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>> {
    return this.blobs.getAll(refs)
  }

  /** Loads the next slices: as many as fit into a batch, at least one. */
  private loadBatch(): void {
    const { slices } = this
    const refs = new Map<string, BlobRef>()
    const names: string[] = []
    for (let size = 0; this.next < slices.length && names.length < BATCH_BLOBS; this.next++) {
      const { blob, bytes } = slices[this.next]
      size += bytes
      if (names.length > 0 && size > BATCH_BYTES) break
      names.push(blobIdOf(blob))
      refs.set(blobIdOf(blob), blob)
    }
    const batch = this.blobs.getAll([...refs.values()])
    // Prevents an unhandled rejection; the error is thrown when the batch is awaited.
    batch.catch(() => {})
    for (const name of names) {
      const left = this.waiting.get(name)?.left ?? 0
      this.waiting.set(name, { batch, left: left + 1 })
    }
  }
}

/** Objects read, and removed, in one transaction. */
const BATCH_ROWS = 500
const BATCH_REMOVED = 50

/**
 * Returns the hashes that no row of the owner refers to. One statement, since references move between tables.
 */
async function selectUnreferenced(db: Db, owner: string, hashes: readonly string[]): Promise<string[]> {
  const unique = [...new Set(hashes)]
  if (unique.length === 0) return []
  const [first, ...rest] = blobTables.map((table) =>
    db.selectFrom(table).select('hash').where('owner', '=', owner).where('hash', 'in', unique),
  )
  const rows = await rest.reduce((all, query) => all.union(query), first).execute()
  const referenced = new Set(rows.map(({ hash }) => hash))
  return unique.filter((hash) => !referenced.has(hash))
}

/** Returns those of these hashes for which the owner has a live object. */
async function selectLiveHashes(db: Db, owner: string, hashes: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('objects')
    .select('hash')
    .where('owner', '=', owner)
    .where('hash', 'in', hashes)
    .where('state', '=', sql.lit(OBJECT_STATES.live))
    .execute()
  return rows.map(({ hash }) => hash)
}

/** Removes objects not changed since `before`, unless they are referenced. The caller locks the owner. */
async function endUnreferenced(
  db: Db,
  owner: string,
  objects: readonly { key: string; hash: string }[],
  before: number,
): Promise<EndedObjects> {
  const unused = new Set(
    await selectUnreferenced(
      db,
      owner,
      objects.map(({ hash }) => hash),
    ),
  )
  const rows = await db
    .selectFrom('objects')
    .select(['key', 'hash', 'state'])
    .where('owner', '=', owner)
    .where(
      'key',
      'in',
      objects.map(({ key }) => key),
    )
    .where('changed_at', '<', before)
    .execute()
  const keys = rows
    .filter(({ hash, state }) => state !== OBJECT_STATES.live || unused.has(hash))
    .map(({ key }) => key)
  const endedBefore = new Set(rows.flatMap(({ key, state }) => (state === OBJECT_STATES.ended ? [key] : [])))
  return endObjectRows(db, owner, keys, [OBJECT_STATES.writing, OBJECT_STATES.live, OBJECT_STATES.ended], {
    before,
    endedBefore,
  })
}

interface EndedObjects {
  count: number
  /**
   * Ended objects whose bytes outside the database must be removed; `removesRow`: then also their rows.
   */
  ended: { place: string; key: string; removesRow: boolean }[]
}

/**
 * Ends objects of an owner in these states. Removes their rows, and their bytes in the database unless
 * another owner shares them. Rows of external objects stay, as ended.
 */
async function endObjectRows(
  db: Db,
  owner: string,
  keys: readonly string[],
  states: readonly number[],
  /** `before`: only objects not changed since then. `endedBefore`: keys of objects that had already ended. */
  {
    before = Number.MAX_SAFE_INTEGER,
    endedBefore = new Set<string>(),
  }: { before?: number; endedBefore?: ReadonlySet<string> } = {},
): Promise<EndedObjects> {
  if (keys.length === 0) return { count: 0, ended: [] }
  const endedRows = await db
    .updateTable('objects')
    .set({ state: OBJECT_STATES.ended, changed_at: Date.now() })
    .where('owner', '=', owner)
    .where('key', 'in', keys)
    .where('state', 'in', states)
    .where('changed_at', '<', before)
    .returning(['key', 'home', 'place'])
    .execute()
  if (endedRows.length === 0) return { count: 0, ended: [] }
  const endedKeys = endedRows.map(({ key }) => key)
  const shared = await db
    .selectFrom('objects')
    .select('key')
    .where('key', 'in', endedKeys)
    .where('owner', '<>', owner)
    .where('state', '<>', OBJECT_STATES.ended)
    .execute()
  const sharedKeys = new Set(shared.map(({ key }) => key))
  const unshared = endedRows.filter(({ key }) => !sharedKeys.has(key))
  const ended = unshared
    .filter(({ place }) => place !== '' && place !== IN_DATABASE)
    .map(({ place, key }) => ({ place, key, removesRow: endedBefore.has(key) }))
  const externalKeys = new Set(ended.map(({ key }) => key))
  await db
    .deleteFrom('objects')
    .where('owner', '=', owner)
    .where('key', 'in', [...endedKeys.filter((key) => !externalKeys.has(key)), ''])
    .execute()
  const pieces = unshared.filter(({ place }) => place === IN_DATABASE)
  for (const home of new Set(pieces.map((piece) => piece.home)))
    await db
      .deleteFrom('blob_pieces')
      .where('home', '=', home)
      .where(
        'key',
        'in',
        pieces.filter((piece) => piece.home === home).map(({ key }) => key),
      )
      .execute()
  return { count: endedRows.length, ended }
}

/**
 * Adds references from an owner to blobs, in the transaction that stores the referring rows. Shares blobs of
 * other owners. Throws `overloaded` if one was collected, as after a jump of the clock during an upload.
 */
export async function addBlobReferences(db: Db, owner: string, refs: readonly BlobRef[]): Promise<void> {
  const byHash = new Map<string, BlobRef>()
  for (const ref of refs) if (!byHash.get(ref.hash)?.fresh) byHash.set(ref.hash, ref)
  const unique = [...byHash.values()]
  for (let k = 0; k < unique.length; k += BATCH_ROWS) {
    await yieldToEventLoop()
    await addBlobReferenceBatch(db, owner, unique.slice(k, k + BATCH_ROWS))
  }
}

async function addBlobReferenceBatch(db: Db, owner: string, refs: readonly BlobRef[]): Promise<void> {
  const changed_at = Date.now()
  const bodies = refs.flatMap(({ hash, fresh }) =>
    fresh && 'body' in fresh ? [{ hash, body: fresh.body }] : [],
  )
  if (bodies.length > 0)
    await db
      .insertInto('objects')
      .values(
        bodies.map(({ hash, body }) => ({
          owner,
          key: randomBytes(12).toString('hex'),
          hash,
          state: OBJECT_STATES.live,
          home: owner,
          place: '',
          bytes: body.length,
          body,
          changed_at,
        })),
      )
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
  const liveHashes = new Set(await selectLiveHashes(db, owner, hashes))
  const keys = storedRefs.flatMap(({ hash, fresh }) =>
    fresh && 'key' in fresh && !liveHashes.has(hash) ? [fresh.key] : [],
  )
  if (keys.length > 0) {
    const completed = await db
      .updateTable('objects')
      .set({ state: OBJECT_STATES.live, changed_at })
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
