// Decompresses pages of Parquet files.
import * as zlib from 'node:zlib'
import type { Compressors } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { RefusedFile } from './table.ts'

/** Maximum unpacked size of a page. */
export const MAX_PAGE_BYTES = 256 * 1024 * 1024

type Unpack = (input: Uint8Array, options: { maxOutputLength: number }) => Buffer
/** Node.js has zstd since 22.15. */
const { unzipSync, brotliDecompressSync, zstdDecompressSync } = zlib as typeof zlib & {
  zstdDecompressSync?: Unpack
}

/** Codecs that Node.js has itself, which is faster. A page that is larger than declared is damaged. */
const nativeCompressors: Compressors = {
  GZIP: (input, maxOutputLength) => unzipSync(input, { maxOutputLength }),
  BROTLI: (input, maxOutputLength) => brotliDecompressSync(input, { maxOutputLength }),
  ...(zstdDecompressSync && {
    ZSTD: (input: Uint8Array, maxOutputLength: number) => {
      // Node.js reads only the first frame.
      const first = zstdDecompressSync(input, { maxOutputLength })
      return first.length === maxOutputLength ? first : compressors.ZSTD!(input, maxOutputLength)
    },
  }),
}

/** Returns the codecs, which refuse pages that grow by more than `ratio`. */
export function createCodecs(ratio: number): Compressors {
  return Object.fromEntries(
    Object.entries({ ...compressors, ...nativeCompressors }).map(([codec, unpack]) => [
      codec,
      (input: Uint8Array, length: number) => {
        if (length > MAX_PAGE_BYTES || length > 64 * 1024 + input.length * ratio)
          throw new RefusedFile(
            'a page grows too much when unpacked',
            'Write the file again with smaller pages.',
          )
        // Codecs of Node.js refuse an empty page, which has nulls only.
        return length === 0 ? new Uint8Array() : unpack!(input, length)
      },
    ]),
  )
}
