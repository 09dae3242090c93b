// Converts failed requests to errors: of the network, redirects, and error responses.
import { type ErrorBody, type ErrorCode, errorCodeOf, isErrorCode, Problem } from '../contract/errors.ts'
import type { HttpResponse } from '../contract/http.ts'

/** Connection to a server, as named in errors. */
interface Connection {
  url: string
  apiKey?: string
  /** Origin of the key. */
  keyFrom?: string
  /** Proxy in use, without credentials. */
  proxy?: string
}

/** Adds to errors of authentication which key was refused, or how to set one. */
export function withKeyHint(problem: Problem, { url, apiKey, keyFrom }: Connection): Problem {
  const { code, message, hint = '' } = problem
  if (code !== 'unauthenticated') return problem
  if (apiKey !== undefined)
    return keyFrom === undefined
      ? problem
      : new Problem(code, message, { hint: `API key source: ${keyFrom}. ${hint}`.trim() })
  // Other messages are about identity tokens.
  if (!/requires an account|user is required/.test(message)) return problem
  return new Problem(code, `no API key is set for ${url}`, {
    hint: 'Log in with gridline login, or set GRIDLINE_USER and GRIDLINE_API_KEY. CI jobs can use gridline login --oidc.',
  })
}

/** Converts an error of the network to a Problem. */
export function toConnectionProblem(error: unknown, { url, proxy }: Connection): Problem {
  const cause = (error instanceof Error ? error.cause : undefined) ?? error
  const code = errorCodeOf(cause)
  // Report errors of the source file unchanged.
  if (cause instanceof Problem) return cause
  const reason = REASON_BY_CODE.get(code) ?? (cause instanceof Error ? cause.message : 'the request failed')
  if (/CERT|ISSUER|VERIFY/.test(code))
    return new Problem('unreachable', `the certificate of ${url} is not trusted: ${reason}`, {
      hint: 'If you trust the issuer, name its certificate with --ca-file FILE.',
      isPermanent: true,
    })
  if (proxy)
    return new Problem('unreachable', `no response from ${url} through the proxy ${proxy}: ${reason}`, {
      hint: 'Check the proxy, or name the server in NO_PROXY.',
    })
  if (/^EPROTO$|SSL_WRONG_VERSION|WRONG_VERSION_NUMBER/.test(code))
    return new Problem('unreachable', `${url} does not support HTTPS`, {
      hint: `If the server has no certificate, use ${url.replace(/^https/, 'http')}`,
      isPermanent: true,
    })
  if (code === 'ENOTFOUND')
    return new Problem('unreachable', `${url}: ${reason}`, {
      hint: 'Check the URL (gridline config list).',
      isPermanent: true,
    })
  return new Problem('unreachable', `no response from ${url}: ${reason}`, {
    hint: 'Check the server and its URL (gridline config list).',
  })
}

/** Descriptions of connection errors. */
const REASON_BY_CODE = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ENOTFOUND', 'unknown host'],
  ['EAI_AGAIN', 'the host name cannot be resolved now'],
  ['ECONNRESET', 'the connection was lost'],
  ['EPIPE', 'the connection was lost'],
  ['UND_ERR_SOCKET', 'the connection was lost'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection within 10 s'],
  ['UND_ERR_HEADERS_TIMEOUT', 'it did not respond in time'],
  ['UND_ERR_BODY_TIMEOUT', 'it stopped responding'],
])

/**
 * Returns the error for a redirect. Redirects are not followed: credentials are for the configured URL
 * only.
 */
export function toRedirectProblem(response: HttpResponse, url: string): Problem {
  const location = response.headers.location ?? ''
  if (!URL.canParse(location, url))
    return new Problem('failed', `${url} responded with a redirect (status ${response.status})`)
  const target = new URL(location, url)
  const from = new URL(url)
  const isHttpsUpgrade =
    from.protocol === 'http:' && target.protocol === 'https:' && from.hostname === target.hostname
  return new Problem(
    'failed',
    isHttpsUpgrade
      ? `${url} redirects from http to https: ${target.origin}`
      : `${url} redirects to ${target.origin}${target.pathname}`,
    { hint: `If that is the intended server, set GRIDLINE_URL=${target.origin}` },
  )
}

/** Converts an error response to a Problem. */
export async function toProblem(response: HttpResponse): Promise<Problem> {
  const text = await response.text().catch(() => '')
  const { headers } = response
  const retryAfter = parseRetryAfter(headers['retry-after'])
  try {
    const body = JSON.parse(text) as {
      detail?: string
      errors?: Partial<ErrorBody['errors'][number]>[]
    }
    const [first] = body.errors ?? []
    const code = isErrorCode(first?.code) ? first.code : errorCodeOfStatus(response.status)
    return new Problem(code, first?.message ?? body.detail ?? `status ${response.status}`, {
      ...first,
      retryAfter,
    })
  } catch {
    const { STATUS_CODES } = await import('node:http')
    const summary = summarizeBody(text, headers['content-type']) || STATUS_CODES[response.status]
    return new Problem(
      errorCodeOfStatus(response.status),
      `the server responded with status ${response.status}${summary ? `: ${summary}` : ''}`,
      { retryAfter, hint: 'Check that the URL is a Gridline server: gridline config list' },
    )
  }
}

/** Parses `Retry-After` (seconds or a date) to ms from now. */
function parseRetryAfter(text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** Summarizes a response that is not JSON in one line: for HTML, by title or first heading. */
function summarizeBody(text: string, type: string | null | undefined): string {
  const isPage = type?.includes('html') || /^\s*</.test(text)
  if (!isPage) return joinLines(text)
  const [, title = ''] = /<title[^>]*>([^<]*)/i.exec(text) ?? /<h1[^>]*>([^<]*)/i.exec(text) ?? []
  return title.trim() === '' ? 'a page, not JSON' : `a page, not JSON: ${joinLines(title)}`
}

/** Joins lines, at most 200 characters. */
function joinLines(text: string): string {
  return text
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim()
    .slice(0, 200)
}

/** Error codes of statuses, for responses without error code. */
const CODE_BY_STATUS = new Map<number, ErrorCode>([
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
  [412, 'version_mismatch'],
  [413, 'too_large'],
  [429, 'rate_limited'],
  [502, 'overloaded'],
  [503, 'overloaded'],
  [504, 'overloaded'],
  [507, 'disk_full'],
])

/** Returns the error code of a status. */
function errorCodeOfStatus(status: number): ErrorCode {
  return CODE_BY_STATUS.get(status) ?? (status >= 500 ? 'internal' : 'invalid_request')
}
