/** Routes requests to operations and pages, and logs each request. */
import { randomUUID } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { REQUEST_ID_HEADER } from '../../contract/headers.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import { waitAtMost } from '../core/wait-at-most.ts'
import type { OperationService as Service } from '../operations/handler.ts'
import { currentTraceId, parseTrace, runInSpan } from '../tracing/tracing.ts'
import { createErrorResponse, toProblem } from './answer.ts'
import { type Authenticator, checkOperator } from './auth.ts'
import { acceptsHtml, isBrowser, refuseCrossSite } from './browser.ts'
import {
  authenticateRequest,
  clientKeyOf,
  createHttpContext,
  type HttpContext,
  type LogLine,
} from './http-context.ts'
import type { RequestService } from './listen.ts'
import { PAGE_HEADERS } from './page-headers.ts'
import { performOperation } from './perform.ts'
import { findQuirkStatus } from './quirks.ts'
import { ResponseCache } from './response-cache.ts'
import { OperationRouter, splitUrl } from './route.ts'

/** Maximum length of a path in the log. */
const MAX_LOGGED_PATH_CHARACTERS = 2_000

/** Content security policy of responses that are not pages. No scripts: an SVG image can contain them. */
const NON_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"

/**
 * Creates the handler of all requests, and adds its metrics. `cacheResponses`: keeps responses from then on, for
 * servers.
 */
export function createApp(
  service: Service,
  authenticator: Authenticator,
  log: (line: LogLine) => void,
): RequestService & { cacheResponses(): void } {
  const context = createHttpContext(service, authenticator)
  addQueueMetrics(context)
  const app = new App(new OperationRouter(), context, log)
  return {
    handle: (request) => app.handle(request),
    refuses: (request) => app.refuses(request),
    cacheResponses() {
      const { engine } = service.store
      if (engine.readState) context.responses = new ResponseCache(() => engine.readState!())
    },
  }
}

/** Adds the metrics of the queues. */
function addQueueMetrics({ service: { metrics }, requestQueue, uploadQueue }: HttpContext): void {
  const addGauge = (name: string, help: string, read: () => number): void =>
    metrics.add({ name: `gridline_${name}`, type: 'gauge', help, read })
  addGauge('requests_running', 'Requests being processed.', () => requestQueue.load.running)
  addGauge('requests_waiting', 'Requests waiting in the queue.', () => requestQueue.load.waiting)
  addGauge('uploads_running', 'Uploads being processed.', () => uploadQueue.load.running)
}

/** Handles and logs all requests. */
class App implements RequestService {
  private readonly refusalLog: RefusalLog

  constructor(
    private readonly router: OperationRouter,
    private readonly context: HttpContext,
    private readonly log: (line: LogLine) => void,
  ) {
    this.refusalLog = new RefusalLog(log)
  }

  refuses(request: Pick<HttpRequest, 'headers' | 'address'>): boolean {
    const { authenticator, requestQueue } = this.context
    const user = authenticator.cachedUsername(request.headers) ?? clientKeyOf(request)
    if (!requestQueue.isFullFor(user)) return false
    this.refusalLog.count()
    return true
  }

  handle(request: HttpRequest): Promise<HttpResponse> {
    return runInSpan({ name: request.method, kind: 'server', from: request.headers }, async (set) => {
      const [reply, { operation, path, user }] = await this.handleAndLog(request)
      set({
        'http.request.method': request.method,
        'http.response.status_code': reply.status,
        'url.path': path,
        ...(operation !== undefined && { 'gridline.operation': operation }),
        ...(user !== undefined && { 'enduser.id': user }),
      })
      return reply
    })
  }

  private async handleAndLog(request: HttpRequest): Promise<[HttpResponse, LogLine]> {
    const { metrics } = this.context.service
    const started = performance.now()
    const { path, query } = splitUrl(request.url)
    const line = createLogLine(request, path)
    metrics.beginRequest()
    const reply = await this.dispatch(request, line, path, query).catch((error) =>
      createErrorReply(error, request, line, path + (query && `?${query}`)),
    )
    completeHeaders(reply.headers, line.request_id)
    line.status = reply.status
    const ms = performance.now() - started
    line.ms = Math.round(ms * 10) / 10
    metrics.endRequest(line.operation ?? 'none', reply.status, ms / 1000)
    line.trace = currentTraceId(parseTrace(request.headers))
    this.log(line)
    return [request.method === 'HEAD' ? await toHeadResponse(reply) : reply, line]
  }

  /** Routes a request to its operation, or to a page outside of the API. */
  private async dispatch(
    request: HttpRequest,
    line: LogLine,
    rawPath: string,
    rawQuery: string,
  ): Promise<HttpResponse> {
    const { context, router } = this
    const { service } = context
    const method = request.method === 'HEAD' ? 'GET' : request.method
    // Health checks must work without the database.
    const requested = router.find(method, rawPath)
    if (!requested?.[0].isUnlimited) await service.formerNames.refresh()
    const path = service.formerNames.currentPath(rawPath)
    const query = service.formerNames.currentQuery(rawQuery)
    if (path !== rawPath && method === 'GET' && path.startsWith('/~')) {
      const location = service.url + encodePath(path) + (query && `?${query}`)
      return new HttpResponse(301, { location }, null)
    }
    const match = path === rawPath ? requested : router.find(method, path)
    if (!match) {
      // Only servers have pages.
      const { handleWebRequest } = await import('./web/routes.ts')
      const reply = await handleWebRequest(context, method, path, { request, query, line })
      if (reply) return reply
      // The page that says so names who is signed in.
      if (acceptsHtml(request.headers)) {
        const caller = authenticateRequest(context, request).catch(() => undefined)
        line.user = (await waitAtMost(MAX_NAME_WAIT_MS, caller, undefined))?.username
      }
      return router.refuse(method, path)
    }
    const [route, parameters] = match
    const { name, operation, isUnlimited } = route
    line.operation = name
    if (name === 'service.metrics' && !isThisMachine(request, service.url))
      checkOperator(await authenticateRequest(context, request))
    if (!isUnlimited && operation.method !== 'GET') refuseCrossSite(request.headers, service.url)
    const caller = isUnlimited ? undefined : await authenticateRequest(context, request)
    line.user = caller?.username
    const rawUrl = `${rawPath}?${rawQuery}`
    const requestId = line.request_id
    // No spread, here and below: it would slow down access to all later properties.
    return performOperation(context, caller, {
      name,
      operation,
      filetype: route.filetype,
      isUnlimited,
      parameters,
      request,
      path,
      query,
      rawUrl,
      requestId,
    })
  }
}

/** Creates the log line of a request that has no response yet. */
function createLogLine({ method, headers, address }: HttpRequest, path: string): LogLine {
  const sentId = headers.get(REQUEST_ID_HEADER)
  return {
    request_id: sentId && /^[\w.-]{1,100}$/.test(sentId) ? sentId : randomUUID(),
    method,
    path: path.slice(0, MAX_LOGGED_PATH_CHARACTERS),
    status: 500,
    ms: 0,
    address,
    client: headers.get('plotly-client-platform')?.slice(0, 100),
    agent: headers.get('user-agent')?.slice(0, 200),
  }
}

/** Maximum wait for the name of who is signed in, in ms, on a page that needs the database for nothing else. */
const MAX_NAME_WAIT_MS = 2000

/** Creates the response to a request that failed, a page for browsers, and logs the reason. */
async function createErrorReply(
  thrown: unknown,
  request: HttpRequest,
  line: LogLine,
  url: string,
): Promise<HttpResponse> {
  const error = isAborted(thrown, request) ? new Problem('aborted', 'the client disconnected') : thrown
  if (!(error instanceof Problem))
    line.error = error instanceof Error ? (error.stack ?? error.message) : String(error)
  else if (error.status >= 500) line.reason = error.message
  if (!url.startsWith('/v2') && acceptsHtml(request.headers)) {
    const pages = await import('./web/pages.ts').catch(() => undefined)
    if (pages) return pages.createErrorPage(toProblem(error), url, line.user)
  }
  const response = createErrorResponse(error, {
    quirk: (problem) => findQuirkStatus(request.headers, problem.code),
    browser: isBrowser(request.headers),
  })
  // A chart in a page of any origin follows its data with a token, and must see that there is nothing to follow.
  if (LIVE_CHART.test(url)) response.headers['access-control-allow-origin'] = '*'
  return response
}

/** URLs of charts that follow their data with a token. */
const LIVE_CHART = /^\/~[^?]*\.(?:state|events|live)\?(?:[^#]*&)?watch=/

/** Adds the headers of every response. */
function completeHeaders(headers: HttpResponse['headers'], requestId: string): void {
  headers['x-request-id'] = requestId
  headers['x-content-type-options'] = 'nosniff'
  // Responses are not cached unless they say so: lists, errors, new keys.
  headers['cache-control'] ??= 'private, no-store'
  if (headers['content-type']?.startsWith('text/html'))
    Object.assign(headers, { ...PAGE_HEADERS, ...headers })
  else headers['content-security-policy'] ??= NON_PAGE_POLICY
}

/** Percent-encodes a decoded path for a header. */
function encodePath(path: string): string {
  return path
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/')
}

/** Returns whether a request failed because the client disconnected while sending the body. */
function isAborted(error: unknown, { isAborted }: HttpRequest): boolean {
  if (error instanceof Problem || isAborted?.() !== true) return false
  return /^(ECONNRESET|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE)$/.test(
    (error as NodeJS.ErrnoException | undefined)?.code ?? '',
  )
}

/** Logs the number of requests refused for overload, once a second: a line for each would cost too much. */
class RefusalLog {
  private refused = 0

  constructor(private readonly log: (line: LogLine) => void) {}

  count(): void {
    if (this.refused++ > 0) return
    setTimeout(() => {
      const error = `${this.refused} requests were refused: too many requests are waiting (limit requests_waiting)`
      this.refused = 0
      this.log({ request_id: '-', method: '-', path: 'overload', status: 503, ms: 0, error })
    }, 1000).unref()
  }
}

/** Headers added by proxies: standard ones, and those of nginx, Envoy and content delivery networks. */
const PROXY_HEADERS =
  /^(via|forwarded|x-forwarded(-.+)?|x-real-ip|x-original-.+|x-envoy-.+|cdn-loop|.+-client-ip|.+-connecting-ip)$/

/** Returns whether a request comes from this machine, and not through a proxy on it. */
function isThisMachine({ address: client, headers }: HttpRequest, url: string): boolean {
  for (const name of headers.keys?.() ?? []) if (PROXY_HEADERS.test(name)) return false
  // A proxy that adds no header still passes on the public host name of the service.
  const { host, hostname } = new URL(url)
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  if (!isLocal && headers.get('host') === host) return false
  return client === undefined || /^(::ffff:)?127\.|^::1$/.test(client)
}

/** Converts a response to GET into one to HEAD: same headers, no body. */
async function toHeadResponse({ status, headers, body }: HttpResponse): Promise<HttpResponse> {
  if (typeof body === 'string' || body instanceof Uint8Array)
    headers['content-length'] = String(Buffer.byteLength(body))
  else await body?.[Symbol.asyncIterator]().return?.()
  return new HttpResponse(status, headers, null)
}
