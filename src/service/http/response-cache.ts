// Keeps small responses to reads until the next commit.
import { type Bytes, type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { OperationName } from '../../contract/operations/index.ts'
import type { Caller } from '../access/access.ts'
import { Lru } from '../core/lru.ts'

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
    // A sample is random: each request has one of its own.
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
    const [start, rest] = await readStart(response.body)
    if (rest !== undefined) return new HttpResponse(status, headers, rest)
    // Others add headers to the response.
    this.responses.set(key, { key, state, status, headers: { ...headers }, body: start })
    return new HttpResponse(status, headers, start)
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

/**
 * Reads a body. Returns it if it is complete and small; otherwise all of it as a stream, with what was read.
 */
async function readStart(
  body: HttpResponse['body'],
): Promise<
  [body: string | Uint8Array | null, rest: undefined] | [undefined, rest: string | Uint8Array | Bytes]
> {
  if (body === null) return [null, undefined]
  if (typeof body === 'string' || body instanceof Uint8Array)
    return body.length <= MAX_BODY_BYTES ? [body, undefined] : [undefined, body]
  const iterator = body[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let size = 0
  while (size <= MAX_BODY_BYTES) {
    const { value, done } = await iterator.next()
    if (done) return [copyChunks(chunks, size), undefined]
    chunks.push(value)
    size += value.length
  }
  return [undefined, continueStream(chunks, iterator)]
}

/** Concatenates chunks in memory of their own: `Buffer.concat` may return a part of a pool, and keep all of it. */
function copyChunks(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** Streams chunks that were read, then the rest of their stream. */
async function* continueStream(
  chunks: readonly Uint8Array[],
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) return
      yield value
    }
  } finally {
    await iterator.return?.()
  }
}
