import { errorBody, Problem } from '../../contract/errors.ts'
import type { Bytes } from '../../ingest/index.ts'
import { Reply } from './message.ts'
import { TooMany } from './rates.ts'

/** Small pieces of a stream are gathered up to this: each costs a turn on its way. */
const GATHER = 16 * 1024

export function jsonReply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return new Reply(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

/** Any failure as the answer to a request: always JSON, always with `errors`. */
export function errorReply(error: unknown, quirk?: (problem: Problem) => number | undefined): Reply {
  const problem =
    error instanceof Problem ? error : new Problem('internal', 'the service failed; its log says why')
  const headers: Record<string, string> = {}
  if (problem.code === 'unauthenticated')
    headers['www-authenticate'] = 'Basic realm="gridline", charset="UTF-8"'
  if (problem.status === 429 || problem.status === 503)
    headers['retry-after'] = String(problem instanceof TooMany ? problem.wait : 1)
  return jsonReply(quirk?.(problem) ?? problem.status, errorBody(problem), headers)
}

/** Bytes as they are made. A fault on the way breaks the connection: half is never taken for whole. */
export function streamReply(
  status: number,
  bytes: Bytes,
  type: string,
  headers: Record<string, string> = {},
): Reply {
  return new Reply(status, { 'content-type': type, ...headers }, gathered(bytes))
}

async function* gathered(bytes: Bytes): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    if (size === 0 && piece.length >= GATHER) {
      yield piece
      continue
    }
    held.push(piece)
    size += piece.length
    if (size < GATHER) continue
    yield Buffer.concat(held)
    held = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(held)
}
