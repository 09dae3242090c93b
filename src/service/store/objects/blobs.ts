import { randomBytes } from 'node:crypto'
import { type Expression, sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { asBuffer, breathe } from '../../../json/index.ts'
import type { Transactions } from '../engines/engine.ts'
import { sha256 } from '../schema/hash.ts'
import type { Db } from '../schema/schema.ts'
import { IN_DATABASE, type Places } from './places.ts'
import { STATES } from './states.ts'

/** Bytes of an owner, by their SHA-256. */
export interface BlobRef {
  owner: string
  hash: string
  /** Of bytes that nothing refers to yet: their key, or the bytes themselves, which are stored with the reference. */
  fresh?: { key: string } | { body: Buffer }
}

/**
 * Bytes of owners, addressed by their SHA-256. They are stored before the row that refers to them, never changed, and
 * verified at every read. What nothing refers to is collected later.
 */
export interface Blobs extends BlobReader {
  /** Stores bytes of an owner unless they are there. */
  put(owner: string, bytes: Uint8Array): Promise<BlobRef>
  /** The same for several, in few transactions. `claim`: of an upload that may be given up. */
  putAll(owner: string, all: readonly Uint8Array[], claim?: Claim): Promise<BlobRef[]>
  /** Ends a claim. What it added is removed if `isGivenUp`, unless it is referred to. */
  release(claim: Claim, isGivenUp: boolean): Promise<void>
  /**
   * Removes what nothing has referred to for `grace` ms, in batches, so that no transaction takes long. Returns how
   * many were removed.
   */
  collect(grace?: number, now?: number): Promise<number>
}

/** The keys of an upload that is under way. */
export interface Claim {
  owner: string
  keys: Set<string>
}

export interface BlobReader {
  /** Returns the bytes. Throws `damaged` if they are missing or have changed. */
  get(ref: BlobRef): Promise<Buffer>
  /** The same for several, by `nameOf`, with few queries. */
  getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>>
}

/** Identifies bytes among those of all owners. */
export function nameOf({ owner, hash }: BlobRef): string {
  return `${owner} ${hash}`
}

const PIECE = 256 * 1024
/** Bytes up to this size are in the row of their object. */
const MAX_INLINE_BYTES = 16 * 1024
/** Bytes of all that are put together up to which they are stored with the row that refers to them. */
const CARRIED = 64 * 1024
/** Minimum age of a collected object, in ms: younger ones may belong to a running upload or read. */
const GRACE_MS = 24 * 3600 * 1000
/** Objects stored within this time count as new, in ms. */
const FRESH = 3600 * 1000

/** Objects that are sent to a store, or read from it, at a time. */
const AT_ONCE = 8

/** Small objects are stored in their row, others in pieces in the database, or in a store outside of it. */
export class StoredBlobs implements Blobs {
  /** `claims`: those of this process. All lanes of a store share them. */
  constructor(
    private readonly engine: Transactions,
    private readonly places: Places,
    private readonly claims = new Set<Claim>(),
    private readonly inRow = MAX_INLINE_BYTES,
  ) {}

  async put(owner: string, bytes: Uint8Array): Promise<BlobRef> {
    const [ref] = await this.putAll(owner, [bytes])
    return ref
  }

  async putAll(owner: string, all: readonly Uint8Array[], claim?: Claim): Promise<BlobRef[]> {
    const hashes = all.map(sha256)
    const size = all.reduce((sum, { length }) => sum + length, 0)
    if (size <= CARRIED && all.every(({ length }) => length <= this.inRow))
      return all.map((bytes, k) => ({ owner, hash: hashes[k], fresh: { body: asBuffer(bytes) } }))
    if (claim) this.claims.add(claim)
    const refs = new Map<string, BlobRef>()
    for (let k = 0; k < all.length; ) {
      let end = k
      for (let bytes = 0; end < all.length && end - k < WRITTEN_BLOBS && bytes < BATCH_BYTES; end++)
        bytes += all[end].length
      const missing = new Map<string, Uint8Array>()
      for (let n = k; n < end; n++) if (!refs.has(hashes[n])) missing.set(hashes[n], all[n])
      for (const ref of await this.putSome(owner, missing, claim)) refs.set(ref.hash, ref)
      k = end
    }
    return hashes.map((hash) => refs.get(hash)!)
  }

  async release(claim: Claim, isGivenUp: boolean): Promise<void> {
    this.claims.delete(claim)
    const keys = isGivenUp ? [...claim.keys] : []
    claim.keys.clear()
    for (let k = 0; k < keys.length; k += REMOVED)
      await this.remove(claim.owner, [], (db) =>
        removeObjects(db, claim.owner, keys.slice(k, k + REMOVED), [STATES.writing]),
      )
  }

  /**
   * Removes objects: their rows, and what is outside of the database after its row has ended. Such a row stays until the
   * next sweep, which removes the bytes once more: a slow upload may have stored them after the row had ended.
   * `homes`: where objects were first stored, so that of two owners who share one the last removes its bytes. Returns
   * how many.
   */
  private async remove(
    owner: string,
    homes: readonly string[],
    work: (db: Db) => Promise<Removed>,
  ): Promise<number> {
    const { count, ended } = await this.engine.write([owner, ...homes], work, { frees: true })
    await eachOf(ended, async ({ place, key }) => (await this.places.store(place)).remove(key))
    const finished = ended.flatMap(({ key, isOver }) => (isOver ? [key] : []))
    if (finished.length > 0)
      await this.engine.write(
        [owner],
        (db) =>
          db
            .deleteFrom('objects')
            .where('owner', '=', owner)
            .where('key', 'in', finished)
            .where('state', '=', STATES.ended)
            .execute(),
        { frees: true },
      )
    return count
  }

  /** Stores the bytes of an owner that are not there, in one transaction. */
  private async putSome(
    owner: string,
    missing: ReadonlyMap<string, Uint8Array>,
    claim: Claim | undefined,
  ): Promise<BlobRef[]> {
    if (missing.size === 0) return []
    const { id, store } = await this.places.current()
    const insertRows = async (db: Db) => {
      const changed_at = Date.now()
      const stored = new Set(await liveAmong(db, owner, [...missing.keys()]))
      // Those that nothing refers to now are kept as long as new ones.
      if (stored.size > 0)
        await db
          .updateTable('objects')
          .set({ changed_at })
          .where('owner', '=', owner)
          .where('hash', 'in', [...stored])
          .where('state', '=', sql.lit(STATES.live))
          .where('changed_at', '<', changed_at - FRESH)
          .execute()
      const refs: BlobRef[] = [...stored].map((hash) => ({ owner, hash }))
      const objects = []
      const pieces = []
      const uploads: { key: string; bytes: Uint8Array; hash: string }[] = []
      for (const [hash, bytes] of missing) {
        if (stored.has(hash)) continue
        // A key is never used twice: what was removed under it cannot be what is stored under it.
        const key = randomBytes(12).toString('hex')
        refs.push({ owner, hash, fresh: { key } })
        claim?.keys.add(key)
        const isSmall = bytes.length <= this.inRow
        objects.push({
          owner,
          key,
          hash,
          state: STATES.writing,
          home: owner,
          place: isSmall ? '' : id,
          bytes: bytes.length,
          body: isSmall ? bytes : null,
          changed_at,
        })
        if (store && !isSmall) uploads.push({ key, bytes, hash })
        for (let piece = 0; !store && !isSmall && piece * PIECE < bytes.length; piece++)
          pieces.push({ home: owner, key, piece, body: bytes.subarray(piece * PIECE, (piece + 1) * PIECE) })
      }
      if (objects.length > 0) await db.insertInto('objects').values(objects).execute()
      if (pieces.length > 0) await db.insertInto('blob_pieces').values(pieces).execute()
      return { refs, uploads }
    }
    // A row must last before bytes go where only the row knows of them.
    const { refs, uploads } = store
      ? await this.engine.write([], insertRows, { repeatable: true })
      : await this.engine.writeDeferred(insertRows)
    await eachOf(uploads, ({ key, bytes, hash }) => store!.put(key, bytes, hash))
    return refs
  }

  async get(ref: BlobRef): Promise<Buffer> {
    return (await this.getAll([ref])).get(nameOf(ref))!
  }

  async getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>> {
    const bytesByName = new Map<string, Buffer>()
    const byOwner = new Map<string, { hashes: Set<string>; keys: Set<string> }>()
    for (const ref of refs) {
      const { owner, hash, fresh } = ref
      if (fresh && 'body' in fresh) {
        bytesByName.set(nameOf(ref), fresh.body)
        continue
      }
      const ownerRefs = byOwner.get(owner) ?? { hashes: new Set(), keys: new Set() }
      if (fresh) ownerRefs.keys.add(fresh.key)
      else ownerRefs.hashes.add(hash)
      byOwner.set(owner, ownerRefs)
    }
    if (byOwner.size > 0) {
      const external = await this.engine.read((db) => readObjects(db, byOwner, bytesByName))
      await eachOf(external, async ({ name, place, key }) => {
        const bytes = await (await this.places.store(place)).get(key)
        if (bytes) bytesByName.set(name, bytes)
      })
    }
    for (const ref of refs) bytesByName.set(nameOf(ref), verified(ref, bytesByName.get(nameOf(ref))))
    return bytesByName
  }

  async collect(grace = GRACE_MS, now = Date.now()): Promise<number> {
    await this.touch(now)
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
            unreferred(
              db,
              owner,
              ownerRows.map(({ hash }) => hash),
            ),
          ),
        )
        const removable = ownerRows.filter(({ hash, state }) => state !== STATES.live || unused.has(hash))
        // A few in each transaction: others wait.
        for (let k = 0; k < removable.length; k += REMOVED) {
          const batch = removable.slice(k, k + REMOVED)
          const homes = batch.map(({ home }) => home)
          removed += await this.remove(owner, homes, (db) => removeUnused(db, owner, batch, now - grace))
        }
      }
      if (rows.length < BATCH_ROWS) return removed
      after = rows.at(-1)!
    }
  }

  /** Makes objects of running uploads count as new, however long the uploads take. */
  private async touch(changed_at: number): Promise<void> {
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

/** Bytes in a store outside of the database, and what they are named by `nameOf`. */
interface Outside {
  name: string
  place: string
  key: string
}

/** Does `work` for all, a few at a time. */
async function eachOf<T>(all: readonly T[], work: (worker: T) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < all.length) await work(all[next++])
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, all.length) }, worker))
}

/** Owners whose objects are read with one statement. */
const OWNERS = 100

/** Adds the bytes of objects to `found`, by `nameOf`; not verified. Returns those outside of the database. */
async function readObjects(
  db: Db,
  byOwner: ReadonlyMap<string, { hashes: ReadonlySet<string>; keys: ReadonlySet<string> }>,
  bytesByName: Map<string, Buffer>,
): Promise<Outside[]> {
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
    for (let k = 0; k < all.length; k += OWNERS) {
      const batch = all.slice(k, k + OWNERS).filter(([, ownerRefs]) => valuesOf(ownerRefs).size > 0)
      if (batch.length === 0) continue
      const query = select.where(({ or, and, eb }) =>
        or(
          batch.map(([owner, ownerRefs]) =>
            and([eb('owner', '=', owner), eb(column, 'in', [...valuesOf(ownerRefs)])]),
          ),
        ),
      )
      rows.push(
        ...(await (column === 'hash' ? query.where('state', '=', sql.lit(STATES.live)) : query).execute()),
      )
    }
  const external: Outside[] = []
  const inPieces = new Map<string, Map<string, string>>()
  for (const { owner, key, hash, home, place, body } of rows) {
    if (body) {
      bytesByName.set(nameOf({ owner, hash }), asBuffer(body))
      continue
    }
    if (place !== IN_DATABASE) {
      external.push({ name: nameOf({ owner, hash }), place, key })
      continue
    }
    const names = inPieces.get(home) ?? new Map<string, string>()
    names.set(key, nameOf({ owner, hash }))
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

/** Bytes as they were stored. Throws `damaged` unless they match their checksum. */
function verified({ hash }: BlobRef, bytes: Buffer | undefined): Buffer {
  if (bytes && sha256(bytes) === hash) return bytes
  throw new Problem(
    'damaged',
    `stored bytes are damaged: blob ${hash.slice(0, 12)} ${bytes ? 'does not match its checksum' : 'is missing'}`,
  )
}

/** Size of the texts that are read or written together, in bytes. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_BLOBS = 500
const WRITTEN_BLOBS = 1000

/** Reads blobs with few queries, if they are asked for in the order of `slices`. Each is kept until it is read. */
export class BatchedBlobs implements BlobReader {
  /** By name: the batch that has it, and how often it is still going to be read. */
  private readonly waiting = new Map<string, { batch: Promise<Map<string, Buffer>>; left: number }>()
  private next = 0

  constructor(
    private readonly blobs: BlobReader,
    private readonly slices: readonly { blob: BlobRef; bytes: number }[],
  ) {}

  async get(ref: BlobRef): Promise<Buffer> {
    const { slices } = this
    const name = nameOf(ref)
    const next = slices[this.next]
    if (!this.waiting.has(name) && next && nameOf(next.blob) === name) this.load()
    const entry = this.waiting.get(name)
    if (!entry) return this.blobs.get(ref)
    if (--entry.left === 0) this.waiting.delete(name)
    return (await entry.batch).get(name)!
  }

  getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>> {
    return this.blobs.getAll(refs)
  }

  /** Reads the next slices: as many as fit, at least one. */
  private load(): void {
    const { slices } = this
    const refs = new Map<string, BlobRef>()
    const names: string[] = []
    for (let size = 0; this.next < slices.length && names.length < BATCH_BLOBS; this.next++) {
      const { blob, bytes } = slices[this.next]
      size += bytes
      if (names.length > 0 && size > BATCH_BYTES) break
      names.push(nameOf(blob))
      refs.set(nameOf(blob), blob)
    }
    const batch = this.blobs.getAll([...refs.values()])
    // Prevent an unhandled rejection; the error is seen when the batch is awaited.
    batch.catch(() => {})
    for (const name of names) {
      const left = this.waiting.get(name)?.left ?? 0
      this.waiting.set(name, { batch, left: left + 1 })
    }
  }
}

/** Objects looked at in one transaction, and removed. */
const BATCH_ROWS = 500
const REMOVED = 50

/** The tables whose rows refer to blobs of their owner. */
export const NAMING = ['slices', 'contents', 'past_slices', 'versions'] as const

/** Those of these hashes that no file of the owner refers to. One statement: references move from table to table. */
async function unreferred(db: Db, owner: string, hashes: readonly string[]): Promise<string[]> {
  const unique = [...new Set(hashes)]
  if (unique.length === 0) return []
  const [first, ...rest] = NAMING.map((table) =>
    db.selectFrom(table).select('hash').where('owner', '=', owner).where('hash', 'in', unique),
  )
  const rows = await rest.reduce((all, query) => all.union(query), first).execute()
  const referenced = new Set(rows.map(({ hash }) => hash))
  return unique.filter((hash) => !referenced.has(hash))
}

/** Those of these hashes of an owner that are stored, with rows that may refer to them. */
async function liveAmong(db: Db, owner: string, hashes: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('objects')
    .select('hash')
    .where('owner', '=', owner)
    .where('hash', 'in', hashes)
    .where('state', '=', sql.lit(STATES.live))
    .execute()
  return rows.map(({ hash }) => hash)
}

/** Removes objects that were not changed since a time, unless something refers to them now. Under the lock of the owner. */
async function removeUnused(
  db: Db,
  owner: string,
  objects: readonly { key: string; hash: string }[],
  before: number,
): Promise<Removed> {
  const unused = new Set(
    await unreferred(
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
    .filter(({ hash, state }) => state !== STATES.live || unused.has(hash))
    .map(({ key }) => key)
  const over = new Set(rows.flatMap(({ key, state }) => (state === STATES.ended ? [key] : [])))
  return removeObjects(db, owner, keys, [STATES.writing, STATES.live, STATES.ended], { before, over })
}

interface Removed {
  count: number
  /** Rows that have ended, whose bytes outside of the database are to be removed; `isOver`: with their rows. */
  ended: { place: string; key: string; isOver: boolean }[]
}

/**
 * Removes objects of an owner that are in one of these states, with their bytes in the database unless another owner
 * has them. Those outside of it only end.
 */
async function removeObjects(
  db: Db,
  owner: string,
  keys: readonly string[],
  states: readonly number[],
  /** Only those that have not been changed since; those that had ended before. */
  {
    before = Number.MAX_SAFE_INTEGER,
    over = new Set<string>(),
  }: { before?: number; over?: ReadonlySet<string> } = {},
): Promise<Removed> {
  if (keys.length === 0) return { count: 0, ended: [] }
  const endedRows = await db
    .updateTable('objects')
    .set({ state: STATES.ended, changed_at: Date.now() })
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
    .where('state', '<>', STATES.ended)
    .execute()
  const sharedKeys = new Set(shared.map(({ key }) => key))
  const unshared = endedRows.filter(({ key }) => !sharedKeys.has(key))
  const ended = unshared
    .filter(({ place }) => place !== '' && place !== IN_DATABASE)
    .map(({ place, key }) => ({ place, key, isOver: over.has(key) }))
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
 * Makes blobs what rows of an owner refer to, in the transaction that adds these rows. Those of another owner are shared.
 * Throws `overloaded` if one is gone: a sweep may have collected it if the clock jumped during an upload.
 */
export async function refer(db: Db, owner: string, refs: readonly BlobRef[]): Promise<void> {
  const byHash = new Map<string, BlobRef>()
  for (const ref of refs) if (!byHash.get(ref.hash)?.fresh) byHash.set(ref.hash, ref)
  const unique = [...byHash.values()]
  for (let k = 0; k < unique.length; k += BATCH_ROWS) {
    await breathe()
    await referSome(db, owner, unique.slice(k, k + BATCH_ROWS))
  }
}

async function referSome(db: Db, owner: string, refs: readonly BlobRef[]): Promise<void> {
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
          state: STATES.live,
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
          .where('state', '=', sql.lit(STATES.live))
          .doUpdateSet({ changed_at }),
      )
      .execute()
  const storedRefs = refs.filter(({ fresh }) => !fresh || !('body' in fresh))
  if (storedRefs.length === 0) return
  const hashes = storedRefs.map(({ hash }) => hash)
  const liveHashes = new Set(await liveAmong(db, owner, hashes))
  const keys = storedRefs.flatMap(({ hash, fresh }) =>
    fresh && 'key' in fresh && !liveHashes.has(hash) ? [fresh.key] : [],
  )
  if (keys.length > 0) {
    const completed = await db
      .updateTable('objects')
      .set({ state: STATES.live, changed_at })
      .where('owner', '=', owner)
      .where('key', 'in', keys)
      .where('state', '=', STATES.writing)
      .returning('hash')
      .execute()
    for (const { hash } of completed) liveHashes.add(hash)
  }
  for (const from of new Set(storedRefs.map((ref) => ref.owner))) {
    const shared = storedRefs.filter(
      (ref) => ref.owner === from && from !== owner && !liveHashes.has(ref.hash),
    )
    if (shared.length === 0) continue
    for (const hash of await share(
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

/** Gives blobs of an owner to another one as well. Returns their hashes. Both owners are locked. */
async function share(db: Db, from: string, to: string, hashes: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('objects')
    .selectAll()
    .where('owner', '=', from)
    .where('hash', 'in', hashes)
    .where('state', '=', sql.lit(STATES.live))
    .execute()
  if (rows.length > 0)
    await db
      .insertInto('objects')
      .values(rows.map((row) => ({ ...row, owner: to, changed_at: Date.now() })))
      .onConflict((conflict) => conflict.columns(['owner', 'key']).doUpdateSet({ state: STATES.live }))
      .execute()
  return rows.map(({ hash }) => hash)
}

/** Notes that rows of an owner refer to blobs no more: readers may still be using them for a while. */
export async function letGo(db: Db, owner: string, hashes: Expression<{ hash: string }>): Promise<void> {
  await db
    .updateTable('objects')
    .set({ changed_at: Date.now() })
    .where('owner', '=', owner)
    .where(sql<boolean>`hash in (${hashes})`)
    .execute()
}
