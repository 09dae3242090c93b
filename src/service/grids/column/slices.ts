import {
  type ColumnFound,
  type Form,
  numbersAsText,
  rewritten,
  type Slice,
  type SliceSink,
} from '../../../ingest/index.ts'
import type { SliceRef } from '../../store/aggregates/grids.ts'
import { loadDecompressed, storeSlice, storeSlices } from '../../store/aggregates/slice-json.ts'
import type { Blobs, Claim } from '../../store/objects/blobs.ts'

/**
 * Batches compressed and stored concurrently: two, so that a core is left for parsing. The parser waits while
 * more than `BACKLOG_BYTES` are queued.
 */
const STORES_AT_ONCE = 2
const BATCH_BYTES = 512 * 1024
const BACKLOG_BYTES = 2 * 1024 * 1024
/** How long stored slices are held for the transaction that makes them visible, in ms. */
const COMMIT_MS = 60_000
/** Tables up to this many bytes are kept in memory: a small append goes into the tail, not into slices. */
const SMALL_BYTES = 64 * 1024

/** Of a slice that is being stored. */
const NOT_STORED = { owner: '', hash: '' }

export interface StoredSlice extends SliceRef {
  form: Form
}

/** Stores the slices of a table while it is parsed. Applies back-pressure if storing is slower. */
export class SliceWriter implements SliceSink {
  /** Stored slices, by column. */
  readonly columns: StoredSlice[][] = []
  private waiting: Slice[] = []
  private waitingBytes = 0
  private bytes = 0
  private readonly running = new Set<Promise<void>>()
  private failed: unknown
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
    if (this.bytes <= SMALL_BYTES) return
    this.work()
    while (this.waitingBytes > BACKLOG_BYTES) await Promise.race(this.running)
    if (this.failed) throw this.failed
  }

  /** The slices of a small table that is still in memory; undefined for larger ones. */
  get small(): readonly Slice[] | undefined {
    return this.bytes <= SMALL_BYTES ? this.waiting : undefined
  }

  /** Flushes queued slices, then encodes those again that are not of the type that was found. */
  async finish(found: readonly ColumnFound[]): Promise<void> {
    while (!this.failed && (this.waiting.length > 0 || this.running.size > 0)) {
      this.work()
      await Promise.race(this.running)
    }
    if (this.failed) throw this.failed
    for (const [column, slices] of this.columns.entries()) {
      const { type } = found[column]
      if (type === 'number' || type === 'empty' || (type === 'boolean' && !found[column].rewrite)) continue
      for (const slice of slices) {
        const text = await encodedAgain(this.blobs, slice, found[column])
        if (text) await this.storeAgain(slice, text)
      }
    }
    // The transaction that refers to them follows; until then, no upload that is given up may remove them.
    setTimeout(() => this.blobs.releaseClaim(this.claim, false).catch(() => {}), COMMIT_MS).unref()
  }

  private async storeAgain(slice: StoredSlice, text: Buffer): Promise<void> {
    const { seq, rows, ended } = slice
    Object.assign(slice, await storeSlice(this.blobs, this.owner, { rows, text, ended }), {
      seq,
      form: 'text',
    })
  }

  /** Drops queued slices, waits for running writes, and removes what was stored. For abandoned tables. */
  async settle(): Promise<void> {
    this.waiting = []
    await Promise.all(this.running)
    await this.blobs.releaseClaim(this.claim, true)
  }

  private work(): void {
    while (this.running.size < STORES_AT_ONCE && this.waiting.length > 0) {
      const job: Promise<void> = this.storeSome(this.batch())
        .catch((error) => {
          this.failed ??= error
        })
        .then(() => {
          this.running.delete(job)
          if (!this.failed) this.work()
          else this.waitingBytes = 0
        })
      this.running.add(job)
    }
  }

  private batch(): Slice[] {
    let bytes = 0
    let count = 0
    while (count < this.waiting.length && bytes < BATCH_BYTES) bytes += this.waiting[count++].text.length
    this.waitingBytes -= bytes
    return this.waiting.splice(0, count)
  }

  private async storeSome(batch: readonly Slice[]): Promise<void> {
    const stored = batch.map(({ column, rows, form, text, ended }): StoredSlice => {
      const slices = this.columns[column]
      const slice = { seq: slices.length, rows, bytes: text.length, blob: NOT_STORED, ended, form }
      slices.push(slice)
      return slice
    })
    const refs = await storeSlices(this.blobs, this.owner, batch, this.claim)
    for (const [k, { blob, bounds }] of refs.entries()) Object.assign(stored[k], { blob, bounds })
  }
}

/** The text of a slice as it is stored, if it is another one than that of the reader. */
async function encodedAgain(
  blobs: Blobs,
  slice: StoredSlice,
  { type, rewrite }: ColumnFound,
): Promise<Buffer | undefined> {
  if (rewrite) return rewritten(await loadDecompressed(blobs, slice), rewrite)
  if (slice.form !== 'number') return undefined
  const text = await loadDecompressed(blobs, slice)
  // Nulls, some of which were empty texts in quotes. A date is never an empty text.
  return type === 'text' ? numbersAsText(text) : rewritten(text, { as: 'moment', order: undefined })
}

/** Stores a slice of numbers again as text. */
export async function quoteNumbers(blobs: Blobs, slice: SliceRef): Promise<SliceRef> {
  const text = numbersAsText(await loadDecompressed(blobs, slice))
  const { seq, rows, ended } = slice
  return { ...(await storeSlice(blobs, slice.blob.owner, { rows, text, ended })), seq }
}
