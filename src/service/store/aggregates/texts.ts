import { type Bounds, boundsOf } from '../../../ingest/index.ts'
import { breathe } from '../../../json/index.ts'
import type { BlobReader, Blobs, Claim } from '../objects/blobs.ts'
import { compress, decompress, type StreamPiece } from '../objects/codec.ts'
import type { SliceRef } from './grids.ts'

/** Slices read ahead of the one that is being used. */
const READ_AHEAD = 3

/** Stores a text as a compressed blob. The caller sets `seq`. */
export async function storeText(
  blobs: Blobs,
  owner: string,
  rows: number,
  text: Uint8Array,
): Promise<SliceRef> {
  return { seq: 0, rows, bytes: text.length, blob: await blobs.put(owner, await compress(text)) }
}

/** Texts compressed at once. */
const PACKED_AT_ONCE = 64

/** Size and number of the texts that are best stored together. */
export const TOGETHER_BYTES = 4 * 1024 * 1024
export const TOGETHER = 1000

/** Values that become a slice. Without `bounds`, they are found in the text. */
export interface SliceText {
  rows: number
  text: Buffer
  bounds?: Bounds
  ended?: boolean
}

/** Stores one slice. The caller sets `seq`. */
export async function storeSlice(blobs: Blobs, owner: string, slice: SliceText): Promise<SliceRef> {
  const [ref] = await storeSlices(blobs, owner, [slice])
  return ref
}

/** Stores several slices in few transactions. The caller sets `seq`. */
export async function storeSlices(
  blobs: Blobs,
  owner: string,
  texts: readonly SliceText[],
  claim?: Claim,
): Promise<SliceRef[]> {
  const compressed: Buffer[] = []
  let next = 0
  const compressRest = async (): Promise<void> => {
    while (next < texts.length) {
      const k = next++
      await breathe()
      compressed[k] = await compress(texts[k].text)
    }
  }
  await Promise.all(Array.from({ length: Math.min(texts.length, PACKED_AT_ONCE) }, compressRest))
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

export async function loadText(blobs: BlobReader, slice: Pick<SliceRef, 'blob' | 'bytes'>): Promise<Buffer> {
  return decompress(await blobs.get(slice.blob), slice.bytes)
}

/** Streams the texts of slices in order, reading a few ahead. */
export function readSlices(
  blobs: BlobReader,
  slices: readonly SliceRef[],
  maxAhead = READ_AHEAD,
): AsyncGenerator<Buffer> {
  return inOrder(slices, (slice) => loadText(blobs, slice), maxAhead)
}

/** Streams the blobs of slices in order, as they are stored. */
export function readPacked(blobs: BlobReader, slices: readonly SliceRef[]): AsyncGenerator<StreamPiece> {
  return inOrder(
    slices,
    async ({ blob, bytes }): Promise<StreamPiece> => ({ blob: await blobs.get(blob), size: bytes }),
    READ_AHEAD,
  )
}

async function* inOrder<T>(
  slices: readonly SliceRef[],
  load: (slice: SliceRef) => Promise<T>,
  maxAhead: number,
): AsyncGenerator<T> {
  const loading: Promise<T>[] = []
  let next = 0
  try {
    for (let k = 0; k < slices.length; k++) {
      while (next < slices.length && loading.length < maxAhead) {
        const item = load(slices[next++])
        // Prevent an unhandled rejection; the error is seen when the promise is awaited.
        item.catch(() => {})
        loading.push(item)
      }
      yield await loading.shift()!
    }
  } finally {
    await Promise.allSettled(loading)
  }
}
