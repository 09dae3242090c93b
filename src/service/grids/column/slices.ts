// Stores the slices of a table while it is parsed.
import type { ParsedColumn, Slice, SliceSink } from '../../../ingest/index.ts'
import { convertTexts, type Form, quoteNumbers } from '../../../ingest/slices.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import {
  canShareBlob,
  isPackable,
  loadDecompressed,
  storeSlice,
  storeSlices,
} from '../../store/aggregates/slice-json.ts'
import type { Blobs, Claim } from '../../store/objects/blobs.ts'

/** Number of batches that are compressed and stored at once. The parser waits above `BACKLOG_BYTES`. */
const MAX_RUNNING_STORES = 2
const BATCH_BYTES = 512 * 1024
const BACKLOG_BYTES = 2 * 1024 * 1024
/** Lifetime of the claim on stored slices, for the transaction that refers to them, in ms. */
const CLAIM_MS = 60_000
/**
 * Maximum size of a table that is kept in memory, in bytes: a small append goes to the tail, not to slices.
 */
const MAX_SMALL_BYTES = 64 * 1024

/** Placeholder for the blob of a slice that is being stored. */
const NOT_STORED = { blob: { owner: '', hash: '' }, packOffset: undefined }

/** A stored slice. `form`: how the parser encoded its values. */
export interface StoredSlice extends SliceRef {
  form: Form
}

/** Stores the slices of a table while it is parsed. Applies backpressure if storing is slower. */
export class SliceWriter implements SliceSink {
  /** Stored slices, by column. */
  readonly columns: StoredSlice[][] = []
  private waiting: Slice[] = []
  private waitingBytes = 0
  private bytes = 0
  private readonly running = new Set<Promise<void>>()
  private failure: unknown
  private hasEnded = false
  private readonly claim: Claim

  constructor(
    private readonly blobs: Blobs,
    private readonly owner: string,
  ) {
    this.claim = { owner, keys: new Set() }
  }

  begin(names: string[]): void {
    for (const _ of names) this.columns.push([])
  }

  async slice(slice: Slice): Promise<void> {
    this.waiting.push(slice)
    this.waitingBytes += slice.text.length
    this.bytes += slice.text.length
    if (this.bytes <= MAX_SMALL_BYTES) return
    this.startStores()
    while (this.waitingBytes > BACKLOG_BYTES) await Promise.race(this.running)
    if (this.failure) throw this.failure
  }

  /** Slices of a small table that is still in memory; undefined for larger tables. */
  get smallSlices(): readonly Slice[] | undefined {
    return this.bytes <= MAX_SMALL_BYTES ? this.waiting : undefined
  }

  /** Stores queued slices, then encodes slices again that do not have the final type of their column. */
  async finish(columns: readonly ParsedColumn[]): Promise<void> {
    this.hasEnded = true
    while (!this.failure && (this.waiting.length > 0 || this.running.size > 0)) {
      this.startStores()
      await Promise.race(this.running)
    }
    if (this.failure) throw this.failure
    for (const [column, slices] of this.columns.entries()) {
      const { type } = columns[column]
      if (type === 'number' || type === 'empty' || (type === 'boolean' && !columns[column].rewrite)) continue
      for (const slice of slices) {
        const text = await reencode(this.blobs, slice, columns[column])
        if (text) await this.replaceSlice(slice, text)
      }
    }
    // Keep the claim until the transaction refers to the slices: an abandoned upload must not remove them.
    setTimeout(() => this.blobs.releaseClaim(this.claim, false).catch(() => {}), CLAIM_MS).unref()
  }

  private async replaceSlice(slice: StoredSlice, text: Buffer): Promise<void> {
    const { seq, rows, ended } = slice
    Object.assign(slice, await storeSlice(this.blobs, this.owner, { rows, text, ended }), {
      seq,
      form: 'text',
    })
  }

  /**
   * Discards an abandoned table: drops queued slices, waits for running writes, and removes stored slices.
   */
  async discard(): Promise<void> {
    this.waiting = []
    await Promise.all(this.running)
    await this.blobs.releaseClaim(this.claim, true)
  }

  private startStores(): void {
    while (this.running.size < MAX_RUNNING_STORES) {
      const batch = this.takeBatch()
      if (batch.length === 0) return
      const job: Promise<void> = this.storeBatch(batch)
        .catch((error) => {
          this.failure ??= error
        })
        .then(() => {
          this.running.delete(job)
          if (!this.failure) this.startStores()
          else this.waitingBytes = 0
        })
      this.running.add(job)
    }
  }

  /** Takes slices to store. Those of a pack are taken together, so that blobs do not depend on the time. */
  private takeBatch(): Slice[] {
    const { waiting } = this
    const sharesBlob = (k: number): boolean =>
      k > 0 && k < waiting.length && canShareBlob(waiting[k - 1], waiting[k])
    let bytes = 0
    let count = 0
    while (count < waiting.length && (bytes < BATCH_BYTES || sharesBlob(count)))
      bytes += waiting[count++].text.length
    // The next slice may belong to the pack of the last one.
    if (count === waiting.length && !this.hasEnded && count > 0 && isPackable(waiting[count - 1]))
      do bytes -= waiting[--count].text.length
      while (sharesBlob(count))
    this.waitingBytes -= bytes
    return waiting.splice(0, count)
  }

  private async storeBatch(batch: readonly Slice[]): Promise<void> {
    const stored = batch.map(({ column, rows, form, text, ended }): StoredSlice => {
      const slices = this.columns[column]
      const slice = { seq: slices.length, rows, bytes: text.length, ...NOT_STORED, ended, form }
      slices.push(slice)
      return slice
    })
    const refs = await storeSlices(this.blobs, this.owner, batch, this.claim)
    for (const [k, { blob, packOffset, bounds }] of refs.entries())
      Object.assign(stored[k], { blob, packOffset, bounds })
  }
}

/** Encodes a slice for the final type of its column; undefined if it has that form already. */
async function reencode(
  blobs: Blobs,
  slice: StoredSlice,
  { type, rewrite }: ParsedColumn,
): Promise<Buffer | undefined> {
  if (rewrite) return convertTexts(await loadDecompressed(blobs, slice), rewrite)
  if (slice.form !== 'number') return undefined
  const text = await loadDecompressed(blobs, slice)
  // The slice has only nulls, some of which were quoted empty texts. A date is never an empty text.
  return type === 'text' ? quoteNumbers(text) : convertTexts(text, { as: 'moment', order: undefined })
}

/** Stores a slice of numbers again as texts. */
export async function storeNumbersAsText(blobs: Blobs, slice: SliceRef): Promise<SliceRef> {
  const text = quoteNumbers(await loadDecompressed(blobs, slice))
  const { seq, rows, ended } = slice
  return { ...(await storeSlice(blobs, slice.blob.owner, { rows, text, ended })), seq }
}
