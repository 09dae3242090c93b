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
  const blob = await blobs.put(owner, await compress(text))
  return { seq: 0, rows, bytes: text.length, blob, packOffset: undefined }
}

/** Maximum number of slices compressed at once. */
const MAX_CONCURRENT_COMPRESSIONS = 64

/** Size and number of slices that callers should store together. */
export const BATCH_SLICE_BYTES = 4 * 1024 * 1024
export const BATCH_SLICES = 1000

/**
 * Small slices of neighboring columns share a blob, a pack: a blob of its own takes longer than the values of a small
 * slice. Sizes in bytes. Packs begin at fixed columns, so that a change of one column does not change all of them.
 */
const MAX_PACKED_BYTES = 4095
const MAX_PACK_BYTES = 16 * 1024
const PACK_COLUMNS = 16

/** A slice to store. Missing `bounds` are computed from `text`, its column JSON. */
export interface NewSlice {
  rows: number
  text: Buffer
  /** Position of its column; undefined for a slice with a blob of its own. */
  column?: number
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
  slices: readonly NewSlice[],
  claim?: Claim,
): Promise<SliceRef[]> {
  const packs = packSlices(slices)
  const compressed: Buffer[] = []
  let next = 0
  const compressRest = async (): Promise<void> => {
    while (next < packs.length) {
      const k = next++
      await yieldToEventLoop()
      const texts = packs[k].map(({ text }) => text)
      compressed[k] = await compress(texts.length === 1 ? texts[0] : Buffer.concat(texts))
    }
  }
  await Promise.all(Array.from({ length: Math.min(packs.length, MAX_CONCURRENT_COMPRESSIONS) }, compressRest))
  const stored = await blobs.putAll(owner, compressed, claim)
  return packs.flatMap((pack, k) => {
    let offset = 0
    return pack.map(({ rows, text, bounds = boundsOf(text), ended }): SliceRef => {
      const packOffset = pack.length === 1 ? undefined : offset
      offset += text.length
      return { seq: 0, rows, bytes: text.length, blob: stored[k], packOffset, bounds, ended }
    })
  })
}

/** Groups slices, in order, by the blob that they are stored in. */
function packSlices(slices: readonly NewSlice[]): NewSlice[][] {
  const packs: NewSlice[][] = []
  let columns: number | undefined
  let bytes = 0
  for (const slice of slices) {
    const { column, text } = slice
    const isSmall = column !== undefined && text.length <= MAX_PACKED_BYTES
    const group = isSmall ? Math.floor(column / PACK_COLUMNS) : undefined
    bytes += text.length
    if (group !== undefined && group === columns && bytes <= MAX_PACK_BYTES) packs.at(-1)!.push(slice)
    else {
      packs.push([slice])
      bytes = text.length
    }
    columns = group
  }
  return packs
}

/** The texts of packs, as long as their blobs are in use. */
const unpacked = new WeakMap<Buffer, Promise<Buffer>>()

/** Loads a blob and decompresses it. */
export async function loadDecompressed(
  blobs: BlobReader,
  { blob, bytes, packOffset }: Pick<SliceRef, 'blob' | 'bytes'> & Partial<Pick<SliceRef, 'packOffset'>>,
): Promise<Buffer> {
  const stored = await blobs.get(blob)
  if (packOffset === undefined) return decompress(stored, bytes)
  let text = unpacked.get(stored)
  if (!text) unpacked.set(stored, (text = decompress(stored, MAX_PACK_BYTES)))
  return (await text).subarray(packOffset, packOffset + bytes)
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
    async (slice): Promise<StreamChunk> =>
      slice.packOffset === undefined
        ? { blob: await blobs.get(slice.blob), size: slice.bytes }
        : loadDecompressed(blobs, slice),
  )
}
