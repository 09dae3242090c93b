// Body checksums for idempotency: a retry must send the same bytes.
import { crc32 } from 'node:zlib'
import type { Bytes } from '../../json/index.ts'

/** Returns whether `Source-Tag` holds a hash of the body, so that no checksum of the body is needed. */
export function hasContentHash(headers: { 'Source-Tag'?: unknown }): boolean {
  return /^sha(256|512):[0-9a-f]{64,}$/.test(String(headers['Source-Tag']))
}

/**
 * Passes request bytes through and computes their checksum. CRC-32 is enough: it only compares two requests
 * of the same caller.
 */
export class ChecksummedBytes {
  readonly bytes: Bytes
  /** Length and CRC-32; undefined until all bytes have arrived. */
  checksum: string | undefined

  constructor(bytes: Bytes) {
    this.bytes = this.checksumWhile(bytes)
  }

  private async *checksumWhile(bytes: Bytes): AsyncGenerator<Uint8Array> {
    let length = 0
    let sum = 0
    for await (const chunk of bytes) {
      length += chunk.length
      sum = crc32(chunk, sum)
      yield chunk
    }
    this.checksum = `${length}:${sum.toString(16)}`
  }
}
