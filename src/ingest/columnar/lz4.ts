// Decompresses LZ4 frames (format version 1.6) of Arrow files. No library reads frames with dependent blocks.
import { RefusedFile } from './table.ts'

const MAGIC = 0x184d2204
const SKIPPABLE_MAGIC = 0x184d2a50
/** Flags of the frame header: block checksums, content size, content checksum, dictionary. */
const BLOCK_CHECKSUMS = 0x10
const CONTENT_SIZE = 0x08
const CONTENT_CHECKSUM = 0x04
const DICTIONARY = 0x01
/** Bit of a block length that marks an uncompressed block. */
const STORED = 0x80000000

const damagedError = (): RefusedFile =>
  new RefusedFile('the file is damaged: its LZ4 data cannot be unpacked')

/** Decompresses LZ4 frames. Throws `RefusedFile` for damaged data, and beyond `maxBytes`. */
export function unpackLz4(data: Uint8Array, maxBytes: number): Uint8Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const out = new Output(Math.min(maxBytes, Math.max(1024, data.length * 4)), maxBytes)
  try {
    for (let at = 0; at < data.length; ) at = unpackFrame(data, view, at, out)
  } catch (error) {
    throw error instanceof RangeError ? damagedError() : error
  }
  return out.bytes.subarray(0, out.length)
}

/** Unpacks the frame at `start`. Returns the offset after it. */
function unpackFrame(data: Uint8Array, view: DataView, start: number, out: Output): number {
  const magic = view.getUint32(start, true)
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) return start + 8 + view.getUint32(start + 4, true)
  if (magic !== MAGIC) throw damagedError()
  const flags = view.getUint8(start + 4)
  // Two bytes of flags, a size, a dictionary, a checksum.
  let at = start + 6 + (flags & CONTENT_SIZE ? 8 : 0) + (flags & DICTIONARY ? 4 : 0) + 1
  for (;;) {
    const length = view.getUint32(at, true)
    at += 4
    if (length === 0) return at + (flags & CONTENT_CHECKSUM ? 4 : 0)
    const size = (length & ~STORED) >>> 0
    if (at + size > data.length) throw damagedError()
    const block = data.subarray(at, at + size)
    if (length >= STORED) out.append(block, 0, size)
    else unpackBlock(block, out)
    at += size + (flags & BLOCK_CHECKSUMS ? 4 : 0)
  }
}

/** Unpacks a block: sequences of literals and of copies of earlier bytes. */
function unpackBlock(block: Uint8Array, out: Output): void {
  let at = 0
  /** Returns a length that continues in further bytes while they are 255. */
  const lengthOf = (nibble: number): number => {
    let length = nibble
    if (nibble < 15) return length
    for (;;) {
      if (at >= block.length) throw damagedError()
      const more = block[at++]
      length += more
      if (more < 255) return length
    }
  }
  while (at < block.length) {
    const token = block[at++]
    const literals = lengthOf(token >> 4)
    if (at + literals > block.length) throw damagedError()
    out.append(block, at, literals)
    at += literals
    // The last sequence has no copy.
    if (at >= block.length) return
    const distance = block[at] | (block[at + 1] << 8)
    at += 2
    out.appendCopy(distance, lengthOf(token & 15) + 4)
  }
}

/** A growing buffer of limited size. */
class Output {
  bytes: Uint8Array
  length = 0

  constructor(
    size: number,
    private readonly limitBytes: number,
  ) {
    this.bytes = new Uint8Array(size)
  }

  append(source: Uint8Array, from: number, count: number): void {
    this.grow(count)
    this.bytes.set(source.subarray(from, from + count), this.length)
    this.length += count
  }

  /** Appends `count` bytes that start `distance` bytes before the end. They may overlap the new bytes. */
  appendCopy(distance: number, count: number): void {
    if (distance === 0 || distance > this.length) throw damagedError()
    this.grow(count)
    const { bytes } = this
    let to = this.length
    if (distance >= count) bytes.copyWithin(to, to - distance, to - distance + count)
    else for (const end = to + count; to < end; to++) bytes[to] = bytes[to - distance]
    this.length += count
  }

  private grow(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    if (needed > this.limitBytes)
      throw new RefusedFile('the data grows too much when unpacked (limit compression_ratio)')
    const bigger = new Uint8Array(Math.min(this.limitBytes, Math.max(needed, this.bytes.length * 2)))
    bigger.set(this.bytes)
    this.bytes = bigger
  }
}
