import { type Form, numbersAsText, type Slice, type SliceSink } from '../../ingest/index.ts'
import type { Blobs } from '../store/blobs.ts'
import type { SliceRef } from '../store/grids.ts'
import { pack, unpack } from './codec.ts'

/** Slices being packed and stored at once, and read ahead. */
const AT_ONCE = 6
const READ_AHEAD = 3
/** Tables up to this size stay in memory until it is known what becomes of them. */
const SMALL_BYTES = 64 * 1024

export interface StoredSlice extends SliceRef {
  form: Form | 'json'
}

/** Packs text into a blob. `seq` is the caller's to set. */
export async function storeText(blobs: Blobs, rows: number, text: Uint8Array): Promise<SliceRef> {
  return { seq: 0, rows, bytes: text.length, hash: await blobs.put(await pack(text)) }
}

export async function loadText(blobs: Blobs, slice: Pick<SliceRef, 'hash' | 'bytes'>): Promise<Buffer> {
  return unpack(await blobs.get(slice.hash), slice.bytes)
}

/** Texts of slices in order, a few read ahead. */
export async function* texts(blobs: Blobs, slices: readonly SliceRef[]): AsyncGenerator<Buffer> {
  const ahead: Promise<Buffer>[] = []
  let next = 0
  try {
    for (let k = 0; k < slices.length; k++) {
      while (next < slices.length && ahead.length < READ_AHEAD) {
        const text = loadText(blobs, slices[next++])
        // Whoever awaits it sees the fault; until then it is not unhandled.
        text.catch(() => {})
        ahead.push(text)
      }
      yield await ahead.shift()!
    }
  } finally {
    await Promise.allSettled(ahead)
  }
}

/** Stores the slices of a table under way; holds the reader back when the disk is slower. */
export class SliceWriter implements SliceSink {
  /** By column. */
  readonly columns: StoredSlice[][] = []
  private held: Slice[] = []
  private heldBytes = 0
  private readonly running = new Set<Promise<void>>()
  private failed: unknown

  constructor(private readonly blobs: Blobs) {}

  begin(names: string[]): void {
    for (const _ of names) this.columns.push([])
  }

  async slice(slice: Slice): Promise<void> {
    this.held.push(slice)
    this.heldBytes += slice.text.length
    if (this.heldBytes > SMALL_BYTES) await this.store()
  }

  /** The slices of a small table, of which nothing is stored yet. */
  get small(): readonly Slice[] | undefined {
    return this.columns.every((slices) => slices.length === 0) ? this.held : undefined
  }

  /** Stores what is left and turns the slices of each text column that were found too early to be numbers. */
  async finish(isText: (column: number) => boolean): Promise<void> {
    await this.store()
    await this.settle()
    for (const [column, slices] of this.columns.entries()) {
      if (!isText(column)) continue
      for (const slice of slices) {
        if (slice.form === 'number') Object.assign(slice, await asText(this.blobs, slice), { form: 'text' })
      }
    }
  }

  /** Waits for what is under way; for when the table is given up. */
  async settle(): Promise<void> {
    await Promise.all(this.running)
    if (this.failed) throw this.failed
  }

  private async store(): Promise<void> {
    const held = this.held
    this.held = []
    for (const slice of held) {
      const stored: StoredSlice = {
        seq: this.columns[slice.column].length,
        rows: slice.rows,
        bytes: slice.text.length,
        hash: '',
        form: slice.form,
      }
      this.columns[slice.column].push(stored)
      const job = storeText(this.blobs, slice.rows, slice.text).then(
        ({ hash }) => {
          stored.hash = hash
        },
        (error) => {
          this.failed ??= error
        },
      )
      this.running.add(job)
      job.then(() => this.running.delete(job))
      while (this.running.size >= AT_ONCE) await Promise.race(this.running)
      if (this.failed) throw this.failed
    }
  }
}

/** A slice of numbers stored anew as text. */
export async function asText(blobs: Blobs, slice: SliceRef): Promise<SliceRef> {
  const text = numbersAsText(await loadText(blobs, slice))
  return { ...(await storeText(blobs, slice.rows, text)), seq: slice.seq }
}
