// Answers requests that the HTTP parser refuses.
import { STATUS_CODES } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import { formatErrorBody, Problem } from '../../contract/errors.ts'

/** An error of the HTTP parser, with the bytes that it was reading. */
export interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer
}

/** A connection, with the response that it is sending. */
type Connection = Duplex & {
  remoteAddress?: string
  remotePort?: number
  _httpMessage?: { headersSent: boolean } | null
}

/**
 * Answers with an error in JSON, as clients expect it. The client of R sends URLs as UTF-8, without escapes, which the
 * parser refuses: such a request is escaped, and read again on the connection that `connect` accepts.
 */
export function answerClientError(
  error: ParserError,
  socket: Connection,
  connect: (connection: Duplex) => void,
): void {
  const escaped = error.code === 'HPE_INVALID_URL' ? escapeUrl(error.rawPacket) : undefined
  if (escaped !== undefined && socket.writable && !socket._httpMessage) {
    repeat(escaped, socket, connect)
    return
  }
  if (socket.writable && !socket._httpMessage?.headersSent) socket.write(formatResponse(error))
  socket.destroy(error)
}

/** A whole request without a body. */
const REQUEST = /^(?<method>GET|HEAD|DELETE) (?<url>\S+)(?<rest> HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)+)\r\n$/
const BODY_HEADER = /\r\n(?:content-length|transfer-encoding)[ \t]*:/i

/** Returns a request with an escaped URL, as the last of its connection; undefined if it is not whole, or not UTF-8. */
function escapeUrl(packet: Buffer | undefined): string | undefined {
  const parts = REQUEST.exec(packet?.toString('latin1') ?? '')?.groups
  if (!parts || BODY_HEADER.test(parts.rest)) return undefined
  const escaped = parts.url.replace(/[\x80-\xff]/g, (unit) => `%${unit.charCodeAt(0).toString(16)}`)
  return `${parts.method} ${escaped}${parts.rest}Connection: close\r\n\r\n`
}

/** Lets the server read a request again, and sends the response. */
function repeat(request: string, socket: Connection, connect: (connection: Duplex) => void): void {
  const [inner, outer] = duplexPair()
  const { remoteAddress, remotePort } = socket
  connect(Object.assign(inner, { remoteAddress, remotePort }))
  outer.pipe(socket)
  socket.once('close', () => inner.destroy())
  outer.write(request, 'latin1')
}

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

function formatResponse({ code = '', message }: ParserError): string {
  const status = STATUSES[code] ?? 400
  const hint =
    code === 'HPE_INVALID_URL' ? 'Write the bytes of other characters than those of ASCII as %XX.' : undefined
  const problem = new Problem('invalid_request', `this is not a valid HTTP request: ${message}`, { hint })
  const body = JSON.stringify(formatErrorBody(problem))
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}
