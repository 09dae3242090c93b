// Immutable bytes by owner and SHA-256: their interface, and reading them in batches.

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
  collectUnreferenced(grace?: number, now?: number, throwIfStopped?: () => Promise<void>): Promise<number>
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

/** Size in bytes, and number, of blobs read together. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_BLOBS = 500

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
