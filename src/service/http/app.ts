import { randomUUID } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { REQUEST_ID_HEADER } from '../../contract/headers.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Handlers, OperationService as Service } from '../operations/handler.ts'
import { span, traceId, traceOf } from '../tracing/tracing.ts'
import { errorReply, problemOf } from './answer.ts'
import { type Authenticator, checkOperator } from './auth.ts'
import { isBrowser, refuseCrossSite, wantsPage } from './browser.ts'
import { addressOf, callerOf, deskOf, type LogLine } from './desk.ts'
import { perform } from './perform.ts'
import { quirkStatus } from './quirks.ts'
import { address, OperationRouter } from './route.ts'
import { errorPage, PAGE_HEADERS } from './web/pages.ts'
import { answerWeb } from './web/routes.ts'

/** Characters of a path that are logged. */
const LOGGED_PATH = 2_000

/** The policy of everything that is not a page: opened on its own, it runs nothing. An image can be SVG. */
const DATA_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"

export interface App {
  handle(request: HttpRequest): Promise<HttpResponse>
  /** Whether a request would be refused now because too many wait. Counts refusals. Not for health checks. */
  refuses(request: Pick<HttpRequest, 'headers' | 'address'>): boolean
}

/** Creates the application: it routes each request to its operation and sends the response. */
export function createApp(
  service: Service,
  handlers: Handlers,
  authenticator: Authenticator,
  log: (line: LogLine) => void,
): App {
  const router = new OperationRouter(handlers)
  const { metrics } = service
  const desk = deskOf(service, authenticator)
  metrics.add(
    {
      name: 'gridline_requests_running',
      type: 'gauge',
      help: 'Requests being processed.',
      read: () => desk.requests.load.running,
    },
    {
      name: 'gridline_requests_waiting',
      type: 'gauge',
      help: 'Requests waiting in the queue.',
      read: () => desk.requests.load.waiting,
    },
    {
      name: 'gridline_uploads_running',
      type: 'gauge',
      help: 'Uploads being processed.',
      read: () => desk.uploads.load.running,
    },
  )
  const shed = new ShedLog(log)
  /** Finds what a request is for: an operation, or an address outside of the API. */
  const answer = async (
    request: HttpRequest,
    line: LogLine,
    givenPath: string,
    givenQuery: string,
  ): Promise<HttpResponse> => {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    // Health does not depend on the database.
    if (!router.find(method, givenPath)?.[0].isUnlimited) await service.names.refresh()
    const path = service.names.inPath(givenPath)
    const query = service.names.inQuery(givenQuery)
    if (path !== givenPath && method === 'GET' && path.startsWith('/~'))
      return new HttpResponse(301, { location: service.url + encoded(path) + (query && `?${query}`) }, null)
    const found = router.find(method, path)
    if (!found)
      return (await answerWeb(desk, method, path, { request, query, line })) ?? router.refusal(method, path)
    const [route, parameters] = found
    const { name, operation, isUnlimited } = route
    line.operation = name
    if (name === 'service.metrics' && !isThisMachine(request, service.url))
      checkOperator(await callerOf(desk, request))
    if (!isUnlimited && operation.method !== 'GET') refuseCrossSite(request.headers, service.url)
    const caller = isUnlimited ? undefined : await callerOf(desk, request)
    line.user = caller?.username
    const sent = `${givenPath}?${givenQuery}`
    return perform(desk, caller, {
      ...route,
      parameters,
      request,
      path,
      query,
      sent,
      requestId: line.request_id,
    })
  }
  const handle = (request: HttpRequest): Promise<HttpResponse> =>
    span({ name: request.method, kind: 'server', from: request.headers }, async (set) => {
      const [reply, { operation, path, user }] = await answered(request)
      set({
        'http.request.method': request.method,
        'http.response.status_code': reply.status,
        'url.path': path,
        ...(operation !== undefined && { 'gridline.operation': operation }),
        ...(user !== undefined && { 'enduser.id': user }),
      })
      return reply
    })
  const answered = async (request: HttpRequest): Promise<[HttpResponse, LogLine]> => {
    const started = performance.now()
    const given = request.headers.get(REQUEST_ID_HEADER)
    const requestId = given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
    const { path, query } = address(request.url)
    const line: LogLine = {
      request_id: requestId,
      method: request.method,
      path: path.slice(0, LOGGED_PATH),
      status: 500,
      ms: 0,
    }
    line.address = request.address
    line.client = request.headers.get('plotly-client-platform')?.slice(0, 100)
    line.agent = request.headers.get('user-agent')?.slice(0, 200)
    let reply: HttpResponse
    metrics.begin()
    try {
      reply = await answer(request, line, path, query)
    } catch (thrown) {
      const error = isAborted(thrown, request) ? new Problem('aborted', 'the client disconnected') : thrown
      if (!(error instanceof Problem))
        line.error = error instanceof Error ? (error.stack ?? error.message) : String(error)
      else if (error.status >= 500) line.reason = error.message
      reply =
        !path.startsWith('/v2') && wantsPage(request.headers)
          ? errorPage(problemOf(error), path + (query && `?${query}`), line.user)
          : errorReply(error, {
              quirk: (problem) => quirkStatus(request.headers, problem.code),
              browser: isBrowser(request.headers),
            })
    }
    reply.headers['x-request-id'] = requestId
    reply.headers['x-content-type-options'] = 'nosniff'
    // What is not meant to be kept is kept by nobody: lists, errors, new keys.
    reply.headers['cache-control'] ??= 'private, no-store'
    if (reply.headers['content-type']?.startsWith('text/html'))
      Object.assign(reply.headers, { ...PAGE_HEADERS, ...reply.headers })
    else reply.headers['content-security-policy'] ??= DATA_POLICY
    line.status = reply.status
    const ms = performance.now() - started
    line.ms = Math.round(ms * 10) / 10
    metrics.end(line.operation ?? 'none', reply.status, ms / 1000)
    line.trace = traceId(traceOf(request.headers))
    log(line)
    return [request.method === 'HEAD' ? await withoutBody(reply) : reply, line]
  }
  return {
    handle,
    refuses(request) {
      const user = authenticator.knownUser(request.headers) ?? addressOf(request)
      if (!desk.requests.fullFor(user)) return false
      shed.count()
      return true
    },
  }
}

/** A decoded path for a header. */
function encoded(path: string): string {
  return path
    .split('/')
    .map((part) => encodeURIComponent(part))
    .join('/')
}

/** Whether a request failed because the client disconnected while sending the body. */
function isAborted(error: unknown, { gone }: HttpRequest): boolean {
  if (error instanceof Problem || gone?.() !== true) return false
  return /^(ECONNRESET|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE)$/.test(
    (error as NodeJS.ErrnoException | undefined)?.code ?? '',
  )
}

/** Logs the number of requests refused for overload once a second: one line each would cost too much. */
class ShedLog {
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

/** Headers that proxies add: the standard ones, and those of nginx, Envoy and the large networks. */
const PROXY_HEADERS =
  /^(via|forwarded|x-forwarded(-.+)?|x-real-ip|x-original-.+|x-envoy-.+|cdn-loop|.+-client-ip|.+-connecting-ip)$/

/** Returns whether a request comes from this machine, and not from a proxy on it. */
function isThisMachine({ address: client, headers }: HttpRequest, url: string): boolean {
  for (const name of headers.keys?.() ?? []) if (PROXY_HEADERS.test(name)) return false
  // A proxy that adds nothing still passes on the public name of the service.
  const { host, hostname } = new URL(url)
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  if (!isLocal && headers.get('host') === host) return false
  return client === undefined || /^(::ffff:)?127\.|^::1$/.test(client)
}

/** The response to HEAD: the headers of GET without the body. */
async function withoutBody({ status, headers, body }: HttpResponse): Promise<HttpResponse> {
  if (typeof body === 'string') headers['content-length'] = String(Buffer.byteLength(body))
  else await body?.[Symbol.asyncIterator]().return?.()
  return new HttpResponse(status, headers, null)
}
