/** Fingerprints requests with an idempotency key. */
import { createHash, hash } from 'node:crypto'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HttpRequest } from '../../contract/http.ts'
import { yieldToEventLoop } from '../../json/index.ts'

/** Number of bytes hashed per turn of the event loop. */
const HASHED_BYTES_PER_TURN = 1024 * 1024

/** Hashes the URL, the relevant headers and the JSON body of a request. A streamed body is not included. */
export async function fingerprintRequest(
  target: string,
  options: object,
  headers: HttpRequest['headers'],
  json: Buffer | undefined,
): Promise<string> {
  // Drop parameters: a multipart boundary differs on every retry.
  const type = (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase()
  const nameAndType = `${headers.get(FILE_NAME_HEADER) ?? ''}\n${type}`
  const head = `${target}\n${JSON.stringify(options)}\n${nameAndType}\n`
  return (await hashAll(Buffer.from(head), json)).slice(0, 32)
}

/** Returns the SHA-256 of two buffers, the second of which can be large. */
async function hashAll(head: Buffer, tail: Buffer = Buffer.alloc(0)): Promise<string> {
  // One call leaves no object to the garbage collector.
  if (tail.length <= HASHED_BYTES_PER_TURN) return hash('sha256', Buffer.concat([head, tail]), 'hex')
  const sum = createHash('sha256').update(head)
  for (let offset = 0; offset < tail.length; offset += HASHED_BYTES_PER_TURN) {
    if (offset > 0) await yieldToEventLoop()
    sum.update(tail.subarray(offset, offset + HASHED_BYTES_PER_TURN))
  }
  return sum.digest('hex')
}
