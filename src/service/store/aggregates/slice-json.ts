// Compresses and stores the JSON of slices, and reads it back.
import { Problem } from '../../../contract/errors.ts'
import { type Bounds, boundsOf } from '../../../ingest/slices.ts'
import { joinValues, loadAhead, yieldToEventLoop } from '../../../json/index.ts'
import {
  BatchedBlobs,
  type BlobReader,
  type BlobRef,
  type Blobs,
  blobIdOf,
  type Claim,
} from '../objects/blobs.ts'
import { compress, decompress, type StreamChunk } from '../objects/codec.ts'
import { Lru } from '../schema/lru.ts'
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

const COMMA = 0x2c

/** Size and number of slices that callers should store together. */
export const BATCH_SLICE_BYTES = 4 * 1024 * 1024
export const BATCH_SLICES = 1024

/**
 * A pack is a blob of small slices of neighboring columns: storing each alone would take longer than its values. Its text
 * is that of the slices, with commas in between. A pack begins at column 0, 16, 32 and so on: if it began where the one
 * before ends, a change of one column would change all later packs (docs/adr/0059). Sizes in bytes.
 */
const MAX_PACKED_BYTES = 4095
const MAX_PACK_BYTES = 16 * 1024
const PACK_COLUMNS = 16

/** A slice to store. Missing `bounds` are computed from `text`, its column JSON. */
export interface NewSlice {
  rows: number
  text: Buffer
  /** Position of its column, for packs. Without it, the slice is not packed. */
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
      compressed[k] = await compress(joinValues(packs[k].map(({ text }) => text)))
    }
  }
  await Promise.all(Array.from({ length: Math.min(packs.length, MAX_CONCURRENT_COMPRESSIONS) }, compressRest))
  const stored = await blobs.putAll(owner, compressed, claim)
  return packs.flatMap((pack, k) => {
    let offset = 0
    return pack.map(({ rows, text, bounds = boundsOf(text), ended }): SliceRef => {
      const packOffset = pack.length === 1 ? undefined : offset
      offset += text.length + 1
      return { seq: 0, rows, bytes: text.length, blob: stored[k], packOffset, bounds, ended }
    })
  })
}

/** Returns whether two slices, one stored after the other, can be in the same pack. */
export function canShareBlob(before: NewSlice, after: NewSlice): boolean {
  if (!isPackable(before) || !isPackable(after) || after.column <= before.column) return false
  return Math.floor(before.column / PACK_COLUMNS) === Math.floor(after.column / PACK_COLUMNS)
}

/** Returns whether a slice can be part of a pack. */
export function isPackable(slice: NewSlice): slice is NewSlice & { column: number } {
  return slice.column !== undefined && slice.text.length <= MAX_PACKED_BYTES
}

/** Groups slices, in order, by the blob that they are stored in. */
function packSlices(slices: readonly NewSlice[]): NewSlice[][] {
  const packs: NewSlice[][] = []
  let bytes = 0
  for (const [k, slice] of slices.entries()) {
    bytes += slice.text.length + 1
    if (k > 0 && bytes <= MAX_PACK_BYTES && canShareBlob(slices[k - 1], slice)) packs.at(-1)!.push(slice)
    else {
      packs.push([slice])
      bytes = slice.text.length
    }
  }
  return packs
}

/**
 * The texts of the packs that were read last, by blob. The slices of a pack are mostly read one after the other, or
 * columns of it after each other.
 */
const recentPacks = new Lru<Promise<Buffer>>(512, () => 1)

/** Returns the text of a pack. Throws `damaged`. */
function loadPack(blobs: BlobReader, blob: BlobRef): Promise<Buffer> {
  const name = blobIdOf(blob)
  const recent = recentPacks.get(name)
  // A reader in batches counts the reads.
  if (recent && blobs instanceof BatchedBlobs) blobs.get(blob).catch(() => {})
  if (recent) return recent
  const text = blobs.get(blob).then((bytes) => decompress(bytes, MAX_PACK_BYTES))
  recentPacks.set(name, text)
  text.catch(() => recentPacks.delete(name))
  return text
}

/** Returns the text of a slice or a figure. Others may share the bytes: do not change them. Throws `damaged`. */
export async function loadDecompressed(
  blobs: BlobReader,
  { blob, bytes, packOffset }: Pick<SliceRef, 'blob' | 'bytes'> & Partial<Pick<SliceRef, 'packOffset'>>,
): Promise<Buffer> {
  if (packOffset === undefined) {
    const text = await decompress(await blobs.get(blob), bytes)
    if (text.length !== bytes) throw noSliceError()
    return text
  }
  return takeSlice(await loadPack(blobs, blob), packOffset, packOffset + bytes)
}

/** Returns the slice [start, end) of the text of a pack. Throws `damaged` if no slice can begin or end there. */
function takeSlice(text: Buffer, start: number, end: number): Buffer {
  const begins = start === 0 || (start > 0 && text[start - 1] === COMMA)
  const ends = end === text.length || (end < text.length && text[end] === COMMA)
  if (!begins || !ends || end < start) throw noSliceError()
  return text.subarray(start, end)
}

function noSliceError(): Problem {
  return new Problem('damaged', 'stored data is damaged: no such slice of a blob')
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
