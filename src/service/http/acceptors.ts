/** Accepts several connections per turn of the event loop. With one socket handle, Node accepts only one. */
import type { SendHandle } from 'node:child_process'
import { createServer, type Server, type Socket } from 'node:net'

/** Additional handles of the listening socket. Each accepts one more connection per turn. */
const ADDED_HANDLES = 16

/** Source of a child that sends the socket handle back: each copy arrives as a new handle. */
const CHILD_SOURCE = `process.on('message', (count, handle) => {
  for (let k = 0; k < count; k++) process.send(k, handle, { keepOpen: true })
})`

/** Additional handles that accept connections for a server, so that new clients do not wait under load. */
export class Acceptors {
  private readonly servers: Server[] = []
  private isClosed = false

  /**
   * Passes connections to `accept`. `backlog` is that of the server. Does nothing if the child cannot start.
   */
  constructor(server: Server, backlog: number, accept: (socket: Socket) => void) {
    if (process.platform === 'win32') return
    const { spawn } = process.getBuiltinModule('node:child_process')
    const child = spawn(process.execPath, ['-e', CHILD_SOURCE], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
    })
    child.unref()
    child.on('error', () => {})
    child.on('message', (_: unknown, handle: unknown) => {
      if (!handle) return
      const listener = createServer({ noDelay: true, highWaterMark: 64 * 1024 }, accept)
      listener.on('error', () => {})
      // All handles share the backlog of one socket: a smaller value here would lower it for all.
      listener.listen({ _handle: handle } as never, backlog)
      this.servers.push(listener)
      if (this.isClosed) listener.close()
      if (this.servers.length === ADDED_HANDLES) child.disconnect()
    })
    child.send(ADDED_HANDLES, (server as unknown as { _handle: SendHandle })._handle, {}, () => {})
  }

  /** Stops accepting connections. Open connections are kept. */
  close(): void {
    this.isClosed = true
    for (const server of this.servers) server.close()
  }
}
