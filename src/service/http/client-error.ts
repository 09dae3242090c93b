// Answers requests that the HTTP parser refuses.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { formatErrorBody, Problem } from '../../contract/errors.ts'

/** An error of the HTTP parser, with the bytes that it was reading. */
interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer
}

/** A connection, with the response that it is sending. */
type Connection = Socket & { _httpMessage?: { headersSent: boolean } | null }

/**
 * Answers with an error in JSON, as clients expect it, and closes the connection. The client of R writes URLs in UTF-8
 * without escapes, which the parser refuses: it is redirected to the URL with escapes.
 */
export function answerClientError(error: ParserError, socket: Connection): void {
  // Such as a connection that was reset, or that is no TLS.
  if (!/^(?:HPE|ERR_HTTP)_/.test(error.code ?? '')) {
    socket.destroy()
    return
  }
  if (socket.writable && !socket._httpMessage?.headersSent) {
    const url = error.code === 'HPE_INVALID_URL' ? escapeUrl(error.rawPacket) : undefined
    socket.write(url === undefined ? formatRefusal(error) : formatRedirect(url))
  }
  socket.destroySoon()
}

/** A request that changes nothing, for a path here: `//host` would be another server. */
const REQUEST_LINE = /^(?:GET|HEAD) (\/(?![/\\])[!-~\x80-\xff]*) HTTP\/1\.1\r\n/

/** Returns the URL of a request with escapes; undefined if none is missing, or the request line is not whole. */
function escapeUrl(packet: Buffer | undefined): string | undefined {
  const [, url = ''] = REQUEST_LINE.exec(packet?.toString('latin1') ?? '') ?? []
  const escaped = url.replace(/[\x80-\xff]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`)
  return escaped === url ? undefined : escaped
}

function formatRedirect(url: string): string {
  return formatResponse(307, `Location: ${url}\r\n`, '')
}

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

function formatRefusal({ code = '', message }: ParserError): string {
  const status = STATUSES[code] ?? 400
  const reason = status === 408 ? 'the request took too long' : `this is not a valid HTTP request: ${message}`
  const hint =
    code === 'HPE_INVALID_URL' ? 'Write the bytes of other characters than those of ASCII as %XX.' : undefined
  const body = JSON.stringify(formatErrorBody(new Problem('invalid_request', reason, { hint })))
  return formatResponse(status, 'Content-Type: application/json\r\n', body)
}

function formatResponse(status: number, headers: string, body: string): string {
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}Connection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}
