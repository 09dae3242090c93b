import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import { errorBody, Problem } from '../../contract/errors.ts'
import type { HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Limits } from '../../contract/limits.ts'
import { breathe, turnIsLong } from '../../json/index.ts'
import { Acceptors } from './acceptors.ts'
import { announcedBytes, SMALL_BYTES, whenArrived } from './arrival.ts'

/** The service behind the HTTP listener. */
export interface Served {
  handle(request: HttpRequest): Promise<HttpResponse>
  /** Whether a request would be refused now because too many wait. */
  refuses(request: Pick<HttpRequest, 'headers' | 'address'>): boolean
}

export interface Listening {
  /** The actual port, also if port 0 was requested. */
  port: number
  /**
   * Stops: each answer closes its connection, and when all are closed, or have been silent for a moment, no new ones are
   * accepted. Resolves when all requests are answered. After `grace` ms, those that are still sending their bodies are
   * cut off; what has arrived is answered.
   */
  stop(grace?: number): Promise<void>
}

/** How long connections that are kept alive have for another request, so that they end with an answer, in ms. */
const LINGER_MS = 1_000
/** How long requests whose bodies have arrived have to be answered, in ms. */
const ANSWER_MS = 30_000

/** Idle timeout of a connection, in ms. */
const SILENCE_MS = 120_000
/** Time for all headers of a request to arrive, in ms. */
/** Bytes of all headers of a request: checks are in one. */
const HEADER_BYTES = 64 * 1024
const HEADERS_MS = 20_000
/** How often connections are checked for timeouts, in ms. */
const CHECK_EVERY_MS = 5_000

export interface ListenOptions {
  host: string
  port: number
  limits: Limits
  /** Number of proxies in front of the server, which name the client in X-Forwarded-For. Default: none. */
  proxies?: number
}

/** Starts Node's HTTP server. While `current` returns undefined (no service yet), requests are refused. */
export function listen(
  current: () => Served | undefined,
  { host, port, limits, proxies = 0 }: ListenOptions,
): Promise<Listening> {
  const refusals = new Refusals()
  const inbox = new Inbox()
  const streams = new Set<ServerResponse>()
  const running = new Map<ServerResponse, IncomingMessage>()
  let isStopping = false
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: 0,
      connectionsCheckingInterval: CHECK_EVERY_MS,
    },
    (request, response) => {
      running.set(response, request)
      response.once('close', () => running.delete(response))
      if (isStopping) response.shouldKeepAlive = false
      const service = current()
      const begin = (): void => {
        const incoming = incomingOf(request, response, proxies)
        if (!service || (!isHealth(request.url) && service.refuses(incoming))) refusals.add(request, response)
        else
          withBody(incoming, request, limits, (whole) => {
            answer(service, whole, request, response, limits, streams).catch(() => response.destroy())
          })
      }
      // Health checks do not wait for others.
      if (isHealth(request.url)) begin()
      else inbox.add(begin)
    },
  )
  server.timeout = SILENCE_MS
  const open = new Set<Socket>()
  server.prependListener('connection', (socket: Socket) => {
    if (open.size >= limits.connections) {
      // Idle connections make room for new ones.
      server.closeIdleConnections()
      socket.destroy()
      return
    }
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons = new Map([
        ['EADDRINUSE', 'the port is in use'],
        ['EACCES', 'permission denied'],
        ['EADDRNOTAVAIL', 'this machine has no such address'],
        ['ENOTFOUND', 'this machine has no such address'],
      ])
      const reason = reasons.get(error.code ?? '')
      const at = `${host}:${port}`
      reject(
        reason
          ? new Problem('failed', `cannot listen on ${at}: ${reason}`, {
              hint: 'Use another --port or --host.',
            })
          : error,
      )
    })
    server.listen({ port, host, backlog: limits.connections }, () => {
      const acceptors = new Acceptors(server, limits.connections, (socket) =>
        server.emit('connection', socket),
      )
      resolve({
        port: (server.address() as AddressInfo).port,
        async stop(grace = 10_000) {
          isStopping = true
          for (const response of running.keys()) response.shouldKeepAlive = false
          // Streams of events never end on their own.
          for (const stream of streams) stream.destroy()
          const until = performance.now() + Math.min(grace, LINGER_MS)
          while (open.size > 0 && performance.now() < until) await new Promise((next) => setTimeout(next, 10))
          await new Promise<void>((done) => {
            const cut = setTimeout(() => {
              for (const [response, request] of running) if (!request.complete) response.destroy()
            }, grace)
            const end = setTimeout(() => server.closeAllConnections(), grace === 0 ? 0 : grace + ANSWER_MS)
            acceptors.close()
            server.close()
            server.closeIdleConnections()
            whenEmpty(open, () => {
              clearTimeout(cut)
              clearTimeout(end)
              done()
            })
          })
        },
      })
    })
  })
}

/** Requests that have arrived. Those of hundreds of clients at once begin over several turns of the event loop. */
class Inbox {
  private readonly waiting: (() => void)[] = []

  /** Begins a request now, or after those that wait. */
  add(begin: () => void): void {
    if (this.waiting.length === 0 && !turnIsLong()) begin()
    else if (this.waiting.push(begin) === 1) setImmediate(() => this.next())
  }

  private next(): void {
    let count = 0
    while (count < this.waiting.length && (count === 0 || !turnIsLong())) this.waiting[count++]()
    this.waiting.splice(0, count)
    if (this.waiting.length > 0) setImmediate(() => this.next())
  }
}

/** Calls `then` once all connections of a set have closed. */
function whenEmpty(open: ReadonlySet<Socket>, then: () => void): void {
  const [one] = open
  if (one) one.once('close', () => whenEmpty(open, then))
  else then()
}

/** Whether a URL is a health endpoint, which is answered at any load. */
function isHealth(url: string | undefined): boolean {
  return url === '/healthz' || url === '/readyz' || url === '/metrics'
}

const BUSY = JSON.stringify(
  errorBody(new Problem('overloaded', 'the server is busy (limit requests_waiting)')),
)
const BUSY_HEADERS = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'retry-after': '1',
  'content-length': String(Buffer.byteLength(BUSY)),
}

/** Minimum delay of a refusal, in ms: a refused client would send its next request at once. */
const REFUSAL_DELAY_MS = 1000
/** Refusals sent per ms at most. The delay grows with the queue, so that refusals use little CPU time. */
const REFUSALS_PER_MS = 0.5
const MAX_DELAY_MS = 5000
const REFUSAL_CHECK_MS = 50

/**
 * Refuses requests cheaply and after a delay. Under overload, refusals would otherwise use the CPU time that
 * accepted requests need.
 */
class Refusals {
  private waiting: { request: IncomingMessage; response: ServerResponse; at: number }[] = []
  private timer: NodeJS.Timeout | undefined

  add(request: IncomingMessage, response: ServerResponse): void {
    const delay = Math.min(MAX_DELAY_MS, REFUSAL_DELAY_MS + this.waiting.length / REFUSALS_PER_MS)
    this.waiting.push({ request, response, at: performance.now() + delay })
    this.timer ??= setInterval(() => this.answerDue(), REFUSAL_CHECK_MS)
  }

  private answerDue(): void {
    const now = performance.now()
    let count = 0
    // If this turn of the event loop gets long, the rest waits for the next check.
    while (count < this.waiting.length && this.waiting[count].at <= now && (count % 50 > 0 || !turnIsLong()))
      refuse(this.waiting[count++])
    this.waiting.splice(0, count)
    if (this.waiting.length > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

function refuse({ request, response }: { request: IncomingMessage; response: ServerResponse }): void {
  if (response.destroyed) return
  response.writeHead(503, BUSY_HEADERS)
  response.end(BUSY)
  if (!request.complete) discard(request)
}

/** How long the rest of an unread body is discarded, in ms, so that the client can read the response. */
const DISCARD_MS = 30_000

/** Converts a Node request, without its body. */
function incomingOf(request: IncomingMessage, response: ServerResponse, proxies: number): HttpRequest {
  const { headers } = request
  return {
    method: request.method ?? 'GET',
    url: urlOf(request),
    headers: {
      keys: () => Object.keys(headers),
      get(name) {
        const value = headers[name.toLowerCase()]
        return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
      },
    },
    body: null,
    address: clientOf(request, proxies),
    gone: () => response.destroyed || request.socket.destroyed,
  }
}

/**
 * The address of the client. Each proxy adds the address it was asked from at the end of X-Forwarded-For; entries
 * before those of our own proxies are the client's claim.
 */
function clientOf({ headers, socket }: IncomingMessage, proxies: number): string | undefined {
  if (proxies === 0) return socket.remoteAddress
  const given = headers['x-forwarded-for']
  const entries = (Array.isArray(given) ? given.join(',') : (given ?? '')).split(',')
  return ipOf(entries.at(-proxies)?.trim() ?? '') ?? socket.remoteAddress
}

/** The IP address of an entry, which may have a port; undefined for any other text. */
function ipOf(entry: string): string | undefined {
  const [, bracketed] = /^\[([^\]]{2,45})\](?::\d{1,5})?$/.exec(entry) ?? []
  const [, withPort] = /^([\d.]{7,15}):\d{1,5}$/.exec(entry) ?? []
  const address = bracketed ?? withPort ?? entry
  return isIP(address) === 0 ? undefined : address
}

/** Adds the body to a request: a small one once it has arrived completely, a large one as a stream. */
function withBody(
  incoming: HttpRequest,
  request: IncomingMessage,
  limits: Limits,
  then: (incoming: HttpRequest) => void,
): void {
  const announced = announcedBytes(incoming.headers)
  if (announced === 0) then(incoming)
  else if (announced === undefined || announced > SMALL_BYTES) {
    // A handler that stops reading must not destroy the connection: the response could not be sent.
    incoming.body = request.iterator({ destroyOnReturn: false })
    then(incoming)
  } else
    whenArrived(request, limits, (body) => {
      incoming.body = body
      then(incoming)
    })
}

async function answer(
  service: Served,
  incoming: HttpRequest,
  request: IncomingMessage,
  response: ServerResponse,
  limits: Limits,
  streams: Set<ServerResponse>,
): Promise<void> {
  const reply = await service.handle(incoming)
  const { status, body, hangUp, cookies } = reply
  const named: OutgoingHttpHeaders = reply.headers
  if (cookies.length > 0) named['set-cookie'] = cookies
  if (response.destroyed) {
    if (body !== null && typeof body !== 'string') await body[Symbol.asyncIterator]().return?.()
    return
  }
  if (hangUp) {
    // Read nothing more from this client.
    named.connection = 'close'
    response.on('finish', () => request.destroy())
  } else if (!request.complete) discard(request)
  if (body === null || typeof body === 'string') {
    if (body !== null) named['content-length'] = String(Buffer.byteLength(body))
    response.writeHead(status, named)
    if (hangUp || request.complete || response.shouldKeepAlive) response.end(body ?? undefined)
    else {
      // The connection closes after the response: wait until the client has sent its whole request.
      response.write(body ?? '')
      await arrived(request)
      response.end()
    }
    return
  }
  response.writeHead(status, named)
  if (named['content-type'] === 'text/event-stream') {
    streams.add(response)
    response.once('close', () => streams.delete(response))
  }
  try {
    await send(body, response, limits)
  } catch {
    // Reset the connection, so that clients that take its end for the end of the body see an error.
    response.socket?.resetAndDestroy()
    return
  }
  response.end()
}

/** The URL of a request with path and query. The host that the client names is ignored. */
function urlOf({ url = '/' }: IncomingMessage): string {
  const own = 'http://localhost'
  if (url.startsWith('/')) return own + url
  if (!URL.canParse(url)) return `${own}/`
  const { pathname, search } = new URL(url)
  return own + pathname + search
}

/** Seconds that a fast start gives a client that gets slow. */
const MAX_CREDIT = 60

/** Streams a body. Disconnects clients below the rate limit; only time spent waiting for them counts. */
async function send(
  body: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  limits: Limits,
): Promise<void> {
  const gone = once(response, 'close')
  gone.catch(() => {})
  // Time that the client may still use, in ms. What it took fast at first does not count for hours.
  const most = (limits.slow_seconds + MAX_CREDIT) * 1000
  let credit = limits.slow_seconds * 1000
  for await (const chunk of body) {
    credit = Math.min(
      most + (chunk.length / limits.body_bytes_per_second) * 1000,
      credit + (chunk.length / limits.body_bytes_per_second) * 1000,
    )
    if (!response.write(chunk)) {
      const began = performance.now()
      const timer = setTimeout(() => response.destroy(), credit)
      await Promise.race([once(response, 'drain'), gone]).finally(() => clearTimeout(timer))
      credit -= performance.now() - began
    }
    if (response.destroyed) return
    // Streams take turns, so that new requests and health checks are answered between them.
    await breathe()
  }
}

function discard(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), DISCARD_MS).unref()
  for (const end of ['end', 'close'] as const) request.once(end, () => clearTimeout(timer))
  request.on('error', () => {})
  // A handler may have given up while waiting for a chunk. Its `readable` listener would keep the rest of
  // the body from being discarded, and so block the next request on the connection.
  request.removeAllListeners('readable')
  request.on('data', () => {})
  request.resume()
}

/** Resolves when the request has arrived completely or the connection has closed. */
function arrived(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    for (const end of ['end', 'close'] as const) request.once(end, () => resolve())
  })
}
