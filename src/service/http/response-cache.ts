// Keeps small responses to reads until the next commit.
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { OperationName } from '../../contract/operations/index.ts'
import { peek } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import { Lru } from '../store/schema/lru.ts'

/** Maximum size of all responses, in bytes. */
const MAX_CACHE_BYTES = 16 * 1024 * 1024
/** Maximum size of a body, in bytes. */
const MAX_BODY_BYTES = 64 * 1024
/** Assumed size of a response without its body and key, in bytes. */
const ENTRY_BYTES = 1000

/** Reads whose responses depend only on the request, the caller and the database: not on the time. */
const CACHED_OPERATIONS: ReadonlySet<OperationName> = new Set([
  'columns.get',
  'files.get',
  'folders.get',
  'folders.home',
  'grids.content',
  'grids.get',
  'plots.get',
])

/** Headers on which no response depends. The caller was authenticated by those with credentials. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'cookie',
  'host',
  'plotly-authorization',
  'traceparent',
  'tracestate',
  'x-forwarded-for',
  'x-real-ip',
  'x-request-id',
])

/** A checked request. `path` and `query`: after former names were replaced. */
interface CachedRequest {
  name: OperationName
  path: string
  query: string
  search: URLSearchParams
  request: HttpRequest
}

interface CachedResponse {
  /** State of the database at which it was created. */
  state: number
  status: number
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
}

/**
 * Cache of responses. A response is valid while the state of the database, which changes with each commit of
 * any process, is that at which it was created.
 */
export class ResponseCache {
  private readonly responses = new Lru<CachedResponse & { key: string }>(
    MAX_CACHE_BYTES,
    ({ key, body }) =>
      ENTRY_BYTES + 2 * key.length + (typeof body === 'string' ? 2 : 1) * (body?.length ?? 0),
  )

  /** `readState`: returns a number that changes with each commit; undefined if it cannot be read. */
  constructor(private readonly readState: () => number | undefined) {}

  /** Returns the cached response to a read, or creates it. */
  async respond(
    { name, path, query, search, request }: CachedRequest,
    caller: Caller | undefined,
    create: () => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    // A sample is random, so each request draws another one.
    if (!CACHED_OPERATIONS.has(name) || search.has('sample')) return create()
    const key = keyOf(path, query, request, caller)
    if (key === undefined) return create()
    // Read before the response is created: a later commit makes it invalid.
    const state = this.readState()
    if (state === undefined) return create()
    const cached = this.responses.get(key)
    if (cached?.state === state) return new HttpResponse(cached.status, { ...cached.headers }, cached.body)
    const response = await create()
    if (response.status !== 200 && response.status !== 304) return response
    const { status, headers } = response
    let { body } = response
    if (body !== null && typeof body === 'object' && Symbol.asyncIterator in body) {
      const { head, whole } = await peek(body, MAX_BODY_BYTES + 1)
      // A copy: small buffers are parts of a pool, which they would keep.
      body = head.length > MAX_BODY_BYTES ? whole : new Uint8Array(head)
    }
    // Others add headers to the response.
    if (isSmall(body)) this.responses.set(key, { key, state, status, headers: { ...headers }, body })
    return new HttpResponse(status, headers, body)
  }
}

/** Returns everything on which a response can depend, as text; undefined if the headers cannot be listed. */
function keyOf(
  path: string,
  query: string,
  { headers, method }: HttpRequest,
  caller: Caller | undefined,
): string | undefined {
  const names = headers.keys?.()
  if (!names) return undefined
  const parts = [method, path, query, caller?.username ?? '', String(caller?.isAdmin)]
  parts.push([...(caller?.scopes ?? [])].join(','))
  for (const name of names) if (!IGNORED_HEADERS.has(name)) parts.push(name, headers.get(name) ?? '')
  return parts.join('\0')
}

/** Returns whether a body is complete, and small enough to keep. */
function isSmall(body: HttpResponse['body']): body is CachedResponse['body'] {
  if (body === null) return true
  return (typeof body === 'string' || body instanceof Uint8Array) && body.length <= MAX_BODY_BYTES
}
