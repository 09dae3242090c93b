// Splits zstd streams into frames.
import { type Bytes, yieldToEventLoop } from '../../json/index.ts'

const MAGIC = 0xfd2fb528
const SKIPPABLE = 0x184d2a50
const MAX_BLOCK_BYTES = 128 * 1024
const RAW = 0
const REPEATED = 1

/** Thrown if the data ends inside a frame. */
export class TruncatedFrame extends Error {}
/** Thrown if the data is not a sequence of frames. */
export class NotAFrame extends Error {}

/**
 * Yields the frames of a zstd stream (RFC 8878) without skippable ones, in chunks that end with their frame:
 * the decompressor of Node.js ignores data after a frame in the same chunk, and does not report a truncated
 * frame.
 */
export async function* splitZstdFrames(bytes: Bytes): AsyncGenerator<Uint8Array> {
  const input = new ByteReader(bytes)
  try {
    for (;;) {
      const magic = await input.read(4)
      if (magic.length === 0) return
      const kind = readUInt32(magic)
      if ((kind & 0xfffffff0) >>> 0 === SKIPPABLE) {
        let size = readUInt32(await input.readExactly(4))
        for (; size > 0; size -= Math.min(size, MAX_BLOCK_BYTES))
          await input.readExactly(Math.min(size, MAX_BLOCK_BYTES))
      } else if (kind === MAGIC) {
        yield magic
        yield* readFrame(input)
      } else throw new NotAFrame()
    }
  } finally {
    await input.close()
  }
}

/** Yields a frame, after its magic number. */
async function* readFrame(input: ByteReader): AsyncGenerator<Uint8Array> {
  const flags = await input.readExactly(1)
  const [flag] = flags
  const isSingle = (flag & 0x20) !== 0
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flag >> 6]
  const header = (isSingle ? 0 : 1) + [0, 1, 2, 4][flag & 3] + sizeBytes
  yield flags
  if (header > 0) yield await input.readExactly(header)
  for (let isLast = false; !isLast; ) {
    const head = await input.readExactly(3)
    const block = head[0] | (head[1] << 8) | (head[2] << 16)
    isLast = (block & 1) === 1
    const type = (block >> 1) & 3
    const size = block >> 3
    if (type > 2 || (type !== REPEATED && size > MAX_BLOCK_BYTES)) throw new NotAFrame()
    const content = type === REPEATED ? 1 : size
    // Only stored blocks can be empty.
    if (content === 0 && type !== RAW) throw new NotAFrame()
    yield Buffer.concat([head, await input.readExactly(content)])
    await yieldToEventLoop()
  }
  if (flag & 4) yield await input.readExactly(4)
}

function readUInt32(bytes: Buffer): number {
  if (bytes.length < 4) throw new TruncatedFrame()
  return bytes.readUInt32LE()
}

/** Reads a stream of bytes in given sizes. */
class ByteReader {
  private readonly source: AsyncIterator<Uint8Array>
  private rest: Buffer = Buffer.alloc(0)

  constructor(bytes: Bytes) {
    this.source = bytes[Symbol.asyncIterator]()
  }

  /** Reads the next bytes; fewer at the end. */
  async read(size: number): Promise<Buffer> {
    const chunks: Buffer[] = []
    let missing = size
    while (missing > 0) {
      if (this.rest.length === 0) {
        const { value, done } = await this.source.next()
        if (done) break
        this.rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      }
      const chunk = this.rest.subarray(0, missing)
      this.rest = this.rest.subarray(chunk.length)
      missing -= chunk.length
      chunks.push(chunk)
    }
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
  }

  /** Reads the next bytes. Throws `TruncatedFrame` if there are fewer. */
  async readExactly(size: number): Promise<Buffer> {
    const bytes = await this.read(size)
    if (bytes.length < size) throw new TruncatedFrame()
    return bytes
  }

  async close(): Promise<void> {
    await this.source.return?.()
  }
}
