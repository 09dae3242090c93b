import { randomUUID } from 'node:crypto'
import { TrieRouter } from 'hono/router/trie-router'
import { Problem } from '../../contract/errors.ts'
import { type Fid, parseFid } from '../../contract/fid.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER, REQUEST_ID_HEADER } from '../../contract/headers.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import {
  type FileKind,
  methodsOf,
  type Operation,
  type OperationName,
  operations,
  routesOf,
} from '../../contract/operations/index.ts'
import { readOnlyFields } from '../../contract/resources.ts'
import type { Bytes } from '../../json/index.ts'
import { authorizeCall, type Caller, checkReplay, notFound } from '../access/access.ts'
import { Admission, ByteBudget } from '../core/admission.ts'
import type { Call, OperationCall, OperationResult } from '../core/call.ts'
import { isTagged, WatchedBytes } from '../core/watched.ts'
import type { Handler, Handlers, OperationService as Service } from '../operations/handler.ts'
import { pageAt } from '../pages/index.ts'
import { jsonPage } from '../pages/json.ts'
import { acceptsBrotli, errorReply, jsonReply, problemOf, streamReply } from './answer.ts'
import { type Authenticator, checkOperator, checkScope } from './auth.ts'
import { authorize } from './authorize.ts'
import { contentTypeOf, isSmall, type Reading, type Received, receive, streams } from './body.ts'
import { isBrowser, refuseCrossSite, wantsPage } from './browser.ts'
import {
  addressOf,
  callerOf,
  type Desk,
  finish,
  isUnchanged,
  type LogLine,
  type Outcome,
  serviceFor,
} from './desk.ts'
import { external } from './external.ts'
import { fingerprint } from './fingerprint.ts'
import { errorPage, PAGE_HEADERS, showPage } from './pages.ts'
import { decodeHeaderText, readHeaders, readQuery } from './parameters.ts'
import { quirkBody, quirkStatus } from './quirks.ts'
import { Rates } from './rates.ts'
import { signIn } from './signin.ts'

/** The policy of everything that is not a page: opened on its own, it runs nothing. An image can be SVG. */
const DATA_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"

/** One path of an operation. */
interface Route {
  name: OperationName
  filetype: FileKind | undefined
}

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
  const router = new TrieRouter<Route>()
  const routes: { method: string; path: string }[] = []
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
    for (const { path, filetype } of routesOf(operation)) {
      for (const method of methodsOf(operation)) {
        routes.push({ method, path })
        router.add(method, path, { name, filetype })
      }
    }
  }
  const { limits, metrics } = service
  const desk: Desk = {
    service,
    authenticator,
    rates: new Rates(limits.requests_per_minute),
    requests: new Admission(
      {
        running: limits.requests_at_once,
        waiting: limits.requests_waiting,
        wait: limits.wait_seconds * 1000,
      },
      'requests_waiting',
    ),
    uploads: new Admission(
      {
        running: limits.uploads_at_once,
        waiting: limits.requests_waiting,
        wait: limits.wait_seconds * 1000,
      },
      'uploads_at_once',
    ),
    bodies: new ByteBudget(limits.bodies_bytes, 'bodies_bytes'),
    forms: new Admission(
      {
        running: limits.forms_at_once,
        waiting: limits.forms_at_once,
        wait: limits.wait_seconds * 1000,
      },
      'forms_at_once',
    ),
    formBodies: new ByteBudget(limits.forms_bytes, 'forms_bytes'),
  }
  metrics.watch(() => desk.requests.load)
  const shed = new ShedLog(log)
  const answer = async (
    request: HttpRequest,
    line: LogLine,
    givenPath: string,
    givenQuery: string,
  ): Promise<HttpResponse> => {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    await service.names.refresh()
    const path = service.names.inPath(givenPath)
    const query = service.names.inQuery(givenQuery)
    if (path !== givenPath && method === 'GET' && path.startsWith('/~'))
      return new HttpResponse(301, { location: `${service.url}${path}${query && `?${query}`}` }, null)
    const [[found]] = router.match(method, path)
    const page = found ? undefined : pageAt(path)
    if (page && method === 'GET') {
      line.operation = 'page'
      return showPage(desk, page, request, query, line)
    }
    // What follows are forms and pages: also an error of theirs is a page.
    if (!found) line.operation = path === '/signin' || path === '/signout' ? 'signin' : 'page'
    const form = found
      ? undefined
      : (signIn(desk, method, path, query, request) ?? authorize(desk, method, path, query, request))
    if (form) return form
    if (!found && path === '/external' && method === 'POST') return external(desk, request)
    if (!found) {
      if (method !== 'GET' || path.startsWith('/v2')) line.operation = undefined
      return notFoundOrMethodNotAllowed(routes, method, path)
    }
    const [route, parameters] = found as [Route, Record<string, string>]
    line.operation = route.name
    const handler = handlers[route.name] as Handler<OperationName>
    if (route.name === 'service.metrics' && !isThisMachine(request))
      checkOperator(await callerOf(desk, request))
    if (UNLIMITED.has(route.name))
      return perform(desk, handler, undefined, route, request, path, query, parameters)
    if (operations[route.name].method !== 'GET') refuseCrossSite(request.headers, service.url)
    const caller = await callerOf(desk, request)
    line.user = caller?.username
    return perform(desk, handler, caller, route, request, path, query, parameters)
  }
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const started = performance.now()
    const given = request.headers.get(REQUEST_ID_HEADER)
    const requestId = given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
    const { path, query } = address(request.url)
    const line: LogLine = { request_id: requestId, method: request.method, path, status: 500, ms: 0 }
    line.client = request.headers.get('plotly-client-platform')?.slice(0, 100)
    let reply: HttpResponse
    metrics.begin()
    try {
      reply = await answer(request, line, path, query)
    } catch (thrown) {
      const error = isAborted(thrown, request) ? new Problem('aborted', 'the client disconnected') : thrown
      if (!(error instanceof Problem))
        line.error = error instanceof Error ? (error.stack ?? error.message) : String(error)
      reply =
        (line.operation === 'page' || line.operation === 'signin') && wantsPage(request.headers)
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
    log(line)
    return request.method === 'HEAD' ? await withoutBody(reply) : reply
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

/** Whether a request comes from this machine, and from no proxy that passes on the requests of others. */
function isThisMachine({ address: client, headers }: HttpRequest): boolean {
  if (headers.get('x-forwarded-for') !== null || headers.get('forwarded') !== null) return false
  return client === undefined || /^(::ffff:)?127\.|^::1$/.test(client)
}

/** Health operations. They are never refused or queued. */
const UNLIMITED: ReadonlySet<OperationName> = new Set(['service.health', 'service.ready', 'service.metrics'])

/** The response to HEAD: the headers of GET without the body. */
async function withoutBody({ status, headers, body }: HttpResponse): Promise<HttpResponse> {
  if (typeof body === 'string') headers['content-length'] = String(Buffer.byteLength(body))
  else await body?.[Symbol.asyncIterator]().return?.()
  return new HttpResponse(status, headers, null)
}

function notFoundOrMethodNotAllowed(
  routes: { method: string; path: string }[],
  method: string,
  path: string,
): HttpResponse {
  const methods = routes.filter((route) => matches(route.path, path)).map((route) => route.method)
  if (methods.length === 0) throw new Problem('not_found', `no such path: ${path.slice(0, 200)}`)
  const allow = [
    ...new Set(methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]))),
    'OPTIONS',
  ].join(', ')
  if (method === 'OPTIONS') return new HttpResponse(204, { allow }, null)
  const reply = errorReply(
    new Problem('method_not_allowed', `method ${method} is not allowed here`, { hint: `Allowed: ${allow}` }),
  )
  reply.headers.allow = allow
  return reply
}

/** Path and query of a URL. Collapses `//` (sent by R) and drops a trailing slash. */
export function address(url: string): { path: string; query: string } {
  const at = url.indexOf('/', url.indexOf('//') + 2)
  const mark = url.indexOf('?', at)
  const raw = at < 0 ? '/' : url.slice(at, mark < 0 ? undefined : mark)
  const clean =
    raw.includes('//') || raw.endsWith('/') ? raw.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1') : raw
  return {
    path: clean.includes('%') ? decodedPath(clean) : clean,
    query: mark < 0 ? '' : url.slice(mark + 1),
  }
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function matches(template: string, path: string): boolean {
  const parts = template.split('/')
  const given = path.split('/')
  return parts.length === given.length && parts.every((part, k) => part.startsWith(':') || part === given[k])
}

async function perform(
  desk: Desk,
  handler: Handler<OperationName>,
  caller: Caller | undefined,
  route: Route,
  request: HttpRequest,
  path: string,
  queryText: string,
  parameters: Record<string, string>,
): Promise<HttpResponse> {
  const { service: shared, requests, uploads, bodies } = desk
  const { name, filetype } = route
  const operation: Operation = operations[name]
  const safe = operation.method === 'GET'
  checkScope(caller, safe ? 'read' : 'write')
  if ((operation.access === 'caller' || operation.account) && !caller)
    throw new Problem('unauthenticated', 'this requires an account')
  // A copy reveals the content of the original: it requires the read scope too.
  if (name === 'files.copy') checkScope(caller, 'read')
  if (operation.access === 'operator') checkOperator(caller)
  const { fid: fidText, ...others } = parameters
  const fid = fidText === undefined ? NO_FILE : parseFid(fidText)
  if (!fid) throw notFound(filetype)
  if (Object.values(others).some((text) => text.includes('\0'))) throw notFound()
  const search = new URLSearchParams(queryText)
  const query = operation.query ? readQuery(operation.query, search) : {}
  const headers = readHeaders(operation.headers, request.headers)
  const key = safe || operation.repeatable ? undefined : idempotencyKey(request.headers, shared)
  // A share key permits reading, and changes that require only read access: copying.
  const shareKey = safe || operation.access === 'read' ? (search.get('share_key') ?? undefined) : undefined
  const service = serviceFor(shared, fidText === undefined ? (caller?.username ?? '') : fid.owner)
  const user = caller?.username ?? addressOf(request)
  const asked = { operation: name, caller, fid, filetype, shareKey }

  const work = (received: Received): Promise<Outcome<HttpResponse>> =>
    done(received).catch((error) => {
      throw safe || mayRead(caller) ? error : withoutNames(error)
    })
  const done = async (received: Received): Promise<Outcome<HttpResponse>> => {
    const head =
      key === undefined
        ? ''
        : await fingerprint(`${path}?${queryText}`, headers, request.headers, received.json)
    const watched =
      key !== undefined && received.json === undefined && !isTagged(headers)
        ? new WatchedBytes(received.bytes)
        : undefined
    const fileName = request.headers.get(FILE_NAME_HEADER)
    const call: OperationCall<OperationName> = {
      // Listed one by one: a spread would slow down access to all later properties.
      operation: name,
      caller,
      fid,
      filetype,
      shareKey,
      name: Object.values(others)[0] ?? '',
      // Validated against the schemas of the operation, from which the types of the call derive.
      query: query as never,
      headers: headers as never,
      fields: received.fields as never,
      bytes: watched?.bytes ?? received.bytes,
      contentType: received.contentType,
      fileName: fileName === null ? received.fileName : decodeHeaderText(fileName),
      ifMatch: request.headers.get('if-match') ?? undefined,
      writeKey: (owner) => ({
        owner,
        caller: caller?.username ?? '',
        key,
        operation: name,
        fingerprint: head,
        bodySum: watched?.sum,
      }),
    }
    const answer = (await handler(service, call)) as OperationResult<unknown>
    const { later } = answer
    if (later && !isUnchanged(request, answer.etag))
      return async () => respond(operation, { ...answer, ...(await later(user, request.gone)) }, request)
    if (!safe && !mayRead(caller)) {
      answer.body = withoutContent(answer.body)
      answer.etag = undefined
    }
    addWarnings(answer.body, received.ignored)
    if (safe && search.get('format') === 'api' && operation.result !== 'stream')
      return new HttpResponse(operation.status, { ...PAGE_HEADERS }, jsonPage(service.url, path, answer.body))
    if (operation.result !== 'stream') answer.body = quirkBody(request.headers, answer.body)
    return respond(operation, answer, request)
  }

  if (UNLIMITED.has(name))
    return finish(await work(await receive(request, { kind: 'none' }, unread(service))))
  const streamed = streams(operation.body, contentTypeOf(request))
  const read = (take: (bytes: number) => void): Promise<Received> =>
    receive(request, operation.body, { limits: service.limits, take })
  // A small body has already arrived: it is read when the request runs.
  if (operation.body.kind === 'none' || isSmall(request)) {
    const inTurn = (take: (bytes: number) => void) => async () => work(await read(take))
    return bodies.hold(user, async (take) => finish(await requests.run(user, inTurn(take), request.gone)))
  }
  // Check that the file exists and may be changed before reading the body.
  await requests.run(user, () => decide(service, asked, key !== undefined), request.gone)
  if (streamed) {
    const pressed = (): boolean => uploads.load.waiting > 0
    return finish(
      await uploads.run(
        user,
        async () => work(await receive(request, operation.body, { ...unread(service), pressed })),
        request.gone,
      ),
    )
  }
  return bodies.hold(user, async (take) => {
    const received = await read(take)
    return finish(await requests.run(user, () => work(received), request.gone))
  })
}

/** Options for reading a body that is not held in memory: its bytes are not counted. */
function unread({ limits }: Service): Reading {
  return { limits, take: () => {} }
}

/**
 * Checks access before the body is read. A request with an idempotency key may be a retry of a change that
 * removed this access: then only read access is checked here, and the operation decides.
 */
async function decide(
  { store }: Service,
  asked: Pick<Call, 'operation' | 'caller' | 'fid' | 'filetype' | 'shareKey'>,
  mayBeRetry: boolean,
): Promise<void> {
  if (asked.fid === NO_FILE) return
  await store.read(async (readers) => {
    if (!mayBeRetry) await authorizeCall(readers, asked)
    else
      await checkReplay(
        readers,
        await readers.files.get(asked.fid.owner, asked.fid.idlocal),
        asked.fid,
        asked,
      )
  })
}

/** Removes file content (column names, values) from an error, for API keys without the read scope. */
function withoutNames(error: unknown): unknown {
  if (!(error instanceof Problem)) return error
  const { code, message, field } = error
  if (code === 'type_change')
    return new Problem(code, 'values do not fit the types of the columns', { hint: '' })
  if (code === 'column_loss') return new Problem(code, 'columns of the grid would be lost', { hint: '' })
  if (code === 'row_loss') return new Problem(code, 'rows of the grid would be lost', { hint: '' })
  return code === 'unknown_column' ? new Problem(code, message, { field, hint: '' }) : error
}

function mayRead(caller: Caller | undefined): boolean {
  return !caller || caller.scopes.has('read') || caller.scopes.has('admin')
}

/** Response fields sent to API keys without the read scope: what was created, and where. */
const TOLD: ReadonlySet<string> = new Set([
  'fid',
  'filetype',
  'owner',
  'web_url',
  'embed_url',
  'new_fid',
  'grid_fid',
  'action',
  'rows_added',
  'emails_sent',
  // Fields of a new API key, which has no more scopes than this one.
  'id',
  'received',
  'username',
  'api_key',
  'scopes',
  'expires_at',
  'created_at',
])

function withoutContent(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const told: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(body)) {
    if (field === 'file') told.file = withoutContent(value)
    else if (field === 'files') told.files = (value as unknown[]).map(withoutContent)
    // They name columns; clients go through them.
    else if (field === 'warnings') told.warnings = []
    else if (TOLD.has(field)) told[field] = value
  }
  return told
}

/** Adds a warning for each ignored field. Old clients send whole records back, with read-only fields. */
function addWarnings(body: unknown, ignored: readonly string[]): void {
  if (ignored.length === 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return
  const object = body as { warnings?: string[] }
  object.warnings = [
    ...(object.warnings ?? []),
    ...ignored.map((name) =>
      readOnlyFields.has(name)
        ? `${name} cannot be changed here and was ignored`
        : `${name.slice(0, 100)} is not a known field here and was ignored`,
    ),
  ]
}

const NO_FILE: Fid = { owner: '', idlocal: 0 }

function idempotencyKey(headers: HttpRequest['headers'], { limits }: Service): string | undefined {
  const key = headers.get(IDEMPOTENCY_HEADER)
  if (key === null || key === '') return undefined
  if (key.length > limits.idempotency_key_length) {
    throw new Problem(
      'invalid_request',
      `${IDEMPOTENCY_HEADER}: ${key.length} characters; the limit is ${limits.idempotency_key_length}`,
    )
  }
  return key
}

async function respond(
  operation: Operation,
  { body, etag, type, brotli, ownSiteOnly }: OperationResult<unknown>,
  request: HttpRequest,
): Promise<HttpResponse> {
  const headers: Record<string, string> = etag ? { etag } : {}
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
