import { errorBody, Problem } from '../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Bytes } from '../../json/index.ts'
import { RateLimited } from './rates.ts'

/** Small chunks are merged up to this many bytes: each write costs a turn of the event loop. */
const GATHER = 16 * 1024

export function jsonReply(status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse {
  return new HttpResponse(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

/** Converts anything thrown to the error sent to the client. Unexpected errors become `internal`. */
export function problemOf(error: unknown): Problem {
  return error instanceof Problem
    ? error
    : new Problem('internal', 'internal error; the server log has the details')
}

/**
 * Converts an error to a JSON response with `errors`. Browsers are not asked for Basic credentials: a
 * browser would store them and add them to requests that other sites send here.
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

/** Whether a request accepts Brotli: named, and not with a quality of 0. */
export function acceptsBrotli({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return /(?:^|,)\s*br\s*(?:;\s*q=(?:1|0?\.0*[1-9])[\d.]*\s*)?(?:,|$)/i.test(
    headers.get('accept-encoding') ?? '',
  )
}

/**
 * A streamed response. The first chunk is read before the response begins, so that damage found by then is
 * sent as an error. A later error breaks the connection, so that no client takes half a body for a whole.
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
