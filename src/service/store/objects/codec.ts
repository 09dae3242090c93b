// Compresses blobs with Brotli, and streams several of them as one.
import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  brotliDecompressSync,
  constants,
  createBrotliCompress,
} from 'node:zlib'
import { Problem } from '../../../contract/errors.ts'
import { shouldYield, yieldToEventLoop } from '../../../json/index.ts'

/**
 * Encodings of a blob: the first byte is the method.
 *
 * FRAGMENT is a Brotli stream (RFC 7932) without its start and end. Several of them between STREAM_START and
 * STREAM_END are one valid stream, which is sent without decoding. This needs quality 1, which uses neither
 * earlier distances nor the static dictionary; `test/service/store/codec.test.ts` decodes such streams.
 * Quality 1 compresses 175 MB/s per core, deflate 125 MB/s; the result is 10% smaller. Quality 0 takes 0.6 of
 * the time, but the result is up to twice as large: 15.6 MB of the benchmark instead of 7.7 MB.
 */
const RAW = 0x30
const BROTLI = 0x31
const FRAGMENT = 0x32

/** Minimum size to compress, in bytes. */
const MIN_COMPRESSED_BYTES = 256
/** Minimum size of a fragment, in bytes. Below, making one costs more than it saves. */
const MIN_FRAGMENT_BYTES = 4096

/** Start of a stream with a window of 2^18 bytes, padded to a whole byte; and its end. */
const STREAM_START = Buffer.of(0x63, 0x00)
const STREAM_END = Buffer.of(0x03)

/** Maximum size that is decompressed on the main thread, in bytes: the thread pool takes longer. */
const MAX_SYNC_BYTES = 16 * 1024

const brotli = promisify(brotliCompress)
const unbrotli = promisify(brotliDecompress)

const ENCODER_PARAMS = {
  [constants.BROTLI_PARAM_QUALITY]: 1,
  [constants.BROTLI_PARAM_LGWIN]: 18,
}

function createBrotliOptions(size: number): BrotliOptions {
  return {
    chunkSize: Math.max(4096, size >> 1),
    params: { ...ENCODER_PARAMS, [constants.BROTLI_PARAM_SIZE_HINT]: size },
  }
}

/** Compresses a blob, on the thread pool unless it is small. */
export async function compress(text: Uint8Array): Promise<Buffer> {
  if (text.length >= MIN_FRAGMENT_BYTES) {
    const blob = await FragmentEncoder.compress(text)
    if (blob) return blob
  }
  if (text.length >= MIN_COMPRESSED_BYTES) {
    const options = createBrotliOptions(text.length)
    const isSmall = text.length < MIN_FRAGMENT_BYTES
    const compressed = isSmall ? brotliCompressSync(text, options) : await brotli(text, options)
    if (compressed.length < text.length) return Buffer.concat([Buffer.of(BROTLI), compressed])
  }
  return Buffer.concat([Buffer.of(RAW), text])
}

/** Decompresses a blob. `size` is the result in bytes, so that one buffer is enough. */
export async function decompress(bytes: Buffer, size: number): Promise<Buffer> {
  const body = bytes.subarray(1)
  const options = { chunkSize: Math.max(64, size + 1) }
  if (bytes[0] === RAW) return body
  if (bytes[0] !== BROTLI && bytes[0] !== FRAGMENT)
    throw new Problem('damaged', 'stored data has an unknown encoding')
  const stream = bytes[0] === BROTLI ? body : Buffer.concat([STREAM_START, body, STREAM_END])
  if (size > MAX_SYNC_BYTES) return unbrotli(stream, options)
  // Thousands of small blobs can arrive at once.
  if (shouldYield()) await yieldToEventLoop()
  return brotliDecompressSync(stream, options)
}

/** Maximum number of encoders at once, one for each thread of the pool, and of idle ones. */
const MAX_ENCODERS = 4
const MAX_IDLE_ENCODERS = 2
/** Size of an output buffer of an encoder, in bytes. */
const ENCODER_CHUNK_BYTES = 128 * 1024

/**
 * A Brotli stream that packs texts as fragments, one after the other. At quality 1, none depends on earlier
 * ones. Starting a stream takes as long as packing a small slice.
 */
class FragmentEncoder {
  private chunks: Buffer[] = []
  private fail: ((error: Error) => void) | undefined
  private readonly stream = createBrotliCompress({
    flush: constants.BROTLI_OPERATION_FLUSH,
    chunkSize: ENCODER_CHUNK_BYTES,
    params: ENCODER_PARAMS,
  })

  private constructor() {
    this.stream.on('data', (chunk: Buffer) => this.chunks.push(chunk))
    this.stream.on('error', (error) => this.fail?.(error))
  }

  private static readonly idle: FragmentEncoder[] = []
  private static count = 0
  private static readonly waiting: (() => void)[] = []

  /**
   * Compresses a text to a blob; undefined if it is not smaller, or if this version of Brotli starts streams
   * differently.
   */
  static async compress(text: Uint8Array): Promise<Buffer | undefined> {
    while (FragmentEncoder.count === MAX_ENCODERS)
      await new Promise<void>((resolve) => FragmentEncoder.waiting.push(resolve))
    FragmentEncoder.count++
    let encoder = FragmentEncoder.idle.pop()
    let isUsable = false
    try {
      if (!encoder) {
        encoder = new FragmentEncoder()
        const start = Buffer.concat(await encoder.run((done) => encoder!.stream.flush(done)))
        if (!start.equals(STREAM_START)) return undefined
      }
      const { stream } = encoder
      const chunks = await encoder.run((done) => stream.write(text, done))
      isUsable = true
      const blob = Buffer.concat([Buffer.of(FRAGMENT), ...chunks])
      return blob.length <= text.length ? blob : undefined
    } finally {
      FragmentEncoder.count--
      if (isUsable && FragmentEncoder.idle.length < MAX_IDLE_ENCODERS) FragmentEncoder.idle.push(encoder!)
      else encoder?.stream.close()
      FragmentEncoder.waiting.shift()?.()
    }
  }

  /** Runs a step of the stream. Returns its output. */
  private run(step: (done: () => void) => void): Promise<Buffer[]> {
    return new Promise((resolve, reject) => {
      this.fail = reject
      step(() => {
        resolve(this.chunks)
        this.chunks = []
      })
    })
  }
}

/** Input of a stream: uncompressed bytes, or a compressed blob with the size of its content. */
export type StreamChunk = Uint8Array | { blob: Buffer; size: number }

/** Maximum size of an uncompressed meta-block, in bytes. */
const MAX_STORED_BLOCK_BYTES = 65_536

/** Streams texts and compressed blobs as one Brotli stream, mostly without decoding the blobs. */
export async function* streamBrotli(chunks: AsyncIterable<StreamChunk>): AsyncGenerator<Uint8Array> {
  yield STREAM_START
  for await (const chunk of chunks) {
    if (!(chunk instanceof Uint8Array) && chunk.blob[0] === FRAGMENT) {
      yield chunk.blob.subarray(1)
      continue
    }
    const text = chunk instanceof Uint8Array ? chunk : await decompress(chunk.blob, chunk.size)
    const packed = text.length >= MIN_FRAGMENT_BYTES ? await FragmentEncoder.compress(text) : undefined
    if (packed) yield packed.subarray(1)
    else yield* encodeUncompressed(text)
  }
  yield STREAM_END
}

/** Yields uncompressed meta-blocks (RFC 7932, section 9.2): a header with the length, then the bytes. */
function* encodeUncompressed(text: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < text.length; at += MAX_STORED_BLOCK_BYTES) {
    const part = text.subarray(at, at + MAX_STORED_BLOCK_BYTES)
    const header = ((part.length - 1) << 3) | (1 << 19)
    yield Buffer.of(header & 0xff, (header >> 8) & 0xff, (header >> 16) & 0xff)
    yield part
  }
}
