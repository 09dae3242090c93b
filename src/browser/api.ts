/// <reference lib="dom" />
// API calls of page scripts, as the signed-in user.
import type { ChartClient } from '../charts/normalize/read-values.ts'
import type { BodyOf, QueryOf, ResultOf } from '../contract/operations/index.ts'
import type { PageOperation } from '../contract/web/page-operations.ts'

/** Method and path of each operation that pages call; esbuild.config.js writes them from the contract. */
declare const PAGE_API: Readonly<Record<PageOperation, readonly [method: string, path: string]>>

/** An error of the API. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string | undefined,
    readonly hint: string | undefined,
  ) {
    super(message)
  }
}

/** Returns the message and the hint of an error. */
export function formatError(error: unknown): string {
  const { message, hint, status } = error as Partial<ApiError>
  // Browsers say in different words that a request has failed.
  const text = error instanceof TypeError ? 'the server cannot be reached' : String(message)
  if (status === 401) return `${text}. Sign in in another tab, then try again here.`
  return hint ? `${text}. ${hint}` : text
}

/** Parts of a request. */
interface ApiRequest<N extends PageOperation> {
  /** Parameters of the path: `fid`. */
  path?: Readonly<Record<string, string>>
  query?: Partial<QueryOf<N>>
  /** JSON body. */
  json?: BodyOf<N>
  /** Body of bytes. */
  body?: Blob | string
  /** Headers; Gridline's own without prefix, as in the contract. */
  headers?: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
}

/** Returns method and URL of an operation. */
function requestOf<N extends PageOperation>(
  name: N,
  { path = {}, query = {} }: Pick<ApiRequest<N>, 'path' | 'query'> = {},
): { method: string; url: string } {
  const [method, pattern] = PAGE_API[name]
  const parameters = new URLSearchParams()
  for (const [key, value] of Object.entries(query))
    for (const item of [value].flat()) if (item !== undefined) parameters.append(key, String(item))
  const text = parameters.toString()
  const url = pattern.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(path[key]))
  return { method, url: url + (text && `?${text}`) }
}

/** Calls an operation. Throws `ApiError` if the response is not 2xx. */
export async function request<N extends PageOperation>(
  name: N,
  { json, body, headers = {}, signal, ...asked }: ApiRequest<N> = {},
): Promise<Response> {
  const { method, url } = requestOf(name, asked)
  const sent = Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
  const response = await fetch(url, {
    method,
    signal,
    headers: { ...(json && { 'content-type': 'application/json' }), ...Object.fromEntries(sent) },
    body: json ? JSON.stringify(json) : body,
  })
  if (response.ok) return response
  // Without a session, private files do not seem to exist.
  if (NOT_FOR_STRANGERS.has(response.status) && name !== 'users.current' && (await isSignedOut()))
    throw new ApiError('you are signed out', 401, 'unauthenticated', undefined)
  throw await readError(response)
}

const NOT_FOR_STRANGERS: ReadonlySet<number> = new Set([401, 403, 404])

async function isSignedOut(): Promise<boolean> {
  const { url } = requestOf('users.current')
  return (await fetch(url).catch(() => undefined))?.status === 401
}

/** Returns the error of a response. */
async function readError(response: Pick<Response, 'status' | 'json'>): Promise<ApiError> {
  const { detail, errors = [] } = await response.json().catch(() => ({}))
  const [first] = errors
  const message = detail ?? first?.message ?? `the server answered ${response.status}`
  return new ApiError(message, response.status, first?.code, first?.hint)
}

/** Calls an operation, and returns its result. Throws as `request`. */
export async function call<N extends PageOperation>(
  name: N,
  asked: ApiRequest<N> = {},
): Promise<ResultOf<N>> {
  const response = await request(name, asked)
  return (response.status === 204 ? undefined : await response.json()) as ResultOf<N>
}

/** Returns a text as the value of a header: its bytes in UTF-8, as characters. */
export function toHeaderText(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text.replace(/\p{Cc}/gu, ' ')))
}

/** A number as it is written in JSON: 1.10, or one that a JavaScript number cannot hold. */
export class ExactNumber {
  constructor(readonly text: string) {}
}

/** Parses JSON. Numbers keep their text, in browsers that tell it. */
export function parseExactly<T>(json: string): T {
  const revive = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined ? new ExactNumber(context.source) : value
  return JSON.parse(json, revive as (key: string, value: unknown) => unknown)
}

/** Returns whether a value of `parseExactly` is a number. */
export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber
}

/** Returns a value of a grid as text; empty for none. */
export function textOfValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof ExactNumber) return value.text
  return typeof value === 'object'
    ? JSON.stringify(value, (_, inner) => (inner instanceof ExactNumber ? Number(inner.text) : inner))
    : String(value)
}

/** Returns the first element that a selector matches. Throws if it is missing or of another class. */
export function findElement<T extends Element>(
  selector: string,
  elementClass: new () => T,
  within: ParentNode = document,
): T {
  const element = within.querySelector(selector)
  if (element instanceof elementClass) return element
  throw new Error(`no element ${selector}`)
}

/** Returns a client for charts. It keeps what it has loaded: a form asks again at every key. */
export function createChartClient(): ChartClient {
  const kept = new Map<string, Promise<unknown>>()
  const keep = <T>(url: string, load: () => Promise<T>): Promise<T> => {
    const loading = (kept.get(url) ?? load()) as Promise<T>
    kept.set(url, loading)
    loading.catch(() => kept.delete(url))
    return loading
  }
  return {
    call: (name, { fid, query }) =>
      keep(requestOf(name, { path: { fid }, query }).url, () => call(name, { path: { fid }, query })),
    async response(name, { fid, query }) {
      const asked = { path: { fid }, query }
      const bytes = await keep(
        requestOf(name, asked).url,
        async () => new Uint8Array(await (await request(name, asked)).arrayBuffer()),
      )
      return {
        json: async () => JSON.parse(new TextDecoder().decode(bytes)),
        async *bytes() {
          yield bytes
        },
      }
    },
  }
}
