import { createHash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { Engine } from './engine.ts'

/**
 * Bytes under their SHA-256. Written before the row that names them, never changed, checked at every
 * read; a blob that no row came to name is collected later.
 */
export interface Blobs {
  /** Stores the bytes if they are not there yet; returns their hash, hex. */
  put(bytes: Uint8Array): Promise<string>
  /** The bytes; Problem `damaged` if they are gone or are no longer what was stored. */
  get(hash: string): Promise<Buffer>
}

const PIECE = 256 * 1024
/** A blob that nothing names may be part of an upload under way, or of a read that began before it was let go. */
const GRACE = 24 * 3600 * 1000

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Blobs in the database itself, in pieces. */
export class SqlBlobs implements Blobs {
  constructor(private readonly engine: Engine) {}

  async put(bytes: Uint8Array): Promise<string> {
    const hash = sha256(bytes)
    await this.engine.stage(async (db) => {
      const stored_at = Date.now()
      // Seen again: it lives on as long as a new one.
      const known = await db
        .updateTable('blobs')
        .set({ stored_at })
        .where('hash', '=', hash)
        .executeTakeFirst()
      if (known.numUpdatedRows > 0n) return
      await db.insertInto('blobs').values({ hash, stored_at }).execute()
      for (let piece = 0; piece * PIECE < Math.max(1, bytes.length); piece++) {
        const body = bytes.subarray(piece * PIECE, (piece + 1) * PIECE)
        await db.insertInto('blob_pieces').values({ hash, piece, body }).execute()
      }
    })
    return hash
  }

  async get(hash: string): Promise<Buffer> {
    const pieces = await this.engine.read((db) =>
      db.selectFrom('blob_pieces').select('body').where('hash', '=', hash).orderBy('piece').execute(),
    )
    const bytes =
      pieces.length === 1 ? asBuffer(pieces[0].body) : Buffer.concat(pieces.map(({ body }) => body))
    if (sha256(bytes) !== hash) {
      throw new Problem(
        'damaged',
        `stored bytes are damaged: blob ${hash.slice(0, 12)} does not match its checksum`,
      )
    }
    return bytes
  }

  /** Removes up to `most` blobs that nothing names and nothing is about to; returns how many. */
  async collect(most = 500, now = Date.now()): Promise<number> {
    return this.engine.write(async (db) => {
      const orphans = await db
        .selectFrom('blobs')
        .select('hash')
        .where('stored_at', '<', now - GRACE)
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('slices').select('slices.hash').whereRef('slices.hash', '=', 'blobs.hash'))),
        )
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('contents').select('contents.hash').whereRef('contents.hash', '=', 'blobs.hash'),
            ),
          ),
        )
        .limit(most)
        .execute()
      if (orphans.length === 0) return 0
      const hashes = orphans.map(({ hash }) => hash)
      for (const table of ['blobs', 'blob_pieces'] as const) {
        await db.deleteFrom(table).where('hash', 'in', hashes).execute()
      }
      return orphans.length
    })
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
