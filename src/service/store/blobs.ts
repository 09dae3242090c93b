import { Problem } from '../../contract/errors.ts'
import { asBuffer, breathe } from '../../json/index.ts'
import { locked, type Transactions } from './engine.ts'
import { sha256 } from './hash.ts'
import type { Db } from './schema.ts'

/**
 * Content-addressed bytes, keyed by SHA-256. A blob is written before the row that refers to it, never
 * changed, and verified at every read. Blobs without a reference are garbage-collected later.
 */
export interface Blobs extends BlobReader {
  /** Stores the bytes unless they already exist. Returns their hash in hex. */
  put(bytes: Uint8Array): Promise<string>
  /** The same for several, in few transactions. `claim`: of an upload that may be given up. */
  putAll(all: readonly Uint8Array[], claim?: Claim): Promise<string[]>
  /** Ends a claim. What it added is removed if `isGivenUp`, unless something else uses it by now. */
  release(claim: Claim, isGivenUp: boolean): Promise<void>
  /**
   * Removes all unreferenced blobs older than `grace` ms, in batches, so that no transaction takes long.
   * Returns how many were removed.
   */
  collect(grace?: number, now?: number): Promise<number>
}

/** The blobs of an upload that is under way. */
export interface Claim {
  /** Hashes that the upload stored first. */
  added: Set<string>
  /** Hashes that the upload needs. */
  held: Set<string>
}

export interface BlobReader {
  /** Returns the bytes. Throws `damaged` if they are missing or have changed. */
  get(hash: string): Promise<Buffer>
  /** The same for several, with one query. */
  getAll(hashes: readonly string[]): Promise<Map<string, Buffer>>
}

const PIECE = 256 * 1024
/** Minimum age of a collected blob, in ms: younger ones may belong to a running upload or read. */
const GRACE = 24 * 3600 * 1000
/** Blobs stored within this time count as new, in ms. */
const FRESH = 3600 * 1000

/** Blobs stored in the database, in pieces. */
export class SqlBlobs implements Blobs {
  /**
   * `holders`: how many uploads of this process need a blob; a retry needs what the upload before it has stored. All
   * lanes of a store share it.
   */
  constructor(
    private readonly engine: Transactions,
    private readonly holders = new Map<string, number>(),
  ) {}

  async put(bytes: Uint8Array): Promise<string> {
    const [hash] = await this.putAll([bytes])
    return hash
  }

  async putAll(all: readonly Uint8Array[], claim?: Claim): Promise<string[]> {
    const hashes = all.map(sha256)
    for (const hash of hashes)
      if (claim && !claim.held.has(hash)) {
        claim.held.add(hash)
        this.holders.set(hash, (this.holders.get(hash) ?? 0) + 1)
      }
    for (let k = 0; k < all.length; ) {
      let end = k
      for (let size = 0; end < all.length && end - k < WRITTEN_BLOBS && size < BATCH_BYTES; end++)
        size += all[end].length
      const added = await this.putSome(hashes.slice(k, end), all.slice(k, end))
      for (const hash of added) claim?.added.add(hash)
      k = end
    }
    return hashes
  }

  async release({ added, held }: Claim, isGivenUp: boolean): Promise<void> {
    for (const hash of held) {
      const left = this.holders.get(hash)! - 1
      if (left > 0) this.holders.set(hash, left)
      else this.holders.delete(hash)
    }
    held.clear()
    const removed = isGivenUp ? [...added].filter((hash) => !this.holders.has(hash)) : []
    added.clear()
    for (let k = 0; k < removed.length; k += BATCH)
      await this.engine.write([], (db) =>
        removeOrphans(db, removed.slice(k, k + BATCH), Number.MAX_SAFE_INTEGER),
      )
  }

  /** Stores blobs in one transaction. Returns the hashes of those that were not there. */
  private async putSome(hashes: readonly string[], all: readonly Uint8Array[]): Promise<string[]> {
    const missing = new Map(hashes.map((hash, k) => [hash, all[k]]))
    return this.engine.writeDeferred(async (db) => {
      const stored_at = Date.now()
      const known = await db
        .selectFrom('blobs')
        .select(['hash', 'stored_at'])
        .where('hash', 'in', [...missing.keys()])
        .execute()
      const added = new Map(missing)
      for (const { hash } of known) added.delete(hash)
      // Blobs that exist: refresh their time, so that they are kept as long as new ones.
      const old = known.filter((blob) => blob.stored_at < stored_at - FRESH).map(({ hash }) => hash)
      for (const hash of old.sort()) {
        const { numUpdatedRows } = await db
          .updateTable('blobs')
          .set({ stored_at })
          .where('hash', '=', hash)
          .executeTakeFirst()
        // It has been collected since.
        if (numUpdatedRows === 0n) added.set(hash, missing.get(hash)!)
      }
      if (added.size === 0) return []
      // In the order of hashes: two transactions that store the same blobs cannot wait for each other.
      const rows = [...added].sort(([one], [other]) => (one < other ? -1 : 1))
      // Another transaction may store one of them meanwhile, and is waited for.
      const inserted = await db
        .insertInto('blobs')
        .values(rows.map(([hash]) => ({ hash, stored_at })))
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .returning('hash')
        .execute()
      if (inserted.length === 0) return []
      const pieces: { hash: string; piece: number; body: Uint8Array }[] = []
      const mine = inserted.map(({ hash }) => [hash, added.get(hash)!] as const)
      for (const [hash, bytes] of mine)
        for (let piece = 0; piece * PIECE < Math.max(1, bytes.length); piece++)
          pieces.push({ hash, piece, body: bytes.subarray(piece * PIECE, (piece + 1) * PIECE) })
      await db.insertInto('blob_pieces').values(pieces).execute()
      return mine.map(([hash]) => hash)
    })
  }

  async get(hash: string): Promise<Buffer> {
    const pieces = await this.engine.read((db) =>
      db.selectFrom('blob_pieces').select('body').where('hash', '=', hash).orderBy('piece').execute(),
    )
    return verified(hash, pieces)
  }

  async getAll(hashes: readonly string[]): Promise<Map<string, Buffer>> {
    if (hashes.length === 0) return new Map()
    const pieces = await this.engine.read((db) =>
      db
        .selectFrom('blob_pieces')
        .select(['hash', 'body'])
        .where('hash', 'in', hashes)
        .orderBy('hash')
        .orderBy('piece')
        .execute(),
    )
    const byHash = new Map<string, { body: Uint8Array }[]>(hashes.map((hash) => [hash, []]))
    for (const piece of pieces) byHash.get(piece.hash)!.push(piece)
    return new Map([...byHash].map(([hash, own]) => [hash, verified(hash, own)]))
  }

  async collect(grace = GRACE, now = Date.now()): Promise<number> {
    await this.touch([...this.holders.keys()], now)
    let removed = 0
    for (let after = ''; ; ) {
      const batch = await this.engine.read((db) => orphans(db, now - grace, after))
      // A few in each transaction: others wait. Those that have been referenced since are kept.
      for (let k = 0; k < batch.orphans.length; k += REMOVED)
        removed += await this.engine.write([], (db) =>
          removeOrphans(db, batch.orphans.slice(k, k + REMOVED), now - grace),
        )
      if (batch.last === undefined) return removed
      after = batch.last
    }
  }

  /** Makes blobs of running uploads count as new, however long the uploads take. */
  private async touch(hashes: readonly string[], stored_at: number): Promise<void> {
    for (let k = 0; k < hashes.length; k += BATCH) {
      const some = hashes.slice(k, k + BATCH).sort()
      await this.engine.write([], (db) =>
        db.updateTable('blobs').set({ stored_at }).where('hash', 'in', some).execute(),
      )
    }
  }
}

/** The bytes of a blob. Throws `damaged` unless they match its checksum. */
function verified(hash: string, pieces: readonly { body: Uint8Array }[]): Buffer {
  const bytes = pieces.length === 1 ? asBuffer(pieces[0].body) : Buffer.concat(pieces.map(({ body }) => body))
  if (sha256(bytes) === hash) return bytes
  throw new Problem(
    'damaged',
    `stored bytes are damaged: blob ${hash.slice(0, 12)} does not match its checksum`,
  )
}

/** Size of the texts that are read or written together, in bytes. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_BLOBS = 500
const WRITTEN_BLOBS = 1000

/** Reads blobs with few queries, if they are asked for in the order of `slices`. Each is kept until it is read. */
export class BatchedBlobs implements BlobReader {
  /** By hash: the batch that has it, and how often it is still going to be read. */
  private readonly waiting = new Map<string, { batch: Promise<Map<string, Buffer>>; left: number }>()
  private next = 0

  constructor(
    private readonly blobs: BlobReader,
    private readonly slices: readonly { hash: string; bytes: number }[],
  ) {}

  async get(hash: string): Promise<Buffer> {
    const { slices } = this
    if (!this.waiting.has(hash) && slices[this.next]?.hash === hash) this.load()
    const known = this.waiting.get(hash)
    if (!known) return this.blobs.get(hash)
    if (--known.left === 0) this.waiting.delete(hash)
    return (await known.batch).get(hash)!
  }

  getAll(hashes: readonly string[]): Promise<Map<string, Buffer>> {
    return this.blobs.getAll(hashes)
  }

  /** Reads the next slices: as many as fit, at least one. */
  private load(): void {
    const { slices } = this
    const hashes: string[] = []
    for (let size = 0; this.next < slices.length && hashes.length < BATCH_BLOBS; this.next++) {
      const { hash, bytes } = slices[this.next]
      size += bytes
      if (hashes.length > 0 && size > BATCH_BYTES) break
      hashes.push(hash)
    }
    const batch = this.blobs.getAll([...new Set(hashes)])
    // Prevent an unhandled rejection; the error is seen when the batch is awaited.
    batch.catch(() => {})
    for (const hash of hashes) {
      const left = this.waiting.get(hash)?.left ?? 0
      this.waiting.set(hash, { batch, left: left + 1 })
    }
  }
}

/** Blobs checked per transaction, and removed. */
const BATCH = 500
const REMOVED = 50

/** Unreferenced blobs among the next batch after `after`. `last` is where the next batch starts. */
async function orphans(
  db: Db,
  before: number,
  after: string,
): Promise<{ orphans: string[]; last: string | undefined }> {
  const rows = await db
    .selectFrom('blobs')
    .select('hash')
    .where('hash', '>', after)
    .orderBy('hash')
    .limit(BATCH)
    .execute()
  const hashes = rows.map(({ hash }) => hash)
  return {
    orphans: hashes.length > 0 ? await unnamed(db, await oldAmong(db, hashes, before)) : [],
    last: hashes.length < BATCH ? undefined : hashes.at(-1),
  }
}

/**
 * Removes those of these blobs that nothing refers to, stored before a time. Returns how many. They are locked first:
 * a transaction that refers to one has ended, or finds that it is gone (`requireBlobs`).
 */
async function removeOrphans(db: Db, hashes: readonly string[], before: number): Promise<number> {
  const still = await unnamed(db, await oldAmong(db, hashes, before, 'update'))
  if (still.length === 0) return 0
  for (const table of ['blob_pieces', 'blobs'] as const)
    await db.deleteFrom(table).where('hash', 'in', still).execute()
  return still.length
}

/** The tables whose rows refer to blobs. */
export const NAMING = ['slices', 'contents', 'past_slices', 'versions'] as const

/** Those of these blobs that were stored before a time, locked if asked for. */
async function oldAmong(
  db: Db,
  hashes: readonly string[],
  before: number,
  lock?: 'update',
): Promise<string[]> {
  const old = db
    .selectFrom('blobs')
    .select('hash')
    .where('hash', 'in', hashes)
    .where('stored_at', '<', before)
    .orderBy('hash')
  return (await (lock ? locked(db, old, lock) : old).execute()).map(({ hash }) => hash)
}

/** Those of these blobs that nothing refers to. One statement: references move from table to table. */
async function unnamed(db: Db, hashes: readonly string[]): Promise<string[]> {
  if (hashes.length === 0) return []
  const [first, ...more] = NAMING.map((table) =>
    db.selectFrom(table).select('hash').where('hash', 'in', hashes),
  )
  const rows = await more.reduce((all, one) => all.union(one), first).execute()
  const named = new Set(rows.map(({ hash }) => hash))
  return hashes.filter((hash) => !named.has(hash))
}

/**
 * Locks blobs that the transaction refers to, so that no sweep removes them meanwhile. Throws `overloaded` if one is
 * gone: a sweep may have collected it if the clock jumped during an upload.
 */
export async function requireBlobs(db: Db, needed: readonly string[]): Promise<void> {
  const hashes = [...new Set(needed)].sort()
  for (let k = 0; k < hashes.length; k += BATCH) {
    await breathe()
    const some = hashes.slice(k, k + BATCH)
    const rows = await locked(
      db,
      db.selectFrom('blobs').select('hash').where('hash', 'in', some).orderBy('hash'),
      'share',
    ).execute()
    if (rows.length < some.length)
      throw new Problem('overloaded', 'stored data was removed before the change was complete', {
        hint: 'Repeat the request.',
      })
  }
}
