import { errorBody, Problem } from '../../contract/errors.ts'
import type { Bytes } from '../../json/index.ts'
import { HttpResponse } from './message.ts'
import { RateLimited } from './rates.ts'

/** Small pieces of a stream are gathered up to this: each costs a turn on its way. */
const GATHER = 16 * 1024

export function jsonReply(status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse {
  return new HttpResponse(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

/** What was thrown, as the error that a client is told. */
export function problemOf(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal', 'the service failed; its log says why')
}

/**
 * Any failure as the answer to a request: always JSON, always with `errors`. A browser is not asked for
 * Basic credentials: it would keep them, and add them to whatever pages of other sites send here.
 */
export function errorReply(
  error: unknown,
  { quirk, browser }: { quirk?: (problem: Problem) => number | undefined; browser?: boolean } = {},
): HttpResponse {
  const problem = problemOf(error)
  const headers: Record<string, string> = {}
  if (problem.code === 'unauthenticated')
    headers['www-authenticate'] = browser
      ? 'Bearer realm="gridline"'
      : 'Basic realm="gridline", charset="UTF-8"'
  if (problem.status === 429 || problem.status === 503)
    headers['retry-after'] = String(problem instanceof RateLimited ? problem.wait : 1)
  const reply = jsonReply(quirk?.(problem) ?? problem.status, errorBody(problem), headers)
  reply.hangUp = problem.code === 'too_slow' || problem.code === 'aborted'
  return reply
}

/**
 * Bytes as they are made. The first of them are there before the answer begins, so that damage found by
 * then is an error; a fault later on breaks the connection: half is never taken for whole.
 */
export async function streamReply(
  status: number,
  bytes: Bytes,
  type: string,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const pieces = gathered(bytes)
  const first = await pieces.next()
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      if (first.done) return
      yield first.value
      yield* pieces
    } finally {
      await pieces.return(undefined)
    }
  }
  return new HttpResponse(status, { 'content-type': type, ...headers }, all())
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
