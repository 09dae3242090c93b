/** Converts results and errors of operations to HTTP responses. */
import { formatErrorBody, Problem } from '../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Operation } from '../../contract/operations/index.ts'
import type { Bytes } from '../../json/index.ts'
import type { OperationResult } from '../core/call.ts'
import { isNotModified } from './http-context.ts'
import { RateLimitedProblem } from './rate-limiter.ts'

/**
 * Minimum size of a written chunk: smaller ones are merged, since each write costs a turn of the event loop.
 */
const MIN_CHUNK_BYTES = 16 * 1024

function createJsonResponse(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpResponse {
  return new HttpResponse(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

/** Converts a thrown value to the error sent to the client. Unexpected errors become `internal`. */
export function toProblem(error: unknown): Problem {
  return error instanceof Problem
    ? error
    : new Problem('internal', 'internal error; the server log has the details')
}

/**
 * Converts an error to a JSON response with `errors`. Browsers get no Basic challenge: they would store the
 * credentials and add them to requests sent by other sites.
 */
export function createErrorResponse(
  error: unknown,
  { quirk, browser }: { quirk?: (problem: Problem) => number | undefined; browser?: boolean } = {},
): HttpResponse {
  const problem = toProblem(error)
  const headers: Record<string, string> = {}
  if (problem.code === 'unauthenticated')
    headers['www-authenticate'] = browser
      ? 'Bearer realm="gridline"'
      : 'Basic realm="gridline", charset="UTF-8"'
  Object.assign(headers, retryAfterHeaders(problem))
  const reply = createJsonResponse(quirk?.(problem) ?? problem.status, formatErrorBody(problem), headers)
  reply.hangUp = problem.code === 'too_slow' || problem.code === 'aborted'
  return reply
}

/** Returns the `Retry-After` header, in seconds, for status 429 and 503; no headers for other errors. */
export function retryAfterHeaders(problem: Problem): Record<string, string> {
  if (problem.status !== 429 && problem.status !== 503) return {}
  return { 'retry-after': String(problem instanceof RateLimitedProblem ? problem.waitSeconds : 1) }
}

/** Returns whether `Accept-Encoding` names `br` with a quality above 0. */
function acceptsBrotli({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return /(?:^|,)\s*br\s*(?:;\s*q=(?:1|0?\.0*[1-9])[\d.]*\s*)?(?:,|$)/i.test(
    headers.get('accept-encoding') ?? '',
  )
}

/**
 * Creates a streamed response. Reads the first chunk before the headers are sent, so that early errors get an
 * error status. Later errors break the connection, so that no client takes half a body for a whole.
 */
export async function createStreamResponse(
  status: number,
  bytes: Bytes,
  type: string,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const chunks = mergeChunks(bytes)
  const first = await chunks.next()
  async function* allChunks(): AsyncGenerator<Uint8Array> {
    try {
      if (first.done) return
      yield first.value
      yield* chunks
    } finally {
      await chunks.return(undefined)
    }
  }
  return new HttpResponse(status, { 'content-type': type, ...headers }, allChunks())
}

/** Merges small chunks into chunks of at least `GATHER_BYTES`. */
async function* mergeChunks(bytes: Bytes): AsyncGenerator<Uint8Array> {
  let buffered: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    if (size === 0 && chunk.length >= MIN_CHUNK_BYTES) {
      yield chunk
      continue
    }
    buffered.push(chunk)
    size += chunk.length
    if (size < MIN_CHUNK_BYTES) continue
    yield Buffer.concat(buffered)
    buffered = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(buffered)
}

/** Converts the result of an operation to a response: 304 if the client has the current version. */
export async function createOperationResponse(
  operation: Operation,
  { body, etag, type, brotli, isSameOriginOnly, headers: resultHeaders }: OperationResult<unknown>,
  request: HttpRequest,
): Promise<HttpResponse> {
  const headers: Record<string, string> = { ...resultHeaders, ...(etag && { etag }) }
  if (brotli) headers.vary = 'accept-encoding'
  if (isSameOriginOnly) headers['cross-origin-resource-policy'] = 'same-origin'
  if (operation.method === 'GET' && etag) {
    headers['cache-control'] = 'private, no-cache'
    if (isNotModified(request, etag)) {
      // Discard the unread body.
      ;(body as Partial<AsyncGenerator>)?.return?.(undefined)
      return new HttpResponse(304, headers, null)
    }
  }
  if (operation.result === 'none') return new HttpResponse(operation.status, headers, null)
  if (operation.result === 'stream') {
    if (!brotli || !acceptsBrotli(request))
      return createStreamResponse(operation.status, body as Bytes, type!, headers)
    ;(body as Partial<AsyncGenerator>).return?.(undefined)
    headers['content-encoding'] = 'br'
    // Compressed bytes differ from the plain ones, so the entity tag is weak.
    if (etag) headers.etag = `W/${etag}`
    return createStreamResponse(operation.status, brotli(), type!, headers)
  }
  return createJsonResponse(operation.status, body, headers)
}
