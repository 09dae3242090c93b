import { createHash } from 'node:crypto'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HttpRequest } from '../../contract/http.ts'
import { breathe } from '../../json/index.ts'

/** Bytes hashed per turn of the event loop. */
const TURN_BYTES = 1024 * 1024

/** Hashes what identifies a request besides a streamed body: URL, relevant headers and JSON body. */
export async function fingerprint(
  target: string,
  options: object,
  headers: HttpRequest['headers'],
  json: Buffer | undefined,
): Promise<string> {
  // Drop parameters: a multipart boundary differs on every retry.
  const type = (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase()
  const named = `${headers.get(FILE_NAME_HEADER) ?? ''}\n${type}`
  const hash = createHash('sha256').update(`${target}\n${JSON.stringify(options)}\n${named}\n`)
  for (let at = 0; json && at < json.length; at += TURN_BYTES) {
    if (at > 0) await breathe()
    hash.update(json.subarray(at, at + TURN_BYTES))
  }
  return hash.digest('hex').slice(0, 32)
}
