/** Converts requests of Node's HTTP server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { HttpRequest } from '../../contract/http.ts'
import type { Limits } from '../../contract/limits.ts'
import { MAX_SMALL_BODY_BYTES, readContentLength, receiveSmallBody } from './receive-body.ts'

/** Converts a Node request, except for its body. */
export function toHttpRequest(
  request: IncomingMessage,
  response: ServerResponse,
  proxies: number,
): HttpRequest {
  const { headers } = request
  return {
    method: request.method ?? 'GET',
    url: localUrlOf(request),
    headers: {
      keys: () => Object.keys(headers),
      get(name) {
        const value = headers[name.toLowerCase()]
        return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
      },
    },
    body: null,
    address: clientIpOf(request, proxies),
    isAborted: () => response.destroyed || request.socket.destroyed,
  }
}

/**
 * Returns the IP address of the client. Each proxy appends the address of its client to X-Forwarded-For;
 * entries before those of the configured proxies can be forged.
 */
function clientIpOf({ headers, socket }: IncomingMessage, proxies: number): string | undefined {
  if (proxies === 0) return socket.remoteAddress
  const header = headers['x-forwarded-for']
  const entries = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',')
  return parseIp(entries.at(-proxies)?.trim() ?? '') ?? socket.remoteAddress
}

/** Returns the IP address of an entry of X-Forwarded-For, without a port; undefined if it is none. */
function parseIp(entry: string): string | undefined {
  const [, bracketed] = /^\[([^\]]{2,45})\](?::\d{1,5})?$/.exec(entry) ?? []
  const [, withPort] = /^([\d.]{7,15}):\d{1,5}$/.exec(entry) ?? []
  const address = bracketed ?? withPort ?? entry
  return isIP(address) === 0 ? undefined : address
}

/**
 * Returns the URL of a request, with path and query on `localhost`: the host sent by the client is ignored.
 */
function localUrlOf({ url = '/' }: IncomingMessage): string {
  const base = 'http://localhost'
  if (url.startsWith('/')) return base + url
  if (!URL.canParse(url)) return `${base}/`
  const { pathname, search } = new URL(url)
  return base + pathname + search
}

/** Calls `then` with the request and its body: small ones when complete, large ones as a stream. */
export function addBody(
  incoming: HttpRequest,
  request: IncomingMessage,
  limits: Limits,
  then: (incoming: HttpRequest) => void,
): void {
  const announced = readContentLength(incoming.headers)
  if (announced === 0) then(incoming)
  else if (announced === undefined || announced > MAX_SMALL_BODY_BYTES) {
    // If the handler stops reading, the connection must stay open for the response.
    incoming.body = request.iterator({ destroyOnReturn: false })
    then(incoming)
  } else
    receiveSmallBody(request, limits, (body) => {
      incoming.body = body
      then(incoming)
    })
}
