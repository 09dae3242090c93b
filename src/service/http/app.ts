import { createHash, randomUUID } from 'node:crypto'
import { TrieRouter } from 'hono/router/trie-router'
import { Problem } from '../../contract/errors.ts'
import { type Fid, fidOfPage, parseFid } from '../../contract/fid.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER, REQUEST_ID_HEADER } from '../../contract/headers.ts'
import { type Operation, type OperationName, operations } from '../../contract/operations.ts'
import { quirkStatus } from '../../contract/quirks.ts'
import type { Bytes } from '../../ingest/index.ts'
import { notFound } from '../access.ts'
import type { Answer, Call, Handler, Handlers, Service } from '../context.ts'
import { pageOf } from '../pages/page.ts'
import { listed } from '../version.ts'
import { errorReply, jsonReply, streamReply } from './answer.ts'
import { type Authenticator, checkScope } from './auth.ts'
import { receive } from './body.ts'
import { type Incoming, Reply } from './message.ts'
import { readHeaders, readQuery, unmangled } from './parameters.ts'

/** One line of the log: what was asked, what it came to. Never credentials. */
export interface LogLine {
  request_id: string
  method: string
  path: string
  operation?: string
  status: number
  ms: number
  user?: string
  error?: string
}

/** Request → operation → answer, for every operation of the contract. */
export function createApp(
  service: Service,
  handlers: Handlers,
  authenticator: Authenticator,
  log: (line: LogLine) => void,
): (request: Incoming) => Promise<Reply> {
  const router = new TrieRouter<OperationName>()
  const entries = Object.entries(operations) as [OperationName, Operation][]
  for (const [name, { method, path }] of entries) router.add(method, path, name)
  return async (request) => {
    const started = performance.now()
    const given = request.headers.get(REQUEST_ID_HEADER)
    const requestId = given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
    const { path, query } = address(request.url)
    const head = request.method === 'HEAD'
    const method = head ? 'GET' : request.method
    const line: LogLine = { request_id: requestId, method: request.method, path, status: 500, ms: 0 }
    let reply: Reply
    try {
      const [[found]] = router.match(method, path)
      const page = found ? undefined : fidOfPage(path)
      if (page && method === 'GET') {
        reply = await showPage(service, authenticator, page, request, line)
      } else if (!found) {
        reply = nowhere(entries, method, path)
      } else {
        const [name, { fid }] = found as [OperationName, Record<string, string>]
        line.operation = name
        const handler = handlers[name] as Handler<OperationName>
        reply = await perform(service, handler, authenticator, name, request, path, query, fid, line)
      }
    } catch (error) {
      if (!(error instanceof Problem))
        line.error = error instanceof Error ? (error.stack ?? error.message) : String(error)
      reply = errorReply(error, (problem) => quirkStatus(request.headers, problem.code))
    }
    reply.headers['x-request-id'] = requestId
    line.status = reply.status
    line.ms = Math.round((performance.now() - started) * 10) / 10
    log(line)
    return head ? await withoutBody(reply) : reply
  }
}

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
  fid: Fid,
  request: Incoming,
  line: LogLine,
): Promise<Reply> {
  const caller = await authenticator.caller(request.headers)
  line.user = caller?.username
  checkScope(caller, 'read')
  const { html, etag } = await pageOf(service, caller, fid)
  return new Reply(200, { ...PAGE_HEADERS, etag }, html)
}

/** The answer to HEAD: what GET would say of the body, and no body. */
async function withoutBody({ status, headers, body }: Reply): Promise<Reply> {
  if (typeof body === 'string') headers['content-length'] = String(Buffer.byteLength(body))
  else await body?.[Symbol.asyncIterator]().return?.()
  return new Reply(status, headers, null)
}

function nowhere(entries: [OperationName, Operation][], method: string, path: string): Reply {
  const methods = entries
    .filter(([, operation]) => matches(operation.path, path))
    .map(([, operation]) => operation.method)
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
  authenticator: Authenticator,
  name: OperationName,
  request: Incoming,
  path: string,
  queryText: string,
  fidText: string | undefined,
  line: LogLine,
): Promise<Reply> {
  const operation: Operation = operations[name]
  const caller = await authenticator.caller(request.headers)
  line.user = caller?.username
  const safe = operation.method === 'GET'
  checkScope(caller, safe ? 'read' : 'write')
  if (operation.access === 'caller' && !caller) throw new Problem('unauthenticated', 'this needs an account')
  let fid: Fid = NO_FILE
  if (fidText !== undefined) {
    const parsed = parseFid(fidText)
    if (!parsed) throw notFound(operation.filetype)
    fid = parsed
  }
  const query = operation.query ? readQuery(operation.query, new URLSearchParams(queryText)) : {}
  const headers = readHeaders(operation.headers, request.headers)
  const received = await receive(request, operation.body, service.limits)
  const key = safe ? undefined : idempotencyKey(request.headers, service)
  const fileName = request.headers.get(FILE_NAME_HEADER)
  const call: Call = {
    operation: name,
    caller,
    fid,
    query: query as never,
    headers,
    fields: received.fields,
    bytes: received.bytes,
    contentType: received.contentType,
    fileName: fileName === null ? received.fileName : unmangled(fileName),
    ifMatch: request.headers.get('if-match') ?? undefined,
    writeKey: (owner) => ({
      owner,
      caller: caller?.username ?? '',
      key,
      operation: name,
      fingerprint:
        key === undefined ? '' : fingerprint(`${path}?${queryText}`, headers, request.headers, received.json),
    }),
  }
  const answer = await handler(service, call)
  return respond(operation, answer as Answer<unknown>, request)
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

/** What makes two requests with one key the same: address, headers that matter, a JSON body, the name and length of any other. */
function fingerprint(
  target: string,
  options: object,
  headers: Incoming['headers'],
  json: Buffer | undefined,
): string {
  const named = [FILE_NAME_HEADER, 'content-type', 'content-length']
    .map((name) => headers.get(name) ?? '')
    .join('\n')
  return createHash('sha256')
    .update(`${target}\n${JSON.stringify(options)}\n${named}\n`)
    .update(json ?? '')
    .digest('hex')
    .slice(0, 32)
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
