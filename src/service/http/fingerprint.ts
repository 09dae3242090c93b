import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { type Bytes, breathe } from '../../json/index.ts'
import type { HttpRequest } from './message.ts'

/** Bytes that are hashed in one turn of the event loop. */
const TURN_BYTES = 1024 * 1024

/** What makes two requests with one key the same, before their bytes: address, headers that matter, a JSON body. */
export async function fingerprint(
  target: string,
  options: object,
  headers: HttpRequest['headers'],
  json: Buffer | undefined,
): Promise<string> {
  // Of a type the boundary is another at each try.
  const type = (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase()
  const named = `${headers.get(FILE_NAME_HEADER) ?? ''}\n${type}`
  const hash = createHash('sha256').update(`${target}\n${JSON.stringify(options)}\n${named}\n`)
  for (let at = 0; json && at < json.length; at += TURN_BYTES) {
    if (at > 0) await breathe()
    hash.update(json.subarray(at, at + TURN_BYTES))
  }
  return hash.digest('hex').slice(0, 32)
}

/**
 * Bytes of a request on their way to a handler, and what tells them from others once the last has come: a
 * check sum, for two requests of one person are compared, and an upload is not to wait for it.
 */
export class WatchedBytes {
  readonly bytes: Bytes
  /** Undefined as long as some are still to come. */
  sum: string | undefined

  constructor(bytes: Bytes) {
    this.bytes = this.watch(bytes)
  }

  private async *watch(bytes: Bytes): AsyncGenerator<Uint8Array> {
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
