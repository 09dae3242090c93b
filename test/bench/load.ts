/** A cheap load generator: raw HTTP over a few connections. */
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'

export interface Load {
  acks: number
  seconds: number
  failures: number
}

/** A request that is sent again and again. */
export interface LoadRequest {
  url: string
  method: 'GET' | 'POST'
  path: string
  authorization: string
  /** Returns the JSON body of the next request. */
  body?: () => string
}

/** Sends requests on `connections` connections, one after the other on each, for `seconds`. */
export function sendLoad(
  { url, method, path, authorization, body }: LoadRequest,
  connections: number,
  seconds: number,
): Promise<Load> {
  const { hostname, port } = new URL(url)
  const started = performance.now()
  const end = started + seconds * 1000
  let acks = 0
  let failures = 0
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.setNoDelay(true)
      const send = (): void => {
        const text = body?.() ?? ''
        const writeHeaders = body
          ? `Content-Type: application/json\r\nIdempotency-Key: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
          : ''
        socket.write(
          `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n${writeHeaders}\r\n${text}`,
        )
      }
      let pending = ''
      socket.on('connect', send)
      socket.on('data', (chunk) => {
        pending += chunk.toString('latin1')
        const head = pending.indexOf('\r\n\r\n')
        if (head < 0) return
        const chunked = /transfer-encoding: chunked/i.test(pending.slice(0, head))
        const length = /content-length: (\d+)/i.exec(pending.slice(0, head))
        const whole = chunked
          ? pending.endsWith('0\r\n\r\n')
          : pending.length >= head + 4 + Number(length?.[1] ?? 0)
        if (!whole) return
        if (pending.startsWith('HTTP/1.1 20')) acks++
        else failures++
        pending = ''
        if (performance.now() < end) send()
        else socket.end()
      })
      // Later responses do not count, since a refusal may wait for seconds.
      setTimeout(() => socket.destroy(), end - performance.now())
      socket.on('close', () => resolve())
      socket.on('error', reject)
    })
  return Promise.all(Array.from({ length: connections }, one)).then(() => ({
    acks,
    failures,
    seconds: (performance.now() - started) / 1000,
  }))
}
