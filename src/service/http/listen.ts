/** Node HTTP server: receives requests, delays refusals under overload, and disconnects slow clients. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import { formatErrorBody, Problem } from '../../contract/errors.ts'
import type { HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Limits } from '../../contract/limits.ts'
import { shouldYield, yieldToEventLoop } from '../../json/index.ts'
import { Acceptors } from './acceptors.ts'
import { MAX_SMALL_BODY_BYTES, readContentLength, receiveSmallBody } from './receive-body.ts'

/** The service behind the HTTP listener. */
export interface RequestService {
  handle(request: HttpRequest): Promise<HttpResponse>
  /** Returns whether the queue is full for the client of a request. */
  refuses(request: Pick<HttpRequest, 'headers' | 'address'>): boolean
}

export interface RunningServer {
  /** Actual port, also if port 0 was requested. */
  port: number
  /**
   * Stops the server, and resolves when all responses are sent. Each response closes its connection. After
   * `grace` ms, clients that still send a body are disconnected.
   */
  stop(grace?: number): Promise<void>
}

/** Maximum wait for a last request on idle connections, so that they end with a response, in ms. */
const MAX_LINGER_MS = 1_000
/** Maximum time after `grace` for responses to complete requests, in ms. */
const MAX_RESPONSE_MS = 30_000

/** Idle timeout of a connection, in ms. */
const IDLE_TIMEOUT_MS = 120_000
/** Maximum size of all headers of a request. One of them contains the checks of an upload. */
const MAX_HEADER_BYTES = 64 * 1024
/** Timeout for all headers of a request, in ms. */
const HEADERS_TIMEOUT_MS = 20_000
/** Interval of checks for timed-out connections, in ms. */
const TIMEOUT_CHECK_MS = 5_000

export interface ListenOptions {
  host: string
  port: number
  limits: Limits
  /** Number of proxies that add to X-Forwarded-For in front of the server. Default: 0. */
  proxies?: number
}

/** Starts the HTTP server. Refuses requests while `current` returns undefined (the service is not ready). */
export function startHttpServer(
  current: () => RequestService | undefined,
  { host, port, limits, proxies = 0 }: ListenOptions,
): Promise<RunningServer> {
  const refusals = new RefusalQueue()
  const inbox = new StartQueue()
  const streams = new Set<ServerResponse>()
  const running = new Map<ServerResponse, IncomingMessage>()
  let isStopping = false
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: 0,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    (request, response) => {
      running.set(response, request)
      response.once('close', () => running.delete(response))
      if (isStopping) response.shouldKeepAlive = false
      const service = current()
      const begin = (): void => {
        const incoming = toHttpRequest(request, response, proxies)
        if (!service || (!isHealthUrl(request.url) && service.refuses(incoming)))
          refusals.add(request, response)
        else
          addBody(incoming, request, limits, (complete) => {
            handleRequest(service, complete, request, response, limits, streams).catch(() =>
              response.destroy(),
            )
          })
      }
      // Health checks do not wait for other requests.
      if (isHealthUrl(request.url)) begin()
      else inbox.add(begin)
    },
  )
  server.timeout = IDLE_TIMEOUT_MS
  const openSockets = new Set<Socket>()
  server.prependListener('connection', (socket: Socket) => {
    if (openSockets.size >= limits.connections) {
      // Idle connections make room for new ones.
      server.closeIdleConnections()
      socket.destroy()
      return
    }
    openSockets.add(socket)
    socket.once('close', () => openSockets.delete(socket))
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
      const address = `${host}:${port}`
      reject(
        reason
          ? new Problem('failed', `cannot listen on ${address}: ${reason}`, {
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
          // Event streams do not end by themselves.
          for (const stream of streams) stream.destroy()
          const deadline = performance.now() + Math.min(grace, MAX_LINGER_MS)
          while (openSockets.size > 0 && performance.now() < deadline)
            await new Promise((wake) => setTimeout(wake, 10))
          await new Promise<void>((done) => {
            const cutTimer = setTimeout(() => {
              for (const [response, request] of running) if (!request.complete) response.destroy()
            }, grace)
            const endTimer = setTimeout(
              () => server.closeAllConnections(),
              grace === 0 ? 0 : grace + MAX_RESPONSE_MS,
            )
            acceptors.close()
            server.close()
            server.closeIdleConnections()
            onceAllClosed(openSockets, () => {
              clearTimeout(cutTimer)
              clearTimeout(endTimer)
              done()
            })
          })
        },
      })
    })
  })
}

/** Requests that have arrived. Bursts are started over several turns of the event loop. */
class StartQueue {
  private readonly waiting: (() => void)[] = []

  /** Starts a request now, or after those that wait. */
  add(begin: () => void): void {
    if (this.waiting.length === 0 && !shouldYield()) begin()
    else if (this.waiting.push(begin) === 1) setImmediate(() => this.startNext())
  }

  private startNext(): void {
    let count = 0
    while (count < this.waiting.length && (count === 0 || !shouldYield())) this.waiting[count++]()
    this.waiting.splice(0, count)
    if (this.waiting.length > 0) setImmediate(() => this.startNext())
  }
}

/** Calls `then` when all connections of a set have closed. */
function onceAllClosed(sockets: ReadonlySet<Socket>, then: () => void): void {
  const [socket] = sockets
  if (socket) socket.once('close', () => onceAllClosed(sockets, then))
  else then()
}

/** Returns whether a URL is a health or metrics endpoint: these are never refused. */
function isHealthUrl(url: string | undefined): boolean {
  return url === '/healthz' || url === '/readyz' || url === '/metrics'
}

const BUSY_BODY = JSON.stringify(
  formatErrorBody(new Problem('overloaded', 'the server is busy (limit requests_waiting)')),
)
const BUSY_HEADERS = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'retry-after': '1',
  'content-length': String(Buffer.byteLength(BUSY_BODY)),
}

/** Minimum delay of a refusal, in ms: a client that is refused at once repeats its request at once. */
const MIN_REFUSAL_DELAY_MS = 1000
/** Maximum rate of refusals. The delay grows with the queue, so that refusals use little CPU time. */
const MAX_REFUSALS_PER_MS = 0.5
/** Maximum delay of a refusal, in ms. */
const MAX_REFUSAL_DELAY_MS = 5000
/** Interval at which due refusals are sent, in ms. */
const REFUSAL_CHECK_MS = 50

/** Refuses requests after a delay, so that refusals leave the CPU to accepted requests under overload. */
class RefusalQueue {
  private waiting: { request: IncomingMessage; response: ServerResponse; at: number }[] = []
  private timer: NodeJS.Timeout | undefined

  add(request: IncomingMessage, response: ServerResponse): void {
    const delay = Math.min(
      MAX_REFUSAL_DELAY_MS,
      MIN_REFUSAL_DELAY_MS + this.waiting.length / MAX_REFUSALS_PER_MS,
    )
    this.waiting.push({ request, response, at: performance.now() + delay })
    this.timer ??= setInterval(() => this.sendDue(), REFUSAL_CHECK_MS)
  }

  private sendDue(): void {
    const now = performance.now()
    let count = 0
    // In a long turn of the event loop, leave the rest for the next check.
    while (count < this.waiting.length && this.waiting[count].at <= now && (count % 50 > 0 || !shouldYield()))
      sendRefusal(this.waiting[count++])
    this.waiting.splice(0, count)
    if (this.waiting.length > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

/** Responds 503, unless the client has disconnected. */
function sendRefusal({ request, response }: { request: IncomingMessage; response: ServerResponse }): void {
  if (response.destroyed) return
  response.writeHead(503, BUSY_HEADERS)
  response.end(BUSY_BODY)
  if (!request.complete) discardBody(request)
}

/** Maximum time for which an unread body is discarded, in ms, so that the client can read the response. */
const MAX_DISCARD_MS = 30_000

/** Converts a Node request, except for its body. */
function toHttpRequest(request: IncomingMessage, response: ServerResponse, proxies: number): HttpRequest {
  const { headers } = request
  return {
    method: request.method ?? 'GET',
    url: localUrlOf(request),
    headers: {
      keys: () => Object.keys(headers),
      get(name) {
        const value = headers[name.toLowerCase()]
        return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
      },
    },
    body: null,
    address: clientIpOf(request, proxies),
    isAborted: () => response.destroyed || request.socket.destroyed,
  }
}

/**
 * Returns the IP address of the client. Each proxy appends the address of its client to X-Forwarded-For;
 * entries before those of the configured proxies can be forged.
 */
function clientIpOf({ headers, socket }: IncomingMessage, proxies: number): string | undefined {
  if (proxies === 0) return socket.remoteAddress
  const header = headers['x-forwarded-for']
  const entries = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',')
  return parseIp(entries.at(-proxies)?.trim() ?? '') ?? socket.remoteAddress
}

/** Returns the IP address of an entry of X-Forwarded-For, without a port; undefined if it is none. */
function parseIp(entry: string): string | undefined {
  const [, bracketed] = /^\[([^\]]{2,45})\](?::\d{1,5})?$/.exec(entry) ?? []
  const [, withPort] = /^([\d.]{7,15}):\d{1,5}$/.exec(entry) ?? []
  const address = bracketed ?? withPort ?? entry
  return isIP(address) === 0 ? undefined : address
}

/** Calls `then` with the request and its body: small ones when complete, large ones as a stream. */
function addBody(
  incoming: HttpRequest,
  request: IncomingMessage,
  limits: Limits,
  then: (incoming: HttpRequest) => void,
): void {
  const announced = readContentLength(incoming.headers)
  if (announced === 0) then(incoming)
  else if (announced === undefined || announced > MAX_SMALL_BODY_BYTES) {
    // If the handler stops reading, the connection must stay open for the response.
    incoming.body = request.iterator({ destroyOnReturn: false })
    then(incoming)
  } else
    receiveSmallBody(request, limits, (body) => {
      incoming.body = body
      then(incoming)
    })
}

/** Handles a request and sends the response. */
async function handleRequest(
  service: RequestService,
  incoming: HttpRequest,
  request: IncomingMessage,
  response: ServerResponse,
  limits: Limits,
  streams: Set<ServerResponse>,
): Promise<void> {
  const reply = await service.handle(incoming)
  const { status, body, hangUp, cookies } = reply
  const headers: OutgoingHttpHeaders = reply.headers
  if (cookies.length > 0) headers['set-cookie'] = cookies
  if (response.destroyed) {
    if (body !== null && typeof body !== 'string') await body[Symbol.asyncIterator]().return?.()
    return
  }
  if (hangUp) {
    // Read nothing more from this client.
    headers.connection = 'close'
    response.on('finish', () => request.destroy())
  } else if (!request.complete) discardBody(request)
  if (body === null || typeof body === 'string') {
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
  if (headers['content-type'] === 'text/event-stream') {
    streams.add(response)
    response.once('close', () => streams.delete(response))
  }
  try {
    await sendBody(body, response, limits)
  } catch {
    // Reset the connection: some clients take a normal close for the end of the body.
    response.socket?.resetAndDestroy()
    return
  }
  response.end()
}

/**
 * Returns the URL of a request, with path and query on `localhost`: the host sent by the client is ignored.
 */
function localUrlOf({ url = '/' }: IncomingMessage): string {
  const base = 'http://localhost'
  if (url.startsWith('/')) return base + url
  if (!URL.canParse(url)) return `${base}/`
  const { pathname, search } = new URL(url)
  return base + pathname + search
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

/** Reads and drops the rest of a body. */
function discardBody(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), MAX_DISCARD_MS).unref()
  for (const end of ['end', 'close'] as const) request.once(end, () => clearTimeout(timer))
  request.on('error', () => {})
  // A handler that stopped waiting for a chunk leaves a `readable` listener. It would keep the body from
  // being discarded, and so block the next request on the connection.
  request.removeAllListeners('readable')
  request.on('data', () => {})
  request.resume()
}

/** Resolves when the request has arrived completely or the connection has closed. */
function waitForBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    for (const end of ['end', 'close'] as const) request.once(end, () => resolve())
  })
}
