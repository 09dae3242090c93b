import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { Problem } from '../../contract/errors.ts'
import { type Fid, parseFid } from '../../contract/fid.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER, REQUEST_ID_HEADER } from '../../contract/headers.ts'
import { type Operation, type OperationName, operations } from '../../contract/operations.ts'
import { quirkStatus } from '../../contract/quirks.ts'
import type { Bytes } from '../../ingest/index.ts'
import { notFound } from '../access.ts'
import type { Answer, Call, Handler, Handlers, Service } from '../context.ts'
import { sha256 } from '../store/blobs.ts'
import { listed } from '../version.ts'
import { errorResponse, jsonResponse, streamResponse } from './answer.ts'
import { type Authenticator, checkScope } from './auth.ts'
import { receive } from './body.ts'
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

/** Request → operation → response, for every operation of the contract. */
export function createApp(
  service: Service,
  handlers: Handlers,
  authenticator: Authenticator,
  log: (line: LogLine) => void,
): (request: Request) => Promise<Response> {
  const app = new Hono()
  const entries = Object.entries(operations) as [OperationName, Operation][]
  for (const [name, operation] of entries) {
    app.on(operation.method, operation.path, async (context) => {
      const request = context.req.raw
      const started = performance.now()
      const given = request.headers.get(REQUEST_ID_HEADER.toLowerCase())
      const requestId = given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
      const line: LogLine = { request_id: requestId, method: request.method, path: context.req.path, operation: name, status: 500, ms: 0 }
      let response: Response
      try {
        response = await perform(service, handlers[name] as Handler<OperationName>, authenticator, name, operation, request, context.req.param('fid'), line)
      } catch (error) {
        if (!(error instanceof Problem)) line.error = error instanceof Error ? (error.stack ?? error.message) : String(error)
        response = errorResponse(error, (problem) => quirkStatus(request.headers, problem.code))
      }
      response.headers.set(REQUEST_ID_HEADER, requestId)
      line.status = response.status
      line.ms = Math.round((performance.now() - started) * 10) / 10
      log(line)
      return response
    })
  }
  app.notFound((context) => {
    const methods = entries.filter(([, { path }]) => matches(path, context.req.path)).map(([, { method }]) => method)
    if (methods.length === 0) return errorResponse(new Problem('not_found', `no such address: ${context.req.path.slice(0, 200)}`))
    const allow = [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))), 'OPTIONS'].join(', ')
    if (context.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
    const response = errorResponse(new Problem('method_not_allowed', `${context.req.method} is not possible here`, { hint: `Allowed: ${allow}` }))
    response.headers.set('allow', allow)
    return response
  })
  return async (request) => app.fetch(tidied(request))
}

/** R asks for `/v2//` and others for a slash at the end: both mean the address without. */
function tidied(request: Request): Request {
  const at = request.url.indexOf('/', request.url.indexOf('//') + 2)
  const query = request.url.indexOf('?')
  const path = request.url.slice(at, query < 0 ? undefined : query)
  if (!path.includes('//') && (path === '/' || !path.endsWith('/'))) return request
  const clean = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  const url = request.url.slice(0, at) + clean + (query < 0 ? '' : request.url.slice(query))
  return new Proxy(request, {
    get: (target, name) => {
      if (name === 'url') return url
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
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
  operation: Operation,
  request: Request,
  fidText: string | undefined,
  line: LogLine,
): Promise<Response> {
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
  const query = operation.query ? readQuery(operation.query, new URL(request.url).searchParams) : {}
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
      fingerprint: key === undefined ? '' : fingerprint(request.url, headers, received.json),
    }),
    signal: request.signal,
  }
  const answer = await handler(service, call)
  return respond(operation, answer as Answer<unknown>, request)
}

const NO_FILE: Fid = { owner: '', idlocal: 0 }

function idempotencyKey(headers: Headers, { limits }: Service): string | undefined {
  const key = headers.get(IDEMPOTENCY_HEADER)
  if (key === null || key === '') return undefined
  if (key.length > limits.idempotency_key_length) {
    throw new Problem('invalid_request', `${IDEMPOTENCY_HEADER}: ${key.length} characters; the limit is ${limits.idempotency_key_length}`)
  }
  return key
}

/** What makes two requests with one key the same: address, headers that matter, and a JSON body. */
function fingerprint(url: string, headers: object, json: Buffer | undefined): string {
  const { pathname, search } = new URL(url)
  return sha256(`${pathname}${search}\n${JSON.stringify(headers)}\n${json ? sha256(json) : ''}`).slice(0, 32)
}

function respond(operation: Operation, { body, etag, type }: Answer<unknown>, request: Request): Response {
  const headers: Record<string, string> = etag ? { etag } : {}
  if (operation.method === 'GET' && etag) {
    headers['cache-control'] = 'private, no-cache'
    const seen = request.headers.get('if-none-match')
    if (seen && (seen === '*' || listed(seen, etag))) {
      // Nothing of the body is read.
      ;(body as Partial<AsyncGenerator>)?.return?.(undefined)
      return new Response(null, { status: 304, headers })
    }
  }
  if (operation.result === 'none') return new Response(null, { status: operation.status, headers })
  if (operation.result === 'stream') return streamResponse(operation.status, body as Bytes, type!, headers)
  return jsonResponse(operation.status, body, headers)
}
