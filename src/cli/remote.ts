import { Agent, EnvHttpProxyAgent, type RequestInit, type Response, fetch as undiciFetch } from 'undici'
import type { Fetch } from '../client/index.ts'

/** A server gets this long for an answer to begin: an upload is stored before it is answered. */
const HEADERS_TIMEOUT = 10 * 60_000
const BODY_TIMEOUT = 60_000
const CONNECT_TIMEOUT = 10_000

/** undici's fetch, through the proxy of the environment if there is one. */
export function remoteFetch(): { fetch: Fetch; close: () => Promise<void> } {
  const options = {
    headersTimeout: Number(process.env.GRIDLINE_TIMEOUT_MS) || HEADERS_TIMEOUT,
    bodyTimeout: BODY_TIMEOUT,
    connect: { timeout: CONNECT_TIMEOUT },
  }
  const proxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => process.env[name])
  const dispatcher = proxied ? new EnvHttpProxyAgent(options) : new Agent(options)
  // A request that may have to be sent again (after a redirect, say) is cloned by fetch, and of a
  // streamed body the clone keeps every byte. These two promise that it will not be.
  const unrepeated = { redirect: 'error', window: null } as const
  const send: Fetch = async (url, sent) => {
    const streamed = sent.body !== undefined && typeof sent.body !== 'string'
    const init = { ...sent, ...(streamed ? unrepeated : {}), duplex: 'half', dispatcher }
    const response = await undiciFetch(url, init as RequestInit)
    const { status, ok, statusText, headers, body } = response
    return {
      status,
      ok,
      statusText,
      headers,
      body: body && held(response),
      text: () => response.text(),
      json: () => response.json(),
    }
  }
  return {
    fetch: send,
    close: () => dispatcher.destroy(),
  }
}

/**
 * The body together with its response: fetch ends the body of a response that nobody holds any more, as
 * if it had been empty, when it is collected before the first read.
 */
async function* held(response: Response): AsyncGenerator<Uint8Array> {
  yield* response.body!
}
