// Splits zstd streams into frames.
import { type Bytes, breathe } from '../../json/index.ts'

const MAGIC = 0xfd2fb528
const SKIPPABLE = 0x184d2a50
const MAX_BLOCK_BYTES = 128 * 1024
const RAW = 0
const REPEATED = 1

/** Thrown if the data ends inside a frame. */
export class Truncated extends Error {}
/** Thrown if the data is not a sequence of frames. */
export class NoFrame extends Error {}

/**
 * Yields the frames of a zstd stream (RFC 8878) without skippable ones, in chunks that end with their frame:
 * the decompressor of Node.js ignores data after a frame in the same chunk, and does not report a truncated
 * frame.
 */
export async function* zstdFrames(bytes: Bytes): AsyncGenerator<Uint8Array> {
  const input = new Reader(bytes)
  try {
    for (;;) {
      const magic = await input.take(4)
      if (magic.length === 0) return
      const kind = word(magic)
      if ((kind & 0xfffffff0) >>> 0 === SKIPPABLE) {
        let size = word(await input.exactly(4))
        for (; size > 0; size -= Math.min(size, MAX_BLOCK_BYTES))
          await input.exactly(Math.min(size, MAX_BLOCK_BYTES))
      } else if (kind === MAGIC) {
        yield magic
        yield* frame(input)
      } else throw new NoFrame()
    }
  } finally {
    await input.close()
  }
}

/** Yields a frame, after its magic number. */
async function* frame(input: Reader): AsyncGenerator<Uint8Array> {
  const flags = await input.exactly(1)
  const [flag] = flags
  const isSingle = (flag & 0x20) !== 0
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flag >> 6]
  const header = (isSingle ? 0 : 1) + [0, 1, 2, 4][flag & 3] + sizeBytes
  yield flags
  if (header > 0) yield await input.exactly(header)
  for (let isLast = false; !isLast; ) {
    const head = await input.exactly(3)
    const block = head[0] | (head[1] << 8) | (head[2] << 16)
    isLast = (block & 1) === 1
    const type = (block >> 1) & 3
    const size = block >> 3
    if (type > 2 || (type !== REPEATED && size > MAX_BLOCK_BYTES)) throw new NoFrame()
    const content = type === REPEATED ? 1 : size
    // Only stored blocks can be empty.
    if (content === 0 && type !== RAW) throw new NoFrame()
    yield Buffer.concat([head, await input.exactly(content)])
    await breathe()
  }
  if (flag & 4) yield await input.exactly(4)
}

function word(bytes: Buffer): number {
  if (bytes.length < 4) throw new Truncated()
  return bytes.readUInt32LE()
}

/** Reads a stream of bytes in given sizes. */
class Reader {
  private readonly source: AsyncIterator<Uint8Array>
  private rest: Buffer = Buffer.alloc(0)

  constructor(bytes: Bytes) {
    this.source = bytes[Symbol.asyncIterator]()
  }

  /** Reads the next bytes; fewer at the end. */
  async take(size: number): Promise<Buffer> {
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
  async exactly(size: number): Promise<Buffer> {
    const bytes = await this.take(size)
    if (bytes.length < size) throw new Truncated()
    return bytes
  }

  async close(): Promise<void> {
    await this.source.return?.()
  }
}
