/** Recognizes browsers, and refuses cross-site requests. */
import { Problem } from '../../contract/errors.ts'
import type { HttpRequest } from '../../contract/http.ts'

/** Returns whether the request comes from a browser. */
export function isBrowser(headers: HttpRequest['headers']): boolean {
  if (headers.get('sec-fetch-mode') !== null) return true
  return /^mozilla\//i.test(headers.get('user-agent') ?? '') || acceptsHtml(headers)
}

/** Returns whether the client accepts HTML. */
export function acceptsHtml(headers: HttpRequest['headers']): boolean {
  return /(^|,)\s*text\/html\b/i.test(headers.get('accept') ?? '')
}

/**
 * Throws `forbidden` for changes sent by pages of other sites (cross-site request forgery). `Sec-Fetch-Site`
 * decides: pages cannot change it. Without it (old browsers, plain HTTP), `Origin` must be this server.
 * Programs send neither.
 */
export function refuseCrossSite(headers: HttpRequest['headers'], url: string): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const isForeign =
    site !== null
      ? site !== 'same-origin' && site !== 'none'
      : origin !== null && !isSameOrigin(origin, headers, url)
  if (!isForeign) return
  // Without Sec-Fetch-Site, a proxy that changes the host name can be the cause.
  const isMaybeProxy = site === null && origin !== null && URL.canParse(origin)
  throw new Problem('forbidden', 'a page from another site cannot change anything on this server', {
    hint: isMaybeProxy
      ? `If ${new URL(origin).origin} is this server behind a proxy, start it with --url, or let the proxy send X-Forwarded-Host.`
      : 'Send the request from a program, or from a page of this server.',
  })
}

/** Returns whether the browser followed a link from another site; false without `Sec-Fetch-Site`. */
export function isLinkFromOtherSite(headers: HttpRequest['headers']): boolean {
  const site = headers.get('sec-fetch-site')
  return site === 'cross-site' || site === 'same-site'
}

/**
 * Returns whether `origin` is this server: its base URL, `Host`, or `X-Forwarded-Host` of a proxy. Pages of
 * other sites cannot send the latter without a CORS preflight.
 */
function isSameOrigin(origin: string, headers: HttpRequest['headers'], url: string): boolean {
  if (!URL.canParse(origin)) return false
  const { origin: pageOrigin, host: pageHost } = new URL(origin)
  const forwarded = headers.get('x-forwarded-host')?.split(',')[0].trim()
  return (
    pageOrigin === new URL(url).origin ||
    [headers.get('host'), forwarded].some((host) => host?.toLowerCase() === pageHost)
  )
}
