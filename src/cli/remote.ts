import { Agent, EnvHttpProxyAgent, fetch as undiciFetch } from 'undici'
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
  const send = (url: string, sent: Parameters<Fetch>[1]): Promise<unknown> => {
    const streamed = sent.body !== undefined && typeof sent.body !== 'string'
    return undiciFetch(url, { ...sent, ...(streamed ? unrepeated : {}), duplex: 'half', dispatcher })
  }
  return {
    fetch: send as Fetch,
    close: () => dispatcher.destroy(),
  }
}
