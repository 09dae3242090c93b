import { readFileSync } from 'node:fs'
import { Agent, EnvHttpProxyAgent, type RequestInit, type Response, fetch as undiciFetch } from 'undici'
import type { Fetch } from '../client/index.ts'
import { Problem } from '../contract/errors.ts'
import { HttpResponse } from '../contract/http.ts'

/** Time for a response to begin, in ms: an upload is stored before the response. */
const HEADERS_TIMEOUT = 10 * 60_000
const BODY_TIMEOUT = 60_000
const CONNECT_TIMEOUT = 10_000

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const

/** The proxy for requests to `url`, without credentials; undefined if there is none. */
export function proxyFor(url: string): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  const names = protocol === 'https:' ? PROXIES : PROXIES.slice(2)
  const proxy = names.map((name) => process.env[name]).find(Boolean)
  if (!proxy) return undefined
  const without = (process.env.no_proxy ?? process.env.NO_PROXY ?? '').split(/[\s,]+/).filter(Boolean)
  const excepted = without.some((entry) => {
    const [name, only] = entry.replace(/^\*?\./, '').split(':')
    return entry === '*' || ((hostname === name || hostname.endsWith(`.${name}`)) && (only ?? port) === port)
  })
  if (excepted) return undefined
  return URL.canParse(proxy) ? `${new URL(proxy).protocol}//${new URL(proxy).host}` : 'of the environment'
}

/** undici's fetch, using the proxy set in the environment, if any. */
export function remoteFetch(caFile?: string): { fetch: Fetch; close: () => Promise<void> } {
  const ca = caFile === undefined ? undefined : trusted(caFile)
  const options = {
    headersTimeout: Number(process.env.GRIDLINE_TIMEOUT_MS) || HEADERS_TIMEOUT,
    bodyTimeout: BODY_TIMEOUT,
    connect: { timeout: CONNECT_TIMEOUT, ...(ca && { ca }) },
    ...(ca && { requestTls: { ca }, proxyTls: { ca } }),
  }
  const proxied = PROXIES.some((name) => process.env[name])
  const dispatcher = proxied ? new EnvHttpProxyAgent(options) : new Agent(options)
  const send: Fetch = async ({ method, url, headers: sent, body: content, signal }) => {
    const streamed = content !== null && !(content instanceof Uint8Array)
    // Do not follow redirects: nothing may be sent to a URL that the user did not give. fetch clones a
    // request that it may have to resend, and the clone buffers a streamed body completely. These two
    // options prevent the clone.
    const redirect = streamed
      ? ({ redirect: 'error', window: null } as const)
      : ({ redirect: 'manual' } as const)
    const init = {
      method,
      headers: sent.entries(),
      body: content ?? undefined,
      signal,
      ...redirect,
      duplex: 'half',
      dispatcher,
    }
    const response = await undiciFetch(url, init as RequestInit).catch(async (error) => {
      if (!isRedirect(error)) throw error
      // Find the target of the redirect with a request without the body.
      return undiciFetch(url, { redirect: 'manual', dispatcher })
    })
    const { status, headers, body } = response
    return new HttpResponse(status, Object.fromEntries(headers), body && held(response))
  }
  return {
    fetch: send,
    close: () => dispatcher.destroy(),
  }
}

/** The certificates of the system, and those of a PEM file. */
function trusted(file: string): string[] {
  try {
    return [...process.getBuiltinModule('node:tls').rootCertificates, readFileSync(file, 'utf8')]
  } catch (error) {
    throw new Problem('no_such_file', `--ca-file ${file}: ${(error as Error).message}`)
  }
}

function isRedirect(error: unknown): boolean {
  return /unexpected redirect/.test(String((error as { cause?: Error }).cause?.message))
}

/**
 * The body of a response. It keeps a reference to the response: if that is garbage-collected before the first
 * read, fetch ends the body as if it were empty.
 */
async function* held(response: Response): AsyncGenerator<Uint8Array> {
  yield* response.body!
}
