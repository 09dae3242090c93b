import { Problem } from '../../contract/errors.ts'
import type { HttpRequest } from '../../contract/http.ts'

/** Whether the request comes from a browser. */
export function isBrowser(headers: HttpRequest['headers']): boolean {
  if (headers.get('sec-fetch-mode') !== null) return true
  return /^mozilla\//i.test(headers.get('user-agent') ?? '') || wantsPage(headers)
}

/** Whether the client prefers HTML. */
export function wantsPage(headers: HttpRequest['headers']): boolean {
  return /(^|,)\s*text\/html\b/i.test(headers.get('accept') ?? '')
}

/**
 * Protects against cross-site request forgery: throws `forbidden` for changes sent by pages of other sites.
 * Browsers say in `Sec-Fetch-Site` where a request comes from, and no page can change what they say: it decides.
 * Without it (an older browser, or plain HTTP), `Origin` must be this server. Programs send neither.
 */
export function refuseCrossSite(headers: HttpRequest['headers'], url: string): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const foreign =
    site !== null
      ? site !== 'same-origin' && site !== 'none'
      : origin !== null && !isOwn(origin, headers, url)
  if (!foreign) return
  // Only here can a proxy be the reason: `Sec-Fetch-Site` does not depend on names of hosts.
  const renamed = site === null && origin !== null && URL.canParse(origin)
  throw new Problem('forbidden', 'a page from another site cannot change anything on this server', {
    hint: renamed
      ? `If ${new URL(origin).origin} is this server behind a proxy, start it with --url, or let the proxy send X-Forwarded-Host.`
      : 'Send the request from a program, or from a page of this server.',
  })
}

/** Whether a link of another site led the browser here. Without `Sec-Fetch-Site`, nobody knows. */
export function isLedByOthers(headers: HttpRequest['headers']): boolean {
  const site = headers.get('sec-fetch-site')
  return site === 'cross-site' || site === 'same-site'
}

/**
 * Whether `origin` is this server: the origin of its links, or the host the request was sent to. A proxy names that
 * host in `X-Forwarded-Host`; pages of other sites cannot send this header without asking first (CORS).
 */
function isOwn(origin: string, headers: HttpRequest['headers'], url: string): boolean {
  if (!URL.canParse(origin)) return false
  const { origin: own, host: from } = new URL(origin)
  const forwarded = headers.get('x-forwarded-host')?.split(',')[0].trim()
  return (
    own === new URL(url).origin ||
    [headers.get('host'), forwarded].some((host) => host?.toLowerCase() === from)
  )
}
