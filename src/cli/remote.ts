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
  return {
    fetch: (url, sent) =>
      undiciFetch(url, { ...sent, duplex: 'half', dispatcher }) as unknown as ReturnType<Fetch>,
    close: () => dispatcher.destroy(),
  }
}
