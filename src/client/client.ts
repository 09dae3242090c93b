import { type ErrorBody, type ErrorCode, errorCodes, isErrorCode, Problem } from '../contract/errors.ts'
import {
  DRY_RUN_HEADER,
  FILE_NAME_HEADER,
  IDEMPOTENCY_HEADER,
  MESSAGE_HEADER,
  prefixes,
} from '../contract/headers.ts'
import { HttpHeaders, type HttpRequest, type HttpResponse } from '../contract/http.ts'
import {
  type BodyOf,
  type HeadersOf,
  type Operation,
  type OperationName,
  operations,
  pathOf,
  type QueryOf,
  type ResultOf,
} from '../contract/operations/index.ts'
import { version } from '../contract/version.ts'

/** A request that is sent. */
export interface SentRequest extends HttpRequest {
  headers: HttpHeaders
  signal?: AbortSignal
}

/** Sends a request: over the network, or to the service in this process. */
export type Fetch = (request: SentRequest) => Promise<HttpResponse>

export interface ClientOptions {
  fetch: Fetch
  url: string
  user?: string
  apiKey?: string
  /** Called before a retry with the error and the wait in ms. */
  onRetry?: (problem: Problem, wait: number) => void
  /** Aborts requests and waits for retries. */
  signal?: AbortSignal
  /** Base of all idempotency keys, so that another run with the same key repeats the same writes. */
  idempotencyKey?: string
  /** Why changes are made: versions that begin with them say so. */
  message?: string
  /** Makes the error that is thrown in place of each write: nothing is changed. */
  plan?: (operation: OperationName, target: string | undefined, change: unknown) => Error
  /** false: a write is a mistake of the caller's declaration, and throws. */
  writes?: boolean
  /** Where the key comes from; for messages only. */
  keyFrom?: string
  /** The proxy in use, without credentials; for messages only. */
  proxy?: string
}

/** A request body. It can be sent again if `repeatable`. */
export interface BodySource {
  type: string
  open(): AsyncIterable<Uint8Array>
  /** false: it can be opened only once (standard input). */
  repeatable: boolean
}

export interface CallOptions<N extends OperationName> {
  fid?: string
  /** The version of the file to read. Default: the one that was given with it. */
  version?: string
  /** The other path parameter: a team, a key or a user. */
  name?: string
  query?: Partial<QueryOf<N>>
  /** The service's own headers, by name without prefix. */
  headers?: HeadersOf<N>
  /** Other headers, by full name. */
  plainHeaders?: Record<string, string>
  json?: BodyOf<N>
  body?: BodySource
  signal?: AbortSignal
}

interface SendOptions {
  json?: unknown
  body?: BodySource
  signal?: AbortSignal
  /** Without an idempotency key. */
  repeatable?: boolean
  /** The server performs the write and rolls it back. */
  isDry?: boolean
}

/** Waits before the second, third … attempt, in ms. */
const WAITS = [300, 1000, 3000]
/** Longest `Retry-After` that is obeyed, in ms. Beyond it, the request fails. */
const MAX_WAIT_MS = 60_000
/** Errors that pass: of the statuses that say so, and of the network. */
const RETRIED: ReadonlySet<string> = new Set(
  Object.entries(errorCodes).flatMap(([code, { status }]) =>
    status === 429 || status === 503 ? [code] : [],
  ),
)

/** Calls API operations through a `fetch`. Every write has an idempotency key, kept on retries. */
export class Client {
  readonly url: string
  /** Share keys from links, by fid. */
  private readonly shareKeys = new Map<string, string>()
  /** Versions that were given with files, by fid. */
  private readonly versions = new Map<string, string | undefined>()
  /** The index of the server, which says whether it knows dry runs. */
  private dryRuns: Promise<Record<string, string>> | undefined
  /** How often each kind of write was made, to derive distinct keys. */
  private readonly writes = new Map<string, number>()

  constructor(private readonly options: ClientOptions) {
    this.url = options.url.replace(/\/+$/, '')
  }

  /** Sets the share key (from a secret link) for requests on this file. */
  openWith(fid: string, shareKey: string): void {
    this.shareKeys.set(fid, shareKey)
  }

  /**
   * Sets the version of a file that requests on it read; undefined for the present one. Throws if another one is set: what
   * is read of one file is of one version.
   */
  atVersion(fid: string, version: string | undefined): void {
    if (this.versions.has(fid) && this.versions.get(fid) !== version)
      throw new Problem('usage', `two versions of ${fid} in one command`, {
        hint: 'Run the command once for each.',
      })
    this.versions.set(fid, version)
  }

  /** Throws if an earlier version of a file was given, for what works with the present one. */
  private refuseVersion(fid: string): void {
    const version = this.versions.get(fid)
    if (version !== undefined)
      throw new Problem('usage', `${fid}@${version}: this is possible with the present version only`, {
        hint: `Leave out @${version}, or make it the present one first: gridline revert ${fid} --to ${version}`,
      })
  }

  /** Calls an operation and returns its JSON result. Throws a Problem with the service's error code. */
  async call<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<ResultOf<N>> {
    const response = await this.response(name, options)
    return (response.status === 204 ? undefined : await readJson(response)) as ResultOf<N>
  }

  /** Calls an operation and returns the response, for streamed results. */
  async response<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<HttpResponse> {
    const operation: Operation = operations[name]
    const isRead = operation.method === 'GET' || operation.agents === 'reads'
    if (this.options.writes === false && !isRead)
      throw new Error(`${name} changes data, but the command does not declare \`writes\` or \`stores\``)
    const { plan } = this.options
    if (plan && !isRead) {
      if (!operation.lasts) await this.perform(name, options, true)
      throw plan(name, options.fid ?? options.name, options.json ?? options.query)
    }
    return this.perform(name, options)
  }

  /** Returns what a write would answer; the server performs it and rolls it back. Throws what the write would throw. */
  async tryCall<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<ResultOf<N>> {
    return (await readJson(await this.perform(name, options, true))) as ResultOf<N>
  }

  /** Throws `usage` unless the server knows dry runs: an older one would ignore the header, and write. */
  private async assertDryRuns(): Promise<void> {
    this.dryRuns ??= this.call('service.index')
    if ((await this.dryRuns).dry_run === undefined)
      throw new Problem('usage', `${this.url} is older than this command, and does not support dry runs`, {
        hint: 'Update the server, or leave out --dry-run.',
      })
  }

  private async perform<N extends OperationName>(
    name: N,
    options: CallOptions<N>,
    isDry = false,
  ): Promise<HttpResponse> {
    const operation: Operation = operations[name]
    const query = new URLSearchParams()
    for (const [key, value] of Object.entries(options.query ?? {})) {
      for (const one of [value].flat()) if (one !== undefined) query.append(key, String(one))
    }
    const shareKey = this.shareKeys.get(options.fid ?? '')
    if (shareKey !== undefined && (operation.method === 'GET' || operation.access === 'read'))
      query.append('share_key', shareKey)
    const version = options.version ?? this.versions.get(options.fid ?? '')
    if (version !== undefined && operation.ofVersions) query.append('version', version)
    else if (version !== undefined && !query.has('version')) this.refuseVersion(options.fid!)
    const path = pathOf(name, options.fid ?? options.name) + (query.size > 0 ? `?${query}` : '')
    const headers: Record<string, string> = { ...options.plainHeaders }
    for (const [key, value] of Object.entries(options.headers ?? {})) {
      if (value !== undefined) headers[prefixes[0] + key.toLowerCase()] = headerText(String(value))
    }
    return this.send(operation.method, path, headers, {
      ...options,
      repeatable: operation.repeatable,
      isDry,
    })
  }

  /** Sends any request, also for paths that are not in the contract. */
  async send(
    method: string,
    path: string,
    headers: Record<string, string>,
    { json, body, signal, isDry, repeatable = method === 'GET' || method === 'HEAD' }: SendOptions = {},
  ): Promise<HttpResponse> {
    if (isDry) await this.assertDryRuns()
    const { user, apiKey } = this.options
    const all: Record<string, string> = { accept: 'application/json', 'user-agent': `gridline/${version}` }
    for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value
    if (apiKey !== undefined)
      all.authorization = user
        ? `Basic ${Buffer.from(`${user}:${apiKey}`).toString('base64')}`
        : `Bearer ${apiKey}`
    if (isDry) all[prefixes[0] + DRY_RUN_HEADER.toLowerCase()] = 'true'
    if (!repeatable)
      all[IDEMPOTENCY_HEADER.toLowerCase()] ??= this.keyFor(method, path, all[FILE_NAME_HEADER.toLowerCase()])
    const { message } = this.options
    if (message !== undefined && method !== 'GET')
      all[prefixes[0] + MESSAGE_HEADER.toLowerCase()] = encodeURIComponent(message)
    if (json !== undefined) all['content-type'] = 'application/json'
    if (body) all['content-type'] = body.type
    const ended = signal ?? this.options.signal
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.once(
          method,
          path,
          all,
          json === undefined ? (body?.open() ?? null) : Buffer.from(JSON.stringify(json)),
          ended,
        )
      } catch (error) {
        if (!(error instanceof Problem) || !RETRIED.has(error.code) || error.isPermanent) throw error
        if (attempt >= WAITS.length || (body && !body.repeatable) || ended?.aborted) throw error
        // Not all clients at the same time.
        const wait = Math.max(WAITS[attempt] * (0.8 + Math.random() * 0.4), error.retryAfter ?? 0)
        if (wait > MAX_WAIT_MS)
          throw new Problem(error.code, error.message, {
            hint: `The server asks to wait ${Math.ceil(wait / 1000)} s. Try again then.`,
          })
        this.options.onRetry?.(error, wait)
        await pause(wait, ended)
      }
    }
  }

  /**
   * The idempotency key of a write: random, or derived from the given key. The first write uses the given key
   * itself; later ones add the request and how often it was made before.
   */
  keyFor(method: string, path: string, fileName = ''): string {
    const given = this.options.idempotencyKey
    if (given === undefined) return randomKey()
    const { createHash } = process.getBuiltinModule('node:crypto')
    if (this.writes.size === 0 && !this.several) {
      this.writes.set('', 1)
      return given
    }
    const write = `${method} ${path} ${fileName}`
    const count = this.writes.get(write) ?? 0
    this.writes.set(write, count + 1)
    const digest = createHash('sha256').update(`${write} ${count}`).digest('hex').slice(0, 16)
    return `${given.slice(0, 200)}/${digest}`
  }

  /** Waits; ends early if requests are aborted. */
  pause(ms: number): Promise<void> {
    return pause(ms, this.options.signal)
  }

  /** Several files are written: derive a key for each, also for the first. */
  several = false

  private async once(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: HttpRequest['body'],
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      response = await this.options.fetch({
        method,
        url: this.url + path,
        headers: new HttpHeaders(new Map(Object.entries(headers))),
        body,
        signal,
      })
    } catch (error) {
      if (error instanceof Problem) throw error
      throw signal?.aborted && signal.reason instanceof Problem ? signal.reason : this.unreachable(error)
    }
    if (response.status >= 300 && response.status < 400 && response.status !== 304)
      throw this.redirected(response)
    if (response.status < 300 || response.status === 304) return response
    throw this.withKey(await problemOf(response))
  }

  /** Says which key was refused, or how to set one. */
  private withKey(problem: Problem): Problem {
    const { code, message, hint = '' } = problem
    if (code !== 'unauthenticated') return problem
    const { apiKey, keyFrom } = this.options
    if (apiKey !== undefined)
      return keyFrom === undefined
        ? problem
        : new Problem(code, message, { hint: `API key source: ${keyFrom}. ${hint}`.trim() })
    // Others say what is wrong with an identity token.
    if (!/requires an account|user is required/.test(message)) return problem
    return new Problem(code, `no API key is set for ${this.url}`, {
      hint: 'Log in with gridline login, or set GRIDLINE_USER and GRIDLINE_API_KEY. CI jobs can use gridline login --oidc.',
    })
  }

  private unreachable(error: unknown): Problem {
    const cause = (error as { cause?: NodeJS.ErrnoException }).cause ?? (error as NodeJS.ErrnoException)
    // An error of the file being sent is reported as it is.
    if (cause instanceof Problem) return cause
    const reason = reasons.get(cause.code ?? '') ?? cause.message ?? 'the request failed'
    const { proxy } = this.options
    if (/CERT|ISSUER|VERIFY/.test(cause.code ?? ''))
      return new Problem('unreachable', `the certificate of ${this.url} is not trusted: ${reason}`, {
        hint: 'If you trust the authority that issued it, name its certificate with --ca-file FILE.',
        isPermanent: true,
      })
    if (proxy)
      return new Problem('unreachable', `no answer from ${this.url} through the proxy ${proxy}: ${reason}`, {
        hint: 'Check the proxy, or name the server in NO_PROXY.',
      })
    if (/^EPROTO$|SSL_WRONG_VERSION|WRONG_VERSION_NUMBER/.test(cause.code ?? ''))
      return new Problem('unreachable', `${this.url} does not support HTTPS`, {
        hint: `If the server has no certificate, use ${this.url.replace(/^https/, 'http')}`,
        isPermanent: true,
      })
    if (cause.code === 'ENOTFOUND')
      return new Problem('unreachable', `${this.url}: ${reason}`, {
        hint: 'Check the address (gridline config list).',
        isPermanent: true,
      })
    return new Problem('unreachable', `no answer from ${this.url}: ${reason}`, {
      hint: 'Check that the server runs and the address is right (gridline config list).',
    })
  }

  /** The error for a redirect. Redirects are not followed: the credentials are for the given URL. */
  private redirected(response: HttpResponse): Problem {
    const location = response.headers.location ?? ''
    if (!URL.canParse(location, this.url))
      return new Problem('failed', `${this.url} responded with a redirect (status ${response.status})`)
    const target = new URL(location, this.url)
    const from = new URL(this.url)
    const secured =
      from.protocol === 'http:' && target.protocol === 'https:' && from.hostname === target.hostname
    return new Problem(
      'failed',
      secured
        ? `${this.url} redirects from http to https: ${target.origin}`
        : `${this.url} redirects to ${target.origin}${target.pathname}`,
      { hint: `If that is the server you mean, use its address: GRIDLINE_URL=${target.origin}` },
    )
  }
}

/** A key that no other request has. It is no secret, and loading cryptography takes longer than most requests. */
function randomKey(): string {
  const part = (): string =>
    Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return `${part()}${part()}${part()}${part()}`
}

/** Resolves after `ms`, or rejects when `signal` aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Error codes of connections, in words. */
const reasons = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ENOTFOUND', 'unknown host'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up now'],
  ['ECONNRESET', 'the connection was lost'],
  ['EPIPE', 'the connection was lost'],
  ['UND_ERR_SOCKET', 'the connection was lost'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection within 10 s'],
  ['UND_ERR_HEADERS_TIMEOUT', 'it did not answer in time'],
  ['UND_ERR_BODY_TIMEOUT', 'it stopped answering'],
])

/** Encodes text as a header value: UTF-8 bytes, as a Latin-1 string. */
export function headerText(text: string): string {
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new Problem('usage', `a name with control characters: ${JSON.stringify(text.slice(0, 100))}`, {
      hint: 'Rename the file, or use --name.',
    })
  return Buffer.from(text, 'utf8').toString('latin1')
}

async function readJson(response: HttpResponse): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new Problem('failed', 'the response is not JSON; is this a Gridline server?', {
      hint: 'Check the address: gridline config list',
    })
  }
}

async function problemOf(response: HttpResponse): Promise<Problem> {
  const text = await response.text().catch(() => '')
  const { headers } = response
  const retryAfter = readRetryAfter(headers['retry-after'])
  try {
    const body = JSON.parse(text) as {
      detail?: string
      errors?: Partial<ErrorBody['errors'][number]>[]
    }
    const [first] = body.errors ?? []
    const code = isErrorCode(first?.code) ? first.code : codeFor(response.status)
    return new Problem(code, first?.message ?? body.detail ?? `status ${response.status}`, {
      ...first,
      retryAfter,
    })
  } catch {
    const { STATUS_CODES } = await import('node:http')
    const what = summaryOf(text, headers['content-type']) || STATUS_CODES[response.status]
    return new Problem(
      codeFor(response.status),
      `the server answered ${response.status}${what ? `: ${what}` : ''}`,
      { retryAfter, hint: 'Check that this is the address of a gridline server: gridline config list' },
    )
  }
}

/** Parses `Retry-After` (seconds or a date) to ms from now. */
function readRetryAfter(text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** Summarizes a response that is not JSON in one line: for HTML, its title or first heading. */
function summaryOf(text: string, type: string | null | undefined): string {
  const isPage = type?.includes('html') || /^\s*</.test(text)
  if (!isPage) return oneLine(text)
  const [, title = ''] = /<title[^>]*>([^<]*)/i.exec(text) ?? /<h1[^>]*>([^<]*)/i.exec(text) ?? []
  return title.trim() === '' ? 'a page, not JSON' : `a page, not JSON: ${oneLine(title)}`
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim()
    .slice(0, 200)
}

const codes = new Map<number, ErrorCode>([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
  [412, 'version_mismatch'],
  [413, 'too_large'],
  [429, 'rate_limited'],
  [502, 'overloaded'],
  [503, 'overloaded'],
  [504, 'overloaded'],
  [507, 'disk_full'],
])

function codeFor(status: number): ErrorCode {
  return codes.get(status) ?? (status >= 500 ? 'internal' : 'invalid_request')
}
