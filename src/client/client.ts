import { randomUUID } from 'node:crypto'
import { type ErrorCode, isErrorCode, Problem } from '../contract/errors.ts'
import { IDEMPOTENCY_HEADER, prefixes } from '../contract/headers.ts'
import {
  type Operation,
  type OperationName,
  operations,
  pathOf,
  type QueryOf,
  type ResultOf,
} from '../contract/operations.ts'

/** What is sent. Header names are in lower case. */
export interface Sent {
  method: string
  headers: Record<string, string>
  body?: AsyncIterable<Uint8Array> | Uint8Array | string
  signal?: AbortSignal
}

/** What is read of an answer: a web `Response` is one. */
export interface Answered {
  status: number
  ok: boolean
  statusText: string
  headers: Iterable<[string, string]>
  body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
  json(): Promise<unknown>
}

export type Fetch = (url: string, sent: Sent) => Promise<Answered>

export interface ClientOptions {
  /** Anything that answers requests: undici's fetch, or the service itself in this process. */
  fetch: Fetch
  url: string
  user?: string
  apiKey?: string
  /** Told before a retry: what went wrong and how long is waited, in ms. */
  onRetry?: (problem: Problem, wait: number) => void
}

/** A body that can be sent again, unless it says it cannot. */
export interface BodySource {
  type: string
  open(): AsyncIterable<Uint8Array>
  /** false: it can be opened once (standard input). */
  repeatable: boolean
}

export interface CallOptions<N extends OperationName> {
  fid?: string
  /** What else a path names: a team, a key, a user. */
  name?: string
  query?: Partial<QueryOf<N>>
  /** Headers of the service's own, by their names without prefix. */
  headers?: Record<string, string | number | boolean | undefined>
  /** Other headers, as they are. */
  plainHeaders?: Record<string, string>
  json?: unknown
  body?: BodySource
  signal?: AbortSignal
}

/** Waits before the second, third … try, in ms. */
const WAITS = [300, 1000, 3000]
const RETRIED: ReadonlySet<ErrorCode> = new Set(['unreachable', 'rate_limited', 'overloaded'])

/** Calls operations of the contract over a fetch. Every write carries a key, kept across its retries. */
export class Client {
  readonly url: string
  /** Share keys that came with links, by fid. */
  private readonly shareKeys = new Map<string, string>()

  constructor(private readonly options: ClientOptions) {
    this.url = options.url.replace(/\/+$/, '')
  }

  /** Reads this file with a share key, as whoever has its secret link. */
  openWith(fid: string, shareKey: string): void {
    this.shareKeys.set(fid, shareKey)
  }

  /** The answer of an operation; Problem with the service's code where it is an error. */
  async call<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<ResultOf<N>> {
    const response = await this.response(name, options)
    return (response.status === 204 ? undefined : await readJson(response)) as ResultOf<N>
  }

  /** The answer as it comes, for bytes. */
  async response<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<Answered> {
    const operation: Operation = operations[name]
    const query = new URLSearchParams()
    for (const [key, value] of Object.entries(options.query ?? {})) {
      for (const one of [value].flat()) if (one !== undefined) query.append(key, String(one))
    }
    const shareKey = this.shareKeys.get(options.fid ?? '')
    if (shareKey !== undefined && (operation.method === 'GET' || operation.access === 'read'))
      query.append('share_key', shareKey)
    const path = pathOf(name, options.fid ?? options.name) + (query.size > 0 ? `?${query}` : '')
    const headers: Record<string, string> = { ...options.plainHeaders }
    for (const [key, value] of Object.entries(options.headers ?? {})) {
      if (value !== undefined) headers[prefixes[0] + key.toLowerCase()] = headerText(String(value))
    }
    return this.send(operation.method, path, headers, options)
  }

  /** Any request, for what the contract does not name. */
  async send(
    method: string,
    path: string,
    headers: Record<string, string>,
    { json, body, signal }: Pick<CallOptions<OperationName>, 'json' | 'body' | 'signal'> = {},
  ): Promise<Answered> {
    const { user, apiKey } = this.options
    const all: Record<string, string> = { accept: 'application/json' }
    for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value
    if (apiKey !== undefined)
      all.authorization = user
        ? `Basic ${Buffer.from(`${user}:${apiKey}`).toString('base64')}`
        : `Bearer ${apiKey}`
    if (method !== 'GET') all[IDEMPOTENCY_HEADER.toLowerCase()] ??= randomUUID()
    if (json !== undefined) all['content-type'] = 'application/json'
    if (body) all['content-type'] = body.type
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.once(
          method,
          path,
          all,
          json === undefined ? body?.open() : JSON.stringify(json),
          signal,
        )
      } catch (error) {
        if (!(error instanceof Problem) || !RETRIED.has(error.code)) throw error
        if (attempt >= WAITS.length || (body && !body.repeatable) || signal?.aborted) throw error
        this.options.onRetry?.(error, WAITS[attempt])
        await new Promise((resolve) => setTimeout(resolve, WAITS[attempt]))
      }
    }
  }

  private async once(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Sent['body'],
    signal: AbortSignal | undefined,
  ): Promise<Answered> {
    let response: Answered
    try {
      response = await this.options.fetch(this.url + path, { method, headers, body, signal })
    } catch (error) {
      if (error instanceof Problem) throw error
      throw this.unreachable(error)
    }
    if (response.ok || response.status === 304) return response
    throw await problemOf(response)
  }

  private unreachable(error: unknown): Problem {
    const cause = (error as { cause?: NodeJS.ErrnoException }).cause ?? (error as NodeJS.ErrnoException)
    // A fault of the file that was being sent is its own message.
    if (cause instanceof Problem) return cause
    const reasons: Record<string, string> = {
      ECONNREFUSED: 'the connection was refused',
      ENOTFOUND: 'the name of the host is not known',
      EAI_AGAIN: 'the name of the host cannot be looked up now',
      ECONNRESET: 'the connection was cut',
      EPIPE: 'the connection was cut',
      UND_ERR_SOCKET: 'the connection was cut',
      UND_ERR_CONNECT_TIMEOUT: 'it did not answer in 10 s',
      UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
      UND_ERR_BODY_TIMEOUT: 'it stopped answering',
    }
    const reason = reasons[cause.code ?? ''] ?? cause.message ?? 'the request failed'
    return new Problem('unreachable', `no answer from ${this.url}: ${reason}`, {
      hint: 'Check that the server runs and the address is right (gridline config list).',
    })
  }
}

/** Header values are bytes: text goes as UTF-8. */
export function headerText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

async function readJson(response: Answered): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new Problem('failed', 'the answer is not JSON; is this the address of a gridline server?', {
      hint: 'Check the address: gridline config list',
    })
  }
}

async function problemOf(response: Answered): Promise<Problem> {
  const text = await response.text().catch(() => '')
  try {
    const body = JSON.parse(text) as {
      detail?: string
      errors?: { code?: string; message?: string; field?: string; path?: string; hint?: string }[]
    }
    const [first] = body.errors ?? []
    const code = isErrorCode(first?.code) ? first.code : codeFor(response.status)
    return new Problem(code, first?.message ?? body.detail ?? `status ${response.status}`, first)
  } catch {
    return new Problem(
      codeFor(response.status),
      `the server answered ${response.status}: ${text.slice(0, 200).trim() || response.statusText}`,
    )
  }
}

function codeFor(status: number): ErrorCode {
  const codes: Record<number, ErrorCode> = {
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not_found',
    409: 'conflict',
    412: 'version_mismatch',
    413: 'too_large',
    429: 'rate_limited',
    502: 'overloaded',
    503: 'overloaded',
    504: 'overloaded',
    507: 'disk_full',
  }
  return codes[status] ?? (status >= 500 ? 'internal' : 'invalid_request')
}
