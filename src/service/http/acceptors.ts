/**
 * Node accepts one connection of a listening socket in each turn of its event loop: under load, new clients and health
 * checks wait for seconds until they are accepted. Each further handle of the same socket accepts one more.
 */
import type { SendHandle } from 'node:child_process'
import { createServer, type Server, type Socket } from 'node:net'

/** Further handles of the listening socket. */
const HANDLES = 16

/** What the child does: it sends the handle back, each time as a new one. It accepts nothing itself. */
const CHILD = `process.on('message', (count, handle) => {
  for (let k = 0; k < count; k++) process.send(k, handle, { keepOpen: true })
})`

/** Handles that accept connections for a server. */
export class Acceptors {
  private readonly servers: Server[] = []
  private isClosed = false

  /**
   * Begins to accept more connections in each turn. `backlog`: of the server. `accept` gets them. Without a child process,
   * nothing changes.
   */
  constructor(server: Server, backlog: number, accept: (socket: Socket) => void) {
    if (process.platform === 'win32') return
    const { spawn } = process.getBuiltinModule('node:child_process')
    const child = spawn(process.execPath, ['-e', CHILD], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
    })
    child.unref()
    child.on('error', () => {})
    child.on('message', (_: unknown, handle: unknown) => {
      if (!handle) return
      const more = createServer({ noDelay: true, highWaterMark: 64 * 1024 }, accept)
      more.on('error', () => {})
      // All handles share the backlog of one socket: a smaller value here would lower it for all.
      more.listen({ _handle: handle } as never, backlog)
      this.servers.push(more)
      if (this.isClosed) more.close()
      if (this.servers.length === HANDLES) child.disconnect()
    })
    child.send(HANDLES, (server as unknown as { _handle: SendHandle })._handle, {}, () => {})
  }

  /** Accepts no more connections. Open ones stay open. */
  close(): void {
    this.isClosed = true
    for (const server of this.servers) server.close()
  }
}
