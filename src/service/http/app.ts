import { randomUUID } from 'node:crypto'
import { TrieRouter } from 'hono/router/trie-router'
import { Problem } from '../../contract/errors.ts'
import { type Fid, fidOfPage, parseFid } from '../../contract/fid.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER, REQUEST_ID_HEADER } from '../../contract/headers.ts'
import {
  type FileKind,
  methodsOf,
  type Operation,
  type OperationName,
  operations,
  routesOf,
} from '../../contract/operations.ts'
import { quirkBody, quirkStatus } from '../../contract/quirks.ts'
import { readOnlyFields } from '../../contract/resources.ts'
import type { Bytes } from '../../ingest/index.ts'
import { type Caller, notFound } from '../access/access.ts'
import type { Answer, Call, Handler, Handlers, Service } from '../context.ts'
import type { Metrics } from '../metrics.ts'
import { jsonPage } from '../pages/json.ts'
import { pageOf } from '../pages/page.ts'
import { listed } from '../version.ts'
import { errorReply, jsonReply, streamReply } from './answer.ts'
import { type Authenticator, checkOperator, checkScope } from './auth.ts'
import { receive } from './body.ts'
import { fingerprint, WatchedBytes } from './fingerprint.ts'
import { type Incoming, Reply } from './message.ts'
import { readHeaders, readQuery, unmangled } from './parameters.ts'
import { Rates } from './rates.ts'

/** One line of the log: what was asked, what it came to. Never credentials. */
export interface LogLine {
  request_id: string
  method: string
  path: string
  operation?: string
  status: number
  ms: number
  user?: string
  /** What the client says it is. */
  client?: string
  error?: string
}

/** An operation under one of its paths. */
interface Route {
  name: OperationName
  filetype: FileKind | undefined
}

/** Request → operation → answer, for every operation of the contract. */
export function createApp(
  service: Service,
  handlers: Handlers,
  authenticator: Authenticator,
  log: (line: LogLine) => void,
): (request: Incoming) => Promise<Reply> {
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
  const metrics: Metrics = service.metrics
  const rates = new Rates(service.limits.requests_per_minute)
  return async (request) => {
    const started = performance.now()
    const given = request.headers.get(REQUEST_ID_HEADER)
    const requestId = given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
    const { path, query } = address(request.url)
    const head = request.method === 'HEAD'
    const method = head ? 'GET' : request.method
    const line: LogLine = { request_id: requestId, method: request.method, path, status: 500, ms: 0 }
    line.client = request.headers.get('plotly-client-platform')?.slice(0, 100)
    let reply: Reply
    metrics.begin()
    try {
      const [[found]] = router.match(method, path)
      const page = found ? undefined : fidOfPage(path)
      if (page && method === 'GET') {
        line.operation = 'page'
        reply = await showPage(service, authenticator, rates, page, request, query, line)
      } else if (!found) {
        reply = nowhere(routes, method, path)
      } else {
        const [route, parameters] = found as [Route, Record<string, string>]
        line.operation = route.name
        const handler = handlers[route.name] as Handler<OperationName>
        const caller = await callerOf(authenticator, rates, request, UNLIMITED.has(route.name))
        line.user = caller?.username
        reply = await perform(service, handler, caller, route, request, path, query, parameters)
      }
    } catch (error) {
      if (!(error instanceof Problem))
        line.error = error instanceof Error ? (error.stack ?? error.message) : String(error)
      reply = errorReply(error, (problem) => quirkStatus(request.headers, problem.code))
    }
    reply.headers['x-request-id'] = requestId
    line.status = reply.status
    const ms = performance.now() - started
    line.ms = Math.round(ms * 10) / 10
    metrics.end(line.operation ?? 'none', reply.status, ms / 1000)
    log(line)
    return head ? await withoutBody(reply) : reply
  }
}

/** Who asks, counted: by name, or by address where nobody is named, or wrongly. */
async function callerOf(
  authenticator: Authenticator,
  rates: Rates,
  request: Incoming,
  unlimited: boolean,
): Promise<Caller | undefined> {
  const address = `@${request.address ?? ''}`
  const caller = await authenticator.caller(request.headers).catch((error) => {
    if (!unlimited) rates.take(address)
    throw error
  })
  if (!unlimited) rates.take(caller?.username ?? address)
  return caller
}

/** What tells whether the service is well must not be refused by it. */
const UNLIMITED: ReadonlySet<OperationName> = new Set(['service.health', 'service.ready', 'service.metrics'])

/** Pages hold what people wrote: nothing in them may run or be fetched. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-cache',
}

async function showPage(
  service: Service,
  authenticator: Authenticator,
  rates: Rates,
  fid: Fid,
  request: Incoming,
  queryText: string,
  line: LogLine,
): Promise<Reply> {
  const caller = await callerOf(authenticator, rates, request, false)
  line.user = caller?.username
  checkScope(caller, 'read')
  const shareKey = new URLSearchParams(queryText).get('share_key') ?? undefined
  const { html, etag } = await pageOf(service, { caller, shareKey }, fid)
  service.views.count(fid)
  return new Reply(200, { ...PAGE_HEADERS, ...(etag === undefined ? {} : { etag }) }, html)
}

/** The answer to HEAD: what GET would say of the body, and no body. */
async function withoutBody({ status, headers, body }: Reply): Promise<Reply> {
  if (typeof body === 'string') headers['content-length'] = String(Buffer.byteLength(body))
  else await body?.[Symbol.asyncIterator]().return?.()
  return new Reply(status, headers, null)
}

function nowhere(routes: { method: string; path: string }[], method: string, path: string): Reply {
  const methods = routes.filter((route) => matches(route.path, path)).map((route) => route.method)
  if (methods.length === 0)
    return errorReply(new Problem('not_found', `no such address: ${path.slice(0, 200)}`))
  const allow = [
    ...new Set(methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]))),
    'OPTIONS',
  ].join(', ')
  if (method === 'OPTIONS') return new Reply(204, { allow }, null)
  const reply = errorReply(
    new Problem('method_not_allowed', `${method} is not possible here`, { hint: `Allowed: ${allow}` }),
  )
  reply.headers.allow = allow
  return reply
}

/** Path and query of a URL. R asks for `/v2//` and others for a slash at the end: both mean the address without. */
function address(url: string): { path: string; query: string } {
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
  service: Service,
  handler: Handler<OperationName>,
  caller: Caller | undefined,
  { name, filetype }: Route,
  request: Incoming,
  path: string,
  queryText: string,
  parameters: Record<string, string>,
): Promise<Reply> {
  const operation: Operation = operations[name]
  const safe = operation.method === 'GET'
  checkScope(caller, safe ? 'read' : 'write')
  if ((operation.access === 'caller' || operation.account) && !caller)
    throw new Problem('unauthenticated', 'this needs an account')
  if (operation.access === 'operator') checkOperator(caller)
  const { fid: fidText, ...others } = parameters
  const fid = fidText === undefined ? NO_FILE : parseFid(fidText)
  if (!fid) throw notFound(filetype)
  if (Object.values(others).some((text) => text.includes('\0'))) throw notFound()
  const search = new URLSearchParams(queryText)
  const query = operation.query ? readQuery(operation.query, search) : {}
  const headers = readHeaders(operation.headers, request.headers)
  const received = await receive(request, operation.body, service.limits)
  const key = safe ? undefined : idempotencyKey(request.headers, service)
  const head =
    key === undefined ? '' : fingerprint(`${path}?${queryText}`, headers, request.headers, received.json)
  const watched =
    key !== undefined && received.json === undefined ? new WatchedBytes(received.bytes) : undefined
  const fileName = request.headers.get(FILE_NAME_HEADER)
  const call: Call = {
    operation: name,
    caller,
    fid,
    filetype,
    name: Object.values(others)[0] ?? '',
    // The key lets its holder read, and do what takes no more than reading: make a copy.
    shareKey: safe || operation.access === 'read' ? (search.get('share_key') ?? undefined) : undefined,
    query: query as never,
    headers,
    fields: received.fields,
    bytes: watched?.bytes ?? received.bytes,
    contentType: received.contentType,
    fileName: fileName === null ? received.fileName : unmangled(fileName),
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
  const answer = (await handler(service, call)) as Answer<unknown>
  addWarnings(answer.body, received.ignored)
  if (safe && search.get('format') === 'api' && operation.result !== 'stream')
    return new Reply(operation.status, PAGE_HEADERS, jsonPage(service.url, path, answer.body))
  if (operation.result !== 'stream') answer.body = quirkBody(request.headers, answer.body)
  return respond(operation, answer, request)
}

/** Old clients send whole records back: what cannot be written is passed over, and named. */
function addWarnings(body: unknown, ignored: readonly string[]): void {
  if (ignored.length === 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return
  const object = body as { warnings?: string[] }
  object.warnings = [
    ...(object.warnings ?? []),
    ...ignored.map((name) =>
      readOnlyFields.has(name)
        ? `${name} cannot be written here and was ignored`
        : `${name.slice(0, 100)} is not known here and was ignored`,
    ),
  ]
}

const NO_FILE: Fid = { owner: '', idlocal: 0 }

function idempotencyKey(headers: Incoming['headers'], { limits }: Service): string | undefined {
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

function respond(operation: Operation, { body, etag, type }: Answer<unknown>, request: Incoming): Reply {
  const headers: Record<string, string> = etag ? { etag } : {}
  if (operation.method === 'GET' && etag) {
    headers['cache-control'] = 'private, no-cache'
    const seen = request.headers.get('if-none-match')
    if (seen && (seen === '*' || listed(seen, etag))) {
      // Nothing of the body is read.
      ;(body as Partial<AsyncGenerator>)?.return?.(undefined)
      return new Reply(304, headers, null)
    }
  }
  if (operation.result === 'none') return new Reply(operation.status, headers, null)
  if (operation.result === 'stream') return streamReply(operation.status, body as Bytes, type!, headers)
  return jsonReply(operation.status, body, headers)
}
