// Decompresses gzip, zstd and bzip2, and detects archive bombs.
import { Readable } from 'node:stream'
import zlib, { createGunzip } from 'node:zlib'
import { errorCodeOf, type Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import { type Bytes, peek, yieldToEventLoop } from '../../json/index.ts'
import { badFile } from '../values/warnings.ts'
import { addChecksum, BitReader, NotBzip2, readBlock, readHeader } from './bzip2.ts'
import { NotAFrame, splitZstdFrames, TruncatedFrame } from './zstd-frames.ts'

/** Unpacked size below which any ratio is allowed: a column of zeros compresses very well. */
const MIN_BOMB_BYTES = 16 * 1024 * 1024

type Ratio = Pick<Limits, 'compression_ratio'>

/** Returns whether the compression ratio indicates an archive bomb. Sizes in bytes. */
export function isBomb(unpacked: number, packed: number, { compression_ratio }: Ratio): boolean {
  return unpacked > MIN_BOMB_BYTES && unpacked > packed * compression_ratio
}

/** Creates the error for data that grows too much when unpacked. */
export function bombError(name: string, { compression_ratio }: Ratio): Problem {
  return badFile(
    name,
    `the data grows more than ${compression_ratio} times when unpacked (limit compression_ratio)`,
    'Unpack it before you upload it.',
  )
}

/**
 * Compares the unpacked bytes of a whole upload with the received bytes: an archive of many compressed files
 * can be a bomb even if none of the files is.
 */
export class UnpackMeter {
  private packed = 0
  private unpacked = 0

  constructor(
    private readonly name: string,
    private readonly limits: Ratio,
  ) {}

  /** Passes received bytes through and counts them. */
  async *countReceived(bytes: Bytes): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.packed += chunk.length
      yield chunk
    }
  }

  /** Passes unpacked bytes through and counts them. Throws `bad_data` beyond the ratio. */
  async *countUnpacked(bytes: Bytes): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.unpacked += chunk.length
      if (isBomb(this.unpacked, this.packed, this.limits)) throw bombError(this.name, this.limits)
      yield chunk
    }
  }
}

/** Decompresses gzip, zstd and bzip2, detected by the first bytes. Passes other data through. */
export async function* decompress(
  source: Bytes,
  name: string,
  limits: Limits,
  meter = new UnpackMeter(name, { compression_ratio: Number.POSITIVE_INFINITY }),
): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(source, 4)
  const magic = head.toString('latin1')
  if (magic.startsWith('\x1f\x8b')) yield* meter.countUnpacked(gunzip(whole, name, limits))
  else if (magic.startsWith('\x28\xb5\x2f\xfd') || /^[\x50-\x5f]\x2a\x4d\x18/.test(magic))
    yield* meter.countUnpacked(unzstd(whole, name, limits))
  else if (/^BZh[1-9]/.test(magic)) yield* meter.countUnpacked(bunzip2(whole, name, limits))
  else yield* whole
}

async function* gunzip(whole: Bytes, name: string, limits: Limits): AsyncGenerator<Uint8Array> {
  yield* decompressWith(whole, createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES }), 'gzip', name, limits)
}

/** Size of chunks of unpacked data. */
const UNPACKED_CHUNK_BYTES = 256 * 1024

/** Decompresses a source with a stream of Node.js. Throws `bad_data` for damaged data and bombs. */
async function* decompressWith(
  whole: Bytes,
  unzip: ReturnType<typeof createGunzip>,
  format: string,
  name: string,
  limits: Limits,
): AsyncGenerator<Uint8Array> {
  let size = 0
  const input = Readable.from(whole)
  input.on('error', (error) => unzip.destroy(error))
  try {
    for await (const chunk of input.pipe(unzip)) {
      size += chunk.length
      // Compares with the input consumed so far, not with buffered input.
      if (isBomb(size, unzip.bytesWritten, limits)) throw bombError(name, limits)
      yield chunk
    }
  } catch (error) {
    // Errors of the source are passed on.
    const code = errorCodeOf(error)
    const isTruncated = code === 'Z_BUF_ERROR' || error instanceof TruncatedFrame
    if (!isTruncated && !(error instanceof NotAFrame) && !code.startsWith('Z')) throw error
    throw damagedError(name, format, isTruncated)
  } finally {
    input.destroy()
  }
}

function damagedError(name: string, format: string, isTruncated: boolean): Problem {
  const what = isTruncated ? 'truncated' : 'damaged'
  return badFile(name, `the ${format} data is ${what}`, 'Download or compress the file again.')
}

/**
 * Decompresses zstd, which Node.js has since 22.15. JavaScript libraries take minutes for a few hostile
 * bytes.
 */
async function* unzstd(whole: Bytes, name: string, limits: Limits): AsyncGenerator<Uint8Array> {
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: typeof createGunzip }
  if (!createZstdDecompress)
    throw badFile(
      name,
      'compressed with zstd, which needs Node.js 22.15 or later',
      'Unpack it first: zstd -d FILE',
    )
  yield* decompressWith(
    splitZstdFrames(whole),
    createZstdDecompress({ chunkSize: UNPACKED_CHUNK_BYTES }),
    'zstd',
    name,
    limits,
  )
}

/** Maximum number of concatenated streams. Parallel compressors write one per 900 kB. */
const MAX_BZIP2_STREAMS = 100_000

/** Unpacked size of a block per level, and maximum overhead of a packed block. */
const BZIP2_BLOCK_BYTES = 100_000
const BZIP2_MARGIN_BYTES = 25_000

/** Packed bytes, which the bzip2 decoder takes synchronously. */
class Bzip2Input {
  private readonly chunks: Uint8Array[] = []
  private packed = 0
  private hasEnded = false

  constructor(private readonly iterator: AsyncIterator<Uint8Array>) {}

  /** Reads until `size` bytes follow the first `bytesRead`, or the input ends. */
  async readAhead(bytesRead: number, size: number): Promise<void> {
    while (!this.hasEnded && this.packed - bytesRead < size) {
      const { value, done } = await this.iterator.next()
      this.hasEnded = done === true
      if (done || value.length === 0) continue
      this.chunks.push(value)
      this.packed += value.length
    }
  }

  takeChunk(): Uint8Array | undefined {
    return this.chunks.shift()
  }

  /** Returns whether all bytes have been read. */
  isAtEnd(bytesRead: number): boolean {
    return this.hasEnded && this.packed <= bytesRead
  }
}

/** Decompresses bzip2, block by block. */
async function* bunzip2(whole: Bytes, name: string, limits: Limits): AsyncGenerator<Uint8Array> {
  const iterator = whole[Symbol.asyncIterator]()
  const input = new Bzip2Input(iterator)
  const bits = new BitReader(() => input.takeChunk())
  /** Calls the decoder, which reads synchronously. */
  const attempt = <T>(read: () => T): T => {
    try {
      return read()
    } catch (error) {
      if (error instanceof NotBzip2) throw damagedError(name, 'bzip2', input.isAtEnd(bits.bytesRead))
      throw error
    }
  }
  let size = 0
  // Shared by all blocks, since hostile data has many empty streams.
  let work = new Int32Array(0)
  const assertSize = (bytes: number): void => {
    if (isBomb(size + bytes, bits.bytesRead, limits)) throw bombError(name, limits)
  }
  try {
    for (let streams = 1; ; streams++) {
      await input.readAhead(bits.bytesRead, BZIP2_MARGIN_BYTES)
      if (input.isAtEnd(bits.bytesRead)) {
        if (streams > 1) return
        throw damagedError(name, 'bzip2', true)
      }
      if (streams > MAX_BZIP2_STREAMS) throw bombError(name, limits)
      const blockBytes = BZIP2_BLOCK_BYTES * attempt(() => readHeader(bits))
      if (work.length < blockBytes) work = new Int32Array(blockBytes)
      let sum = 0
      for (;;) {
        await yieldToEventLoop()
        await input.readAhead(bits.bytesRead, BZIP2_MARGIN_BYTES + blockBytes)
        const block = attempt(() => readBlock(bits, work.subarray(0, blockBytes), sum, assertSize))
        if (!block) break
        sum = addChecksum(sum, block)
        size += block.bytes.length
        if (block.bytes.length > 0) yield block.bytes
      }
    }
  } finally {
    await iterator.return?.()
  }
}
