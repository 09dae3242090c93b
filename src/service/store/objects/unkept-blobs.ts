// Blobs of a dry run.
import { type BlobRef, type Blobs, blobIdOf, type Claim } from './blobs.ts'

/** Blobs of a dry run: what is stored is removed at its end. */
export class UnkeptBlobs implements Blobs {
  private readonly claims = new Map<string, Claim>()
  /** Blobs stored by this dry run, by name: rows that refer to it are rolled back. */
  private readonly fresh = new Map<string, BlobRef>()

  /** Blobs that were read, by hash: those of copies are only with their first owner. */
  private readonly known = new Map<string, BlobRef>()

  constructor(private readonly stored: Blobs) {}

  async get(ref: BlobRef): Promise<Buffer> {
    const kept = this.findKept(ref)
    const bytes = await this.stored.get(kept)
    this.known.set(kept.hash, kept)
    return bytes
  }

  async getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>> {
    const kept = refs.map((ref) => this.findKept(ref))
    const bytes = await this.stored.getAll(kept)
    return new Map(
      refs.flatMap((ref, k) => {
        const found = bytes.get(blobIdOf(kept[k]))
        return found ? [[blobIdOf(ref), found] as const] : []
      }),
    )
  }

  /** Returns where the bytes of a blob are, since rows that refer to it are rolled back. */
  private findKept(ref: BlobRef): BlobRef {
    return this.fresh.get(blobIdOf(ref)) ?? this.known.get(ref.hash) ?? ref
  }

  collectUnreferenced(...options: Parameters<Blobs['collectUnreferenced']>): Promise<number> {
    return this.stored.collectUnreferenced(...options)
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
