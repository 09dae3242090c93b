import { readFileSync } from 'node:fs'
import type { Agent, ClientRequest } from 'node:http'
import type { Fetch } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'

/** Time for a response to begin, in ms: an upload is stored before the response. */
const HEADERS_TIMEOUT_MS = 10 * 60_000
const BODY_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 10_000

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

/** Sends requests: with Node's own client, or through the proxy of the environment with undici. */
export function remoteFetch(caFile?: string): { fetch: Fetch; close: () => Promise<void> } {
  const ca = caFile === undefined ? undefined : trusted(caFile)
  return PROXIES.some((name) => process.env[name]) ? proxiedFetch(ca) : directFetch(ca)
}

/** undici takes as long to load as most commands run, so it is used only where Node has nothing: for proxies. */
function directFetch(ca: string[] | undefined): { fetch: Fetch; close: () => Promise<void> } {
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
        const asked = request(url, { method, headers: headers.entries(), agent: agentFor(protocol), signal })
        // The first byte of the response, after all of the request: an upload is stored before it is answered.
        const patience = Number(process.env.GRIDLINE_TIMEOUT_MS) || HEADERS_TIMEOUT_MS
        const late = (code: string): void => void asked.destroy(Object.assign(new Error(code), { code }))
        let timer: NodeJS.Timeout | undefined
        asked.on('finish', () => {
          timer = setTimeout(() => late('UND_ERR_HEADERS_TIMEOUT'), patience)
        })
        asked.on('socket', (socket) => {
          if (!socket.connecting) return
          const connecting = setTimeout(() => late('UND_ERR_CONNECT_TIMEOUT'), CONNECT_TIMEOUT_MS)
          for (const event of ['connect', 'error', 'close'])
            socket.once(event, () => clearTimeout(connecting))
        })
        asked.on('error', (error) => {
          clearTimeout(timer)
          reject(signal?.aborted ? signal.reason : error)
        })
        asked.on('response', (response) => {
          clearTimeout(timer)
          response.setTimeout(BODY_TIMEOUT_MS, () =>
            response.destroy(Object.assign(new Error('silent'), { code: 'UND_ERR_BODY_TIMEOUT' })),
          )
          const found = Object.entries(response.headers).map(([name, value]) => [
            name,
            [value].flat().join(', '),
          ])
          resolve(new HttpResponse(response.statusCode!, Object.fromEntries(found), response))
        })
        send(asked, body)
      })
    },
    close: async () => {
      plain?.destroy()
      secure?.destroy()
    },
  }
}

/** Writes the body of a request as fast as the connection takes it. */
function send(asked: ClientRequest, body: HttpRequest['body']): void {
  if (body === null) {
    asked.end()
    return
  }
  if (body instanceof Uint8Array) {
    asked.setHeader('content-length', body.length)
    asked.end(body)
    return
  }
  const { Readable } = process.getBuiltinModule('node:stream')
  const source = Readable.from(body, { objectMode: false })
  source.on('error', (error) => asked.destroy(error))
  // A server that answers early, or leaves, reads no more.
  asked.on('close', () => source.destroy())
  source.pipe(asked)
}

/** undici's fetch, through the proxy of the environment. */
function proxiedFetch(ca: string[] | undefined): { fetch: Fetch; close: () => Promise<void> } {
  let loaded: Promise<{ send: Fetch; close: () => Promise<void> }> | undefined
  const load = async () => {
    const { proxied } = await import('./proxied.ts')
    const timeouts = {
      headersTimeout: Number(process.env.GRIDLINE_TIMEOUT_MS) || HEADERS_TIMEOUT_MS,
      bodyTimeout: BODY_TIMEOUT_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
    }
    return proxied(timeouts, ca)
  }
  return {
    fetch: async (request) => {
      loaded ??= load()
      return (await loaded).send(request)
    },
    close: async () => (await loaded)?.close(),
  }
}

/** The certificates of the system, and those of a PEM file. */
function trusted(file: string): string[] {
  try {
    return [...process.getBuiltinModule('node:tls').rootCertificates, readFileSync(file, 'utf8')]
  } catch (error) {
    throw new Problem(
      'no_such_file',
      `cannot read the certificates in ${file}: ${(error as Error).message.split(',')[0]}`,
      { hint: 'Check --ca-file, GRIDLINE_CA_FILE or: gridline config get ca_file' },
    )
  }
}
