import { errorBody, Problem } from '../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Operation } from '../../contract/operations/index.ts'
import type { Bytes } from '../../json/index.ts'
import type { OperationResult } from '../core/call.ts'
import { isUnchanged } from './desk.ts'
import { RateLimited } from './rates.ts'

/** Small chunks are merged up to this many bytes: each write costs a turn of the event loop. */
const GATHER_BYTES = 16 * 1024

function jsonReply(status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse {
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
  Object.assign(headers, retryAfter(problem))
  const reply = jsonReply(quirk?.(problem) ?? problem.status, errorBody(problem), headers)
  reply.hangUp = problem.code === 'too_slow' || problem.code === 'aborted'
  return reply
}

/** When to try again, as a header; none for what another attempt does not cure. */
export function retryAfter(problem: Problem): Record<string, string> {
  if (problem.status !== 429 && problem.status !== 503) return {}
  return { 'retry-after': String(problem instanceof RateLimited ? problem.wait : 1) }
}

/** Whether a request accepts Brotli: named, and not with a quality of 0. */
function acceptsBrotli({ headers }: Pick<HttpRequest, 'headers'>): boolean {
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
    if (size === 0 && piece.length >= GATHER_BYTES) {
      yield piece
      continue
    }
    held.push(piece)
    size += piece.length
    if (size < GATHER_BYTES) continue
    yield Buffer.concat(held)
    held = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(held)
}

/** The response of an operation: 304 if the client has it already. */
export async function respond(
  operation: Operation,
  { body, etag, type, brotli, ownSiteOnly, headers: own }: OperationResult<unknown>,
  request: HttpRequest,
): Promise<HttpResponse> {
  const headers: Record<string, string> = { ...own, ...(etag && { etag }) }
  if (brotli) headers.vary = 'accept-encoding'
  if (ownSiteOnly) headers['cross-origin-resource-policy'] = 'same-origin'
  if (operation.method === 'GET' && etag) {
    headers['cache-control'] = 'private, no-cache'
    if (isUnchanged(request, etag)) {
      // Discard the unread body.
      ;(body as Partial<AsyncGenerator>)?.return?.(undefined)
      return new HttpResponse(304, headers, null)
    }
  }
  if (operation.result === 'none') return new HttpResponse(operation.status, headers, null)
  if (operation.result === 'stream') {
    if (!brotli || !acceptsBrotli(request))
      return streamReply(operation.status, body as Bytes, type!, headers)
    ;(body as Partial<AsyncGenerator>).return?.(undefined)
    headers['content-encoding'] = 'br'
    // Other bytes with the same meaning: a weak tag.
    if (etag) headers.etag = `W/${etag}`
    return streamReply(operation.status, brotli(), type!, headers)
  }
  return jsonReply(operation.status, body, headers)
}
