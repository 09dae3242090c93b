import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { Problem } from '../../contract/errors.ts'

/**
 * Encoding of a slice in a blob: one byte for the method, then the data. Brotli at quality 1 compresses
 * 175 MB/s per core, deflate 125 MB/s; the result is 10 % smaller.
 */
const RAW = 0x30
const BROTLI = 0x31

/** Texts of fewer bytes are not compressed: it would cost more than it saves. */
const WORTH_PACKING = 256

const brotli = promisify(brotliCompress) as (text: Uint8Array, options: object) => Promise<Buffer>
const unbrotli = promisify(brotliDecompress) as (bytes: Uint8Array, options: object) => Promise<Buffer>

/** Encodes a text. Compresses on the thread pool. */
export async function compress(text: Uint8Array): Promise<Buffer> {
  if (text.length >= WORTH_PACKING) {
    const packed = await brotli(text, {
      chunkSize: Math.max(4096, text.length >> 1),
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 1,
        [constants.BROTLI_PARAM_LGWIN]: 18,
        [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
      },
    })
    if (packed.length < text.length) return Buffer.concat([Buffer.of(BROTLI), packed])
  }
  return Buffer.concat([Buffer.of(RAW), text])
}

/** Decodes a text. `size` is its length in bytes, so that one buffer is enough. */
export async function decompress(bytes: Buffer, size: number): Promise<Buffer> {
  const body = bytes.subarray(1)
  if (bytes[0] === RAW) return body
  if (bytes[0] === BROTLI) return unbrotli(body, { chunkSize: Math.max(64, size + 1) })
  throw new Problem('damaged', 'stored data has an unknown encoding')
}
