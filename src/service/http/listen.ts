/** Node HTTP server: accepts connections and requests, and stops gracefully. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../../contract/errors.ts'
import type { HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Limits } from '../../contract/limits.ts'
import { Acceptors } from './acceptors.ts'
import { answerClientError } from './client-error.ts'
import { type KeyPairFiles, KeyPairWatcher, readKeyPair } from './key-pair.ts'
import { addBody, toHttpRequest } from './node-request.ts'
import { RefusalQueue, StartQueue } from './overload.ts'
import { sendResponse } from './send-response.ts'

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

/** Idle timeout of a connection, in ms. While a response is computed, it is not idle. */
const IDLE_TIMEOUT_MS = 120_000
/** Time in which a response must begin, in ms: clients wait as long (cli/connect/remote.ts). */
const MAX_COMPUTING_MS = 600_000
/** Maximum size of all headers of a request. One of them contains the checks of an upload. */
const MAX_HEADER_BYTES = 64 * 1024
/** Timeout for all headers of a request, in ms. */
const HEADERS_TIMEOUT_MS = 20_000
/** Interval of checks for timed-out connections, in ms. */
const TIMEOUT_CHECK_MS = 5_000

const SERVER_OPTIONS = {
  keepAliveTimeout: 65_000,
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: 0,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
}

export interface ListenOptions {
  host: string
  port: number
  limits: Limits
  /** Number of proxies that add to X-Forwarded-For in front of the server. Default: 0. */
  proxies?: number
  /** Idle timeout of a connection in ms, for tests. */
  idleMs?: number
  /** Files for HTTPS, and where their changes are reported. Default: HTTP. */
  tls?: { files: KeyPairFiles; report: (message: string) => void }
}

/** Starts the HTTP server. Refuses requests while `current` returns undefined (the service is not ready). */
export function startHttpServer(
  current: () => RequestService | undefined,
  options: ListenOptions,
): Promise<RunningServer> {
  return new HttpListener(current, options).start()
}

/** A server with its connections, and the requests that have no response yet. */
class HttpListener {
  private readonly refusals = new RefusalQueue()
  private readonly inbox = new StartQueue()
  /** Responses that are event streams. */
  private readonly streams = new Set<ServerResponse>()
  private readonly running = new Map<ServerResponse, { request: IncomingMessage; since: number }>()
  private readonly openSockets = new Set<Socket>()
  private isStopping = false
  private readonly server: Server
  private keyPair: KeyPairWatcher | undefined

  constructor(
    private readonly current: () => RequestService | undefined,
    private readonly options: ListenOptions,
  ) {
    this.server = this.createServer((request, response) => this.receive(request, response))
    this.server.timeout = options.idleMs ?? IDLE_TIMEOUT_MS
    this.server.on('timeout', (socket: Socket) => this.endIdle(socket))
    this.server.on('clientError', answerClientError)
    this.server.prependListener('connection', (socket: Socket) => this.admit(socket))
  }

  /** Creates a server for HTTP, or for HTTPS. Throws `usage` if the certificate cannot be used. */
  private createServer(receive: (request: IncomingMessage, response: ServerResponse) => void): Server {
    const { tls } = this.options
    if (!tls) return createServer(SERVER_OPTIONS, receive)
    const https = process.getBuiltinModule('node:https')
    const pair = readKeyPair(tls.files)
    const server = https.createServer(
      { ...SERVER_OPTIONS, ...pair, handshakeTimeout: HEADERS_TIMEOUT_MS },
      receive,
    )
    const setSecureContext = server.setSecureContext.bind(server)
    this.keyPair = new KeyPairWatcher(tls.files, { setSecureContext, report: tls.report })
    return server
  }

  /** Listens. Throws `failed` if the address cannot be used. */
  start(): Promise<RunningServer> {
    const { host, port, limits } = this.options
    return new Promise((resolve, reject) => {
      this.server.once('error', (error) => reject(toListenProblem(error, `${host}:${port}`)))
      this.server.listen({ port, host, backlog: limits.connections }, () => {
        const acceptors = new Acceptors(this.server, limits.connections, (socket) =>
          this.server.emit('connection', socket),
        )
        const address = this.server.address()
        resolve({
          port: typeof address === 'object' && address ? address.port : port,
          stop: (grace = 10_000) => this.stop(grace, acceptors),
        })
      })
    })
  }

  /** Starts a request, or puts it in a queue. */
  private receive(request: IncomingMessage, response: ServerResponse): void {
    this.running.set(response, { request, since: performance.now() })
    response.once('close', () => this.running.delete(response))
    if (this.isStopping) response.shouldKeepAlive = false
    const service = this.current()
    const { limits, proxies = 0 } = this.options
    const begin = (): void => {
      const incoming = toHttpRequest(request, response, proxies)
      if (!service || (!isHealthUrl(request.url) && service.refuses(incoming)))
        this.refusals.add(request, response)
      else
        addBody(incoming, request, limits, (complete) => {
          this.respond(service, complete, request, response).catch(() => response.destroy())
        })
    }
    // Health checks do not wait for other requests.
    if (isHealthUrl(request.url)) begin()
    else this.inbox.add(begin)
  }

  /** Handles a request and sends the response. */
  private async respond(
    service: RequestService,
    incoming: HttpRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const reply = await service.handle(incoming)
    if (reply.headers['content-type'] === 'text/event-stream' && !response.destroyed) {
      this.streams.add(response)
      response.once('close', () => this.streams.delete(response))
    }
    await sendResponse(reply, request, response, this.options.limits)
  }

  /** Closes an idle connection, unless it waits for a response that is computed. */
  private endIdle(socket: Socket): void {
    const isComputing = [...this.running].some(
      ([response, { request, since }]) =>
        response.socket === socket &&
        request.complete &&
        !response.headersSent &&
        performance.now() - since < MAX_COMPUTING_MS,
    )
    if (isComputing) socket.setTimeout(this.server.timeout)
    else socket.destroy()
  }

  /** Counts a connection; closes it if there are too many. */
  private admit(socket: Socket): void {
    if (this.openSockets.size >= this.options.limits.connections) {
      // Idle connections make room for new ones.
      this.server.closeIdleConnections()
      socket.destroy()
      return
    }
    this.openSockets.add(socket)
    socket.once('close', () => this.openSockets.delete(socket))
  }

  /** Stops: see `RunningServer.stop`. */
  private async stop(grace: number, acceptors: Acceptors): Promise<void> {
    this.isStopping = true
    this.keyPair?.close()
    for (const response of this.running.keys()) response.shouldKeepAlive = false
    // Event streams do not end by themselves.
    for (const stream of this.streams) stream.destroy()
    const deadline = performance.now() + Math.min(grace, MAX_LINGER_MS)
    while (this.openSockets.size > 0 && performance.now() < deadline)
      await new Promise((wake) => setTimeout(wake, 10))
    const cutTimer = setTimeout(() => {
      for (const [response, { request }] of this.running) if (!request.complete) response.destroy()
    }, grace)
    const endTimer = setTimeout(
      () => this.server.closeAllConnections(),
      grace === 0 ? 0 : grace + MAX_RESPONSE_MS,
    )
    acceptors.close()
    this.server.close()
    this.server.closeIdleConnections()
    this.closeSilentConnections()
    await new Promise<void>((done) => onceAllClosed(this.openSockets, done))
    clearTimeout(cutTimer)
    clearTimeout(endTimer)
  }

  /** Closes connections on which no request has begun. Node.js does not count those as idle that were never used. */
  private closeSilentConnections(): void {
    // Over TLS, a request has another socket than its connection.
    const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
    const busy = new Set([...this.running.values()].map(({ request }) => peerOf(request.socket)))
    for (const socket of this.openSockets) if (!busy.has(peerOf(socket))) socket.destroy()
  }
}

/** Explains why a server cannot listen. Other errors stay unchanged. */
function toListenProblem(error: NodeJS.ErrnoException, address: string): Error {
  const reasons = new Map([
    ['EADDRINUSE', 'the port is in use'],
    ['EACCES', 'permission denied'],
    ['EADDRNOTAVAIL', 'this machine has no such address'],
    ['ENOTFOUND', 'this machine has no such address'],
  ])
  const reason = reasons.get(error.code ?? '')
  if (reason === undefined) return error
  const hint = 'Use another --port or --host.'
  return new Problem('failed', `cannot listen on ${address}: ${reason}`, { hint })
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
