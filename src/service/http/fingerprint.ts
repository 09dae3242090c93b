/** Fingerprints requests with an idempotency key. */
import { createHash } from 'node:crypto'
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
  const hash = createHash('sha256').update(`${target}\n${JSON.stringify(options)}\n${nameAndType}\n`)
  for (let offset = 0; json && offset < json.length; offset += HASHED_BYTES_PER_TURN) {
    if (offset > 0) await yieldToEventLoop()
    hash.update(json.subarray(offset, offset + HASHED_BYTES_PER_TURN))
  }
  return hash.digest('hex').slice(0, 32)
}
