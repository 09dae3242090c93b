import type { Fetch } from '../../client/index.ts'
import { HttpResponse } from '../../contract/http.ts'
import {
  EnvHttpProxyAgent,
  type RequestInit,
  type Response,
  fetch as undiciFetch,
} from '../../vendor/undici.ts'

interface Timeouts {
  headersTimeout: number
  bodyTimeout: number
  connectTimeout: number
}

/** undici's fetch, through the proxy that the environment sets. Timeouts in ms. */
export function proxied(
  { headersTimeout, bodyTimeout, connectTimeout }: Timeouts,
  ca: string[] | undefined,
): { send: Fetch; close: () => Promise<void> } {
  const dispatcher = new EnvHttpProxyAgent({
    headersTimeout,
    bodyTimeout,
    connect: { timeout: connectTimeout, ...(ca && { ca }) },
    ...(ca && { requestTls: { ca }, proxyTls: { ca } }),
  })
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
  return { send, close: () => dispatcher.destroy() }
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
