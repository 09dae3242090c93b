import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Problem } from '../../contract/errors.ts'
import type { Incoming, Reply } from './message.ts'

export type Handle = (request: Incoming) => Promise<Reply>

export interface Listening {
  /** The port listened on, also where 0 was asked for. */
  port: number
  /** Takes no more requests and resolves when those under way are answered, at most after `grace` ms. */
  stop(grace?: number): Promise<void>
}

/** A connection on which nothing moves for so long is let go. */
const SILENCE = 120_000

/** Puts Node's HTTP listener in front of the service. */
export function listen(handle: Handle, { host, port }: { host: string; port: number }): Promise<Listening> {
  const server = createServer(
    { keepAliveTimeout: 65_000, headersTimeout: 60_000, requestTimeout: 0 },
    (request, response) => {
      answer(handle, request, response).catch(() => response.destroy())
    },
  )
  server.timeout = SILENCE
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: 'the port is in use',
        EACCES: 'not permitted',
        EADDRNOTAVAIL: 'this machine has no such address',
        ENOTFOUND: 'this machine has no such address',
      }
      const reason = reasons[error.code ?? '']
      const at = `${host}:${port}`
      reject(
        reason
          ? new Problem('failed', `cannot listen on ${at}: ${reason}`, {
              hint: 'Give another --port or --host.',
            })
          : error,
      )
    })
    server.listen(port, host, () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        stop: (grace = 10_000) =>
          new Promise((done) => {
            const timer = setTimeout(() => server.closeAllConnections(), grace)
            server.close(() => {
              clearTimeout(timer)
              done()
            })
            server.closeIdleConnections()
          }),
      })
    })
  })
}

/** What is still coming of a body nobody reads is thrown away for so long, so that the client gets to the answer. */
const DISCARD_MS = 30_000

async function answer(handle: Handle, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { headers } = request
  const {
    status,
    headers: named,
    body,
  } = await handle({
    method: request.method ?? 'GET',
    url: `http://${headers.host ?? 'localhost'}${request.url}`,
    headers: {
      get(name) {
        const value = headers[name.toLowerCase()]
        return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
      },
    },
    // A handler that stops reading must not take the connection, and with it its answer, away.
    body: request.iterator({ destroyOnReturn: false }),
    address: request.socket.remoteAddress,
  })
  if (response.destroyed) {
    if (body !== null && typeof body !== 'string') await body[Symbol.asyncIterator]().return?.()
    return
  }
  if (!request.complete) discard(request)
  if (body === null || typeof body === 'string') {
    if (body !== null) named['content-length'] = String(Buffer.byteLength(body))
    response.writeHead(status, named)
    response.end(body ?? undefined)
    return
  }
  response.writeHead(status, named)
  const gone = once(response, 'close')
  for await (const chunk of body) {
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), gone])
    if (response.destroyed) return
  }
  response.end()
}

function discard(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), DISCARD_MS).unref()
  for (const end of ['end', 'close'] as const) request.once(end, () => clearTimeout(timer))
  request.on('error', () => {})
  request.resume()
}
