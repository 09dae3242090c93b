// Client of the API: requests, retries, idempotency keys and errors.
import { errorCodes, Problem } from '../contract/errors.ts'
import {
  DRY_RUN_HEADER,
  FILE_NAME_HEADER,
  HEADER_PREFIXES,
  IDEMPOTENCY_HEADER,
  MESSAGE_HEADER,
  WARNING_HEADER,
} from '../contract/headers.ts'
import { HttpHeaders, type HttpRequest, type HttpResponse } from '../contract/http.ts'
import { createIdempotencyKey } from '../contract/idempotency-key.ts'
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
import { toConnectionProblem, toProblem, toRedirectProblem, withKeyHint } from './request-errors.ts'

/** Request as sent by a `Fetch`. */
export interface SentRequest extends HttpRequest {
  headers: HttpHeaders
  signal?: AbortSignal
}

/** Sends a request, over the network or to an in-process service. */
export type Fetch = (request: SentRequest) => Promise<HttpResponse>

export interface ClientOptions {
  fetch: Fetch
  url: string
  user?: string
  apiKey?: string
  /** Called before a retry; `wait` in ms. */
  onRetry?: (problem: Problem, wait: number) => void
  /** Called with what is wrong with the data of a response. */
  onWarning?: (text: string) => void
  /** Aborts requests, and waits between retries. */
  signal?: AbortSignal
  /** Prefix of all idempotency keys: a second run with the same prefix repeats the same writes. */
  idempotencyKey?: string
  /** True if no response can get lost: writes need no keys. */
  isInProcess?: boolean
  /** Reason of the changes, stored with new versions. */
  message?: string
  /** With --dry-run: creates the error that is thrown instead of a write. */
  planError?: (operation: OperationName, target: string | undefined, change: unknown) => Error
  /** false: writes throw, because the command does not declare them. */
  mayWrite?: boolean
  /** Origin of the key, for messages. */
  keyFrom?: string
  /** Proxy in use, without credentials, for messages. */
  proxy?: string
}

/** Request body. */
export interface BodySource {
  type: string
  open(): AsyncIterable<Uint8Array>
  /** False if `open` works only once (standard input). */
  repeatable: boolean
}

export interface CallOptions<N extends OperationName> {
  fid?: string
  /** Version of the file to read. Default: the version set by `atVersion`. */
  version?: string
  /** Other path parameter: a team, key or user. */
  name?: string
  query?: Partial<QueryOf<N>>
  /** Headers of the service, by name without prefix. */
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
  /** True if no idempotency key is needed. */
  repeatable?: boolean
  /** True if the server must perform the write and roll it back. */
  isDry?: boolean
}

/** Waits before the second, third … attempt, in ms. */
const RETRY_WAITS_MS = [300, 1000, 3000]
/** Maximum `Retry-After` to wait for, in ms. Above it, the request fails. */
const MAX_RETRY_AFTER_MS = 60_000
/** Error codes of statuses 429 and 503, which are retried. */
const RETRIED_ERRORS: ReadonlySet<string> = new Set(
  Object.entries(errorCodes).flatMap(([code, { status }]) =>
    status === 429 || status === 503 ? [code] : [],
  ),
)

/** Calls API operations through a `fetch`. Every write to a server has an idempotency key, which retries reuse. */
export class Client {
  readonly url: string
  /** Share keys from links, by fid. */
  private readonly shareKeys = new Map<string, string>()
  /** Versions to read, by fid. */
  private readonly versions = new Map<string, string | undefined>()
  /** Index of the server, which tells whether it supports dry runs. */
  private dryRuns: Promise<Record<string, string>> | undefined
  /** Number of writes by request, to derive distinct keys. */
  private readonly writeCounts = new Map<string, number>()

  constructor(private readonly options: ClientOptions) {
    this.url = options.url.replace(/\/+$/, '')
  }

  /** Sets the share key (from a secret link) for requests about this file. */
  setShareKey(fid: string, shareKey: string): void {
    this.shareKeys.set(fid, shareKey)
  }

  /**
   * Sets the version of a file that requests read; undefined for the current one. Throws `usage` if another
   * version was set.
   */
  setVersion(fid: string, version: string | undefined): void {
    if (this.versions.has(fid) && this.versions.get(fid) !== version)
      throw new Problem('usage', `two versions of ${fid} in one command`, {
        hint: 'Run the command once per version.',
      })
    this.versions.set(fid, version)
  }

  /** Returns the version that requests for a file read; undefined for the current one. */
  versionOf(fid: string): string | undefined {
    return this.versions.get(fid)
  }

  /** Throws `usage` if an earlier version was set: the operation works only with the current one. */
  private assertCurrentVersion(fid: string): void {
    const version = this.versions.get(fid)
    if (version !== undefined)
      throw new Problem('usage', `${fid}@${version}: only the current version can be used here`, {
        hint: `Leave out @${version}, or restore it first: gridline revert ${fid} --to ${version}`,
      })
  }

  /** Calls an operation and returns its JSON result. Throws a Problem with the error code of the service. */
  async call<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<ResultOf<N>> {
    const response = await this.response(name, options)
    return (response.status === 204 ? undefined : await parseJson(response)) as ResultOf<N>
  }

  /** Calls an operation and returns the response, for streamed results. */
  async response<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<HttpResponse> {
    const operation: Operation = operations[name]
    const isRead = operation.method === 'GET' || operation.agentTool === 'reads'
    if (this.options.mayWrite === false && !isRead)
      throw new Error(`${name} changes data, but the command does not declare \`writes\` or \`mayWrite\``)
    const { planError } = this.options
    if (planError && !isRead) {
      if (!operation.lasts) await this.perform(name, options, true)
      throw planError(name, options.fid ?? options.name, options.json ?? options.query)
    }
    const response = await this.perform(name, options)
    const warning = response.headers[WARNING_HEADER]
    if (warning !== undefined) this.options.onWarning?.(decodeURIComponent(warning))
    return response
  }

  /** Performs a write as a dry run: the server rolls it back. Returns its result, or throws its error. */
  async tryCall<N extends OperationName>(name: N, options: CallOptions<N> = {}): Promise<ResultOf<N>> {
    return (await parseJson(await this.perform(name, options, true))) as ResultOf<N>
  }

  /** Throws `usage` if the server does not support dry runs: it would ignore the header, and write. */
  private async assertDryRuns(): Promise<void> {
    this.dryRuns ??= this.call('service.index')
    if ((await this.dryRuns).dry_run === undefined)
      throw new Problem(
        'usage',
        `${this.url} does not support dry runs, because it is older than this command`,
        {
          hint: 'Update the server, or leave out --dry-run.',
        },
      )
  }

  /** Sends the request of an operation, with share key and version. */
  private async perform<N extends OperationName>(
    name: N,
    options: CallOptions<N>,
    isDry = false,
  ): Promise<HttpResponse> {
    const operation: Operation = operations[name]
    const query = new URLSearchParams()
    for (const [key, value] of Object.entries(options.query ?? {})) {
      for (const item of [value].flat()) if (item !== undefined) query.append(key, String(item))
    }
    const shareKey = this.shareKeys.get(options.fid ?? '')
    if (shareKey !== undefined && (operation.method === 'GET' || operation.access === 'read'))
      query.append('share_key', shareKey)
    const version = options.version ?? this.versions.get(options.fid ?? '')
    if (version !== undefined && operation.takesVersion) query.append('version', version)
    else if (version !== undefined && !query.has('version')) this.assertCurrentVersion(options.fid!)
    const path = pathOf(name, options.fid ?? options.name) + (query.size > 0 ? `?${query}` : '')
    const headers: Record<string, string> = { ...options.plainHeaders }
    for (const [key, value] of Object.entries(options.headers ?? {})) {
      if (value !== undefined) headers[HEADER_PREFIXES[0] + key.toLowerCase()] = encodeHeader(String(value))
    }
    return this.send(operation.method, path, headers, {
      ...options,
      repeatable: operation.isIdempotent,
      isDry,
    })
  }

  /** Sends a request, also for paths outside of the contract. Retries transient errors. */
  async send(
    method: string,
    path: string,
    headers: Record<string, string>,
    { json, body, signal, isDry, repeatable = method === 'GET' || method === 'HEAD' }: SendOptions = {},
  ): Promise<HttpResponse> {
    if (isDry) await this.assertDryRuns()
    const { user, apiKey } = this.options
    const allHeaders: Record<string, string> = {
      accept: 'application/json',
      'user-agent': `gridline/${version}`,
    }
    for (const [name, value] of Object.entries(headers)) allHeaders[name.toLowerCase()] = value
    if (apiKey !== undefined)
      allHeaders.authorization = user
        ? `Basic ${Buffer.from(`${user}:${apiKey}`).toString('base64')}`
        : `Bearer ${apiKey}`
    if (isDry) allHeaders[HEADER_PREFIXES[0] + DRY_RUN_HEADER.toLowerCase()] = 'true'
    const { idempotencyKey, isInProcess } = this.options
    if (!repeatable && (!isInProcess || idempotencyKey !== undefined))
      allHeaders[IDEMPOTENCY_HEADER.toLowerCase()] ??= this.keyFor(
        method,
        path,
        allHeaders[FILE_NAME_HEADER.toLowerCase()],
      )
    const { message } = this.options
    if (message !== undefined && method !== 'GET')
      allHeaders[HEADER_PREFIXES[0] + MESSAGE_HEADER.toLowerCase()] = encodeURIComponent(message)
    if (json !== undefined) allHeaders['content-type'] = 'application/json'
    if (body) allHeaders['content-type'] = body.type
    const abortSignal = signal ?? this.options.signal
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.sendOnce(
          method,
          path,
          allHeaders,
          json === undefined ? (body?.open() ?? null) : Buffer.from(JSON.stringify(json)),
          abortSignal,
        )
      } catch (error) {
        if (!(error instanceof Problem) || !RETRIED_ERRORS.has(error.code) || error.isPermanent) throw error
        if (attempt >= RETRY_WAITS_MS.length || (body && !body.repeatable) || abortSignal?.aborted)
          throw error
        // Random, so that clients do not retry at the same time.
        const wait = Math.max(RETRY_WAITS_MS[attempt] * (0.8 + Math.random() * 0.4), error.retryAfter ?? 0)
        if (wait > MAX_RETRY_AFTER_MS)
          throw new Problem(error.code, error.message, {
            hint: `Try again in ${Math.ceil(wait / 1000)} s.`,
          })
        this.options.onRetry?.(error, wait)
        await pause(wait, abortSignal)
      }
    }
  }

  /**
   * Returns the idempotency key of a write: random, or derived from the given key. The first write uses the
   * given key; later ones add a hash of the request and its repetition.
   */
  keyFor(method: string, path: string, fileName = ''): string {
    const prefix = this.options.idempotencyKey
    if (prefix === undefined) return createIdempotencyKey()
    const { createHash } = process.getBuiltinModule('node:crypto')
    if (this.writeCounts.size === 0 && !this.isMultiple) {
      this.writeCounts.set('', 1)
      return prefix
    }
    const write = `${method} ${path} ${fileName}`
    const count = this.writeCounts.get(write) ?? 0
    this.writeCounts.set(write, count + 1)
    const digest = createHash('sha256').update(`${write} ${count}`).digest('hex').slice(0, 16)
    return `${prefix.slice(0, 200)}/${digest}`
  }

  /** Waits `ms`. Rejects early if requests are aborted. */
  pause(ms: number): Promise<void> {
    return pause(ms, this.options.signal)
  }

  /** True if several files are written: the first write also gets a derived key. */
  isMultiple = false

  /** Sends a request once. Throws a Problem for errors of network or server. */
  private async sendOnce(
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
      throw signal?.aborted && signal.reason instanceof Problem
        ? signal.reason
        : toConnectionProblem(error, { ...this.options, url: this.url })
    }
    if (response.status >= 300 && response.status < 400 && response.status !== 304)
      throw toRedirectProblem(response, this.url)
    if (response.status < 300 || response.status === 304) return response
    throw withKeyHint(await toProblem(response), { ...this.options, url: this.url })
  }
}

/** Resolves after `ms`; rejects with the reason of `signal` if that aborts before. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Encodes text for a header: UTF-8 bytes as Latin-1. Throws `usage` for control characters. */
export function encodeHeader(text: string): string {
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new Problem('usage', `a name with control characters: ${JSON.stringify(text.slice(0, 100))}`, {
      hint: 'Rename the file, or use --name.',
    })
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Parses a JSON response. Throws `failed`. */
async function parseJson(response: HttpResponse): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new Problem('failed', 'the response is not JSON; is this a Gridline server?', {
      hint: 'Check the URL: gridline config list',
    })
  }
}
