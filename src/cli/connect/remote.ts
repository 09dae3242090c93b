// Sends HTTP requests to servers.
import { readFileSync } from 'node:fs'
import type { Agent, ClientRequest } from 'node:http'
import type { Fetch } from '../../client/index.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'

/** Maximum time until a response begins, in ms. Long, because an upload is stored before the response. */
const HEADERS_TIMEOUT_MS = 10 * 60_000
/** Maximum silence within a response, in ms. */
const BODY_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 10_000

/** Environment variables that name a proxy, by precedence. */
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const

/**
 * Describes the proxy for requests to `url` in messages, without credentials; undefined if there is none.
 */
export function describeProxy(url: string): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  const names = protocol === 'https:' ? PROXY_VARIABLES : PROXY_VARIABLES.slice(2)
  const proxy = names.map((name) => process.env[name]).find(Boolean)
  if (!proxy) return undefined
  const exceptions = (process.env.no_proxy ?? process.env.NO_PROXY ?? '').split(/[\s,]+/).filter(Boolean)
  const isExcepted = exceptions.some((entry) => {
    const [name, exceptedPort] = entry.replace(/^\*?\./, '').split(':')
    return (
      entry === '*' ||
      ((hostname === name || hostname.endsWith(`.${name}`)) && (exceptedPort ?? port) === port)
    )
  })
  if (isExcepted) return undefined
  return URL.canParse(proxy) ? `${new URL(proxy).protocol}//${new URL(proxy).host}` : 'of the environment'
}

/** Returns a function that sends requests: with node:http, or with undici if a proxy is set. */
export function createRemoteFetch(caFile?: string): { fetch: Fetch; close: () => Promise<void> } {
  const ca = caFile === undefined ? undefined : loadCertificates(caFile)
  return PROXY_VARIABLES.some((name) => process.env[name])
    ? createLazyProxiedFetch(ca)
    : createDirectFetch(ca)
}

/** Uses node:http: undici takes as long to load as most commands run. */
function createDirectFetch(ca: string[] | undefined): { fetch: Fetch; close: () => Promise<void> } {
  const http = process.getBuiltinModule('node:http')
  const options = { keepAlive: true, maxSockets: 64 }
  let plain: Agent | undefined
  let secure: Agent | undefined
  const agentFor = (protocol: string): Agent => {
    if (protocol === 'http:') {
      plain ??= new http.Agent(options)
      return plain
    }
    const https = process.getBuiltinModule('node:https')
    secure ??= new https.Agent({ ...options, ca })
    return secure
  }
  return {
    fetch: ({ method, url, headers, body, signal }) => {
      const { protocol } = new URL(url)
      const { request } = protocol === 'http:' ? http : process.getBuiltinModule('node:https')
      return new Promise((resolve, reject) => {
        const clientRequest = request(url, {
          method,
          headers: headers.entries(),
          agent: agentFor(protocol),
          signal,
        })
        // Time from the end of the request to the first byte of the response: uploads are stored before the
        // response.
        const timeoutMs = Number(process.env.GRIDLINE_TIMEOUT_MS) || HEADERS_TIMEOUT_MS
        const abort = (code: string): void =>
          void clientRequest.destroy(Object.assign(new Error(code), { code }))
        let timer: NodeJS.Timeout | undefined
        clientRequest.on('finish', () => {
          timer = setTimeout(() => abort('UND_ERR_HEADERS_TIMEOUT'), timeoutMs)
        })
        clientRequest.on('socket', (socket) => {
          if (!socket.connecting) return
          const connectTimer = setTimeout(() => abort('UND_ERR_CONNECT_TIMEOUT'), CONNECT_TIMEOUT_MS)
          for (const event of ['connect', 'error', 'close'])
            socket.once(event, () => clearTimeout(connectTimer))
        })
        clientRequest.on('error', (error) => {
          clearTimeout(timer)
          reject(signal?.aborted ? signal.reason : error)
        })
        clientRequest.on('response', (response) => {
          clearTimeout(timer)
          response.setTimeout(BODY_TIMEOUT_MS, () =>
            response.destroy(Object.assign(new Error('silent'), { code: 'UND_ERR_BODY_TIMEOUT' })),
          )
          const headerEntries = Object.entries(response.headers).map(([name, value]) => [
            name,
            [value].flat().join(', '),
          ])
          resolve(new HttpResponse(response.statusCode!, Object.fromEntries(headerEntries), response))
        })
        sendBody(clientRequest, body)
      })
    },
    close: async () => {
      plain?.destroy()
      secure?.destroy()
    },
  }
}

/** Writes the body of a request, with backpressure. */
function sendBody(clientRequest: ClientRequest, body: HttpRequest['body']): void {
  if (body === null) {
    clientRequest.end()
    return
  }
  if (body instanceof Uint8Array) {
    clientRequest.setHeader('content-length', body.length)
    clientRequest.end(body)
    return
  }
  const { Readable } = process.getBuiltinModule('node:stream')
  const source = Readable.from(body, { objectMode: false })
  source.on('error', (error) => clientRequest.destroy(error))
  // Stop reading if the server responds early or disconnects.
  clientRequest.on('close', () => source.destroy())
  source.pipe(clientRequest)
}

/** Uses undici, loaded on the first request, through the proxy from the environment. */
function createLazyProxiedFetch(ca: string[] | undefined): { fetch: Fetch; close: () => Promise<void> } {
  let loading: Promise<{ send: Fetch; close: () => Promise<void> }> | undefined
  const load = async () => {
    const { createProxiedFetch } = await import('./proxied.ts')
    const timeouts = {
      headersTimeout: Number(process.env.GRIDLINE_TIMEOUT_MS) || HEADERS_TIMEOUT_MS,
      bodyTimeout: BODY_TIMEOUT_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
    }
    return createProxiedFetch(timeouts, ca)
  }
  return {
    fetch: async (request) => {
      loading ??= load()
      return (await loading).send(request)
    },
    close: async () => (await loading)?.close(),
  }
}

/** Returns the system's certificates and those of a PEM file. Throws `no_such_file` if unreadable. */
function loadCertificates(file: string): string[] {
  try {
    return [...process.getBuiltinModule('node:tls').rootCertificates, readFileSync(file, 'utf8')]
  } catch (error) {
    throw new Problem(
      'no_such_file',
      `cannot read the certificates in ${file}: ${errorMessageOf(error).split(',')[0]}`,
      { hint: 'Check --ca-file, GRIDLINE_CA_FILE or: gridline config get ca_file' },
    )
  }
}
