import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Problem } from '../../contract/errors.ts'

export interface Listening {
  /** The port listened on, also where 0 was asked for. */
  port: number
  /** Takes no more requests and resolves when those under way are answered, at most after `grace` ms. */
  stop(grace?: number): Promise<void>
}

/** Puts Node's HTTP listener in front of a fetch function. */
export function listen(
  fetch: (request: Request) => Promise<Response>,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: host, port, overrideGlobalObjects: false }) as Server
    // An upload may take hours as long as bytes come; a client that sends nothing is let go.
    server.requestTimeout = 0
    server.timeout = 120_000
    server.headersTimeout = 60_000
    server.keepAliveTimeout = 65_000
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = error.code === 'EADDRINUSE'
      const denied = error.code === 'EACCES'
      reject(
        inUse || denied
          ? new Problem('failed', `cannot listen on ${host}:${port}: ${inUse ? 'the port is in use' : 'not permitted'}`, {
              hint: 'Give another one with --port.',
            })
          : error,
      )
    })
    server.once('listening', () => {
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
