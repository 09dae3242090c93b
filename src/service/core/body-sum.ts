import { crc32 } from 'node:zlib'
import type { Bytes } from '../../json/index.ts'

/** Whether the headers of a request have a hash of its bytes, so that its fingerprint stands for them too. */
export function isTagged(headers: { 'Source-Tag'?: unknown }): boolean {
  return /^sha(256|512):[0-9a-f]{64,}$/.test(String(headers['Source-Tag']))
}

/**
 * Passes request bytes through and computes a checksum, which is available once all have arrived. CRC-32 is
 * enough: it compares two requests of the same caller, and costs little.
 */
export class SummedBytes {
  readonly bytes: Bytes
  /** The checksum; undefined until all bytes have arrived. */
  sum: string | undefined

  constructor(bytes: Bytes) {
    this.bytes = this.counted(bytes)
  }

  private async *counted(bytes: Bytes): AsyncGenerator<Uint8Array> {
    let length = 0
    let sum = 0
    for await (const chunk of bytes) {
      length += chunk.length
      sum = crc32(chunk, sum)
      yield chunk
    }
    this.sum = `${length}:${sum.toString(16)}`
  }
}
