// Sends requests through a proxy, with undici.
import type { Fetch } from '../../client/index.ts'
import { HttpResponse } from '../../contract/http.ts'
import {
  EnvHttpProxyAgent,
  type RequestInit,
  type Response,
  fetch as undiciFetch,
} from '../../vendor/undici.ts'

/** Timeouts in ms. */
interface Timeouts {
  headersTimeout: number
  bodyTimeout: number
  connectTimeout: number
}

/** Returns undici's fetch through the proxy from the environment. `ca`: additional certificates, as PEM. */
export function createProxiedFetch(
  { headersTimeout, bodyTimeout, connectTimeout }: Timeouts,
  ca: string[] | undefined,
): { send: Fetch; close: () => Promise<void> } {
  const dispatcher = new EnvHttpProxyAgent({
    headersTimeout,
    bodyTimeout,
    connect: { timeout: connectTimeout, ...(ca && { ca }) },
    ...(ca && { requestTls: { ca }, proxyTls: { ca } }),
  })
  const send: Fetch = async ({ method, url, headers: requestHeaders, body: content, signal }) => {
    const streamed = content !== null && !(content instanceof Uint8Array)
    // Do not follow redirects: send nothing to a URL the user did not give. fetch clones requests that it may
    // resend, and the clone buffers a streamed body completely. These two options prevent the clone.
    const redirect = streamed
      ? ({ redirect: 'error', window: null } as const)
      : ({ redirect: 'manual' } as const)
    const init = {
      method,
      headers: requestHeaders.entries(),
      body: content ?? undefined,
      signal,
      ...redirect,
      duplex: 'half',
      dispatcher,
    }
    const response = await undiciFetch(url, init as RequestInit).catch(async (error) => {
      if (!isRedirect(error)) throw error
      // Find the redirect's target by a request without body.
      return undiciFetch(url, { redirect: 'manual', dispatcher })
    })
    const { status, headers, body } = response
    return new HttpResponse(status, Object.fromEntries(headers), body && readBody(response))
  }
  return { send, close: () => dispatcher.destroy() }
}

function isRedirect(error: unknown): boolean {
  return /unexpected redirect/.test(String((error as { cause?: Error }).cause?.message))
}

/**
 * Yields the body of a response. Holds a reference to the response: if it is garbage-collected before the
 * first read, fetch ends the body as if it were empty.
 */
async function* readBody(response: Response): AsyncGenerator<Uint8Array> {
  yield* response.body!
}
