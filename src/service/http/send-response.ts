/** Sends responses. Disconnects slow clients. */
import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Bytes, HttpResponse } from '../../contract/http.ts'
import type { Limits } from '../../contract/limits.ts'
import { yieldToEventLoop } from '../../json/index.ts'

/** Sends the response to a request. */
export async function sendResponse(
  reply: HttpResponse,
  request: IncomingMessage,
  response: ServerResponse,
  limits: Limits,
): Promise<void> {
  const { status, body, hangUp, cookies } = reply
  const headers: OutgoingHttpHeaders = reply.headers
  if (cookies.length > 0) headers['set-cookie'] = cookies
  if (response.destroyed) {
    if (isStream(body)) await body[Symbol.asyncIterator]().return?.()
    return
  }
  if (hangUp) {
    // Read nothing more from this client.
    headers.connection = 'close'
    response.on('finish', () => request.destroy())
  } else if (!request.complete) discardBody(request)
  if (!isStream(body)) {
    if (body !== null) headers['content-length'] = String(Buffer.byteLength(body))
    response.writeHead(status, headers)
    if (hangUp || request.complete || response.shouldKeepAlive) response.end(body ?? undefined)
    else {
      // This response closes the connection: wait until the client has sent its whole request.
      response.write(body ?? '')
      await waitForBody(request)
      response.end()
    }
    return
  }
  response.writeHead(status, headers)
  try {
    await sendBody(body, response, limits)
  } catch {
    // Reset the connection: some clients take a normal close for the end of the body.
    response.socket?.resetAndDestroy()
    return
  }
  response.end()
}

function isStream(body: HttpResponse['body']): body is Bytes {
  return body !== null && typeof body === 'object' && Symbol.asyncIterator in body
}

/** Maximum time that a fast client earns for becoming slow later, in seconds. */
const MAX_CREDIT_SECONDS = 60

/** Streams a body. Disconnects clients below the rate limit; only waiting for the client counts. */
async function sendBody(
  body: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  limits: Limits,
): Promise<void> {
  const closed = once(response, 'close')
  closed.catch(() => {})
  // Time left to the client, in ms. It is capped, so that a fast start does not buy hours.
  const maxCredit = (limits.slow_seconds + MAX_CREDIT_SECONDS) * 1000
  let credit = limits.slow_seconds * 1000
  for await (const chunk of body) {
    credit = Math.min(
      maxCredit + (chunk.length / limits.body_bytes_per_second) * 1000,
      credit + (chunk.length / limits.body_bytes_per_second) * 1000,
    )
    if (!response.write(chunk)) {
      const start = performance.now()
      const timer = setTimeout(() => response.destroy(), credit)
      await Promise.race([once(response, 'drain'), closed]).finally(() => clearTimeout(timer))
      credit -= performance.now() - start
    }
    if (response.destroyed) return
    // Yield, so that new requests and health checks are handled between chunks.
    await yieldToEventLoop()
  }
}

/** Resolves when the request has arrived completely or the connection has closed. */
function waitForBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    for (const end of ['end', 'close'] as const) request.once(end, () => resolve())
  })
}

/** Maximum time for which an unread body is discarded, in ms, so that the client can read the response. */
const MAX_DISCARD_MS = 30_000

/** Reads and drops the rest of a body. */
export function discardBody(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), MAX_DISCARD_MS).unref()
  for (const end of ['end', 'close'] as const) request.once(end, () => clearTimeout(timer))
  request.on('error', () => {})
  // A handler that stopped waiting for a chunk leaves a `readable` listener. It would keep the body from
  // being discarded, and so block the next request on the connection.
  request.removeAllListeners('readable')
  request.on('data', () => {})
  request.resume()
}
