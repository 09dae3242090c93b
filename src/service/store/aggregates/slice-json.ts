// Compresses and stores the JSON of slices, and reads it back.
import { type Bounds, boundsOf } from '../../../ingest/slices.ts'
import { loadAhead, yieldToEventLoop } from '../../../json/index.ts'
import type { BlobReader, Blobs, Claim } from '../objects/blobs.ts'
import { compress, decompress, type StreamChunk } from '../objects/codec.ts'
import type { SliceRef } from './grids.ts'

/** Compresses data and stores it as a blob. The caller sets `seq`. */
export async function storeCompressed(
  blobs: Blobs,
  owner: string,
  rows: number,
  text: Uint8Array,
): Promise<SliceRef> {
  return { seq: 0, rows, bytes: text.length, blob: await blobs.put(owner, await compress(text)) }
}

/** Maximum number of slices compressed at once. */
const MAX_CONCURRENT_COMPRESSIONS = 64

/** Size and number of slices that callers should store together. */
export const BATCH_SLICE_BYTES = 4 * 1024 * 1024
export const BATCH_SLICES = 1000

/** A slice to store. Missing `bounds` are computed from `text`, its column JSON. */
export interface NewSlice {
  rows: number
  text: Buffer
  bounds?: Bounds
  ended?: boolean
}

/** Stores one slice. The caller sets `seq`. */
export async function storeSlice(blobs: Blobs, owner: string, slice: NewSlice): Promise<SliceRef> {
  const [ref] = await storeSlices(blobs, owner, [slice])
  return ref
}

/** Stores several slices in few transactions. The caller sets `seq`. */
export async function storeSlices(
  blobs: Blobs,
  owner: string,
  texts: readonly NewSlice[],
  claim?: Claim,
): Promise<SliceRef[]> {
  const compressed: Buffer[] = []
  let next = 0
  const compressRest = async (): Promise<void> => {
    while (next < texts.length) {
      const k = next++
      await yieldToEventLoop()
      compressed[k] = await compress(texts[k].text)
    }
  }
  await Promise.all(Array.from({ length: Math.min(texts.length, MAX_CONCURRENT_COMPRESSIONS) }, compressRest))
  const refs = await blobs.putAll(owner, compressed, claim)
  return texts.map(({ rows, text, bounds = boundsOf(text), ended }, k) => ({
    seq: 0,
    rows,
    bytes: text.length,
    blob: refs[k],
    bounds,
    ended,
  }))
}

/** Loads a blob and decompresses it. */
export async function loadDecompressed(
  blobs: BlobReader,
  slice: Pick<SliceRef, 'blob' | 'bytes'>,
): Promise<Buffer> {
  return decompress(await blobs.get(slice.blob), slice.bytes)
}

/** Streams the column JSON of slices in order, loading a few ahead. */
export function streamSlices(
  blobs: BlobReader,
  slices: readonly SliceRef[],
  maxAhead?: number,
): AsyncGenerator<Buffer> {
  return loadAhead(slices, (slice) => loadDecompressed(blobs, slice), maxAhead)
}

/** Streams the compressed blobs of slices in order, loading a few ahead. */
export function streamCompressedSlices(
  blobs: BlobReader,
  slices: readonly SliceRef[],
): AsyncGenerator<StreamChunk> {
  return loadAhead(
    slices,
    async ({ blob, bytes }): Promise<StreamChunk> => ({ blob: await blobs.get(blob), size: bytes }),
  )
}
