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
 * Programs send neither `Sec-Fetch-Site` nor `Origin`.
 */
export function refuseCrossSite(headers: HttpRequest['headers'], url: string): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const foreign =
    (site !== null && site !== 'same-origin' && site !== 'none') ||
    (origin !== null && !isOwn(origin, headers.get('host'), url))
  if (!foreign) return
  throw new Problem('forbidden', 'a page from another site cannot change anything on this server', {
    hint: 'Send the request from a program, or from a page of this server.',
  })
}

/** Whether `origin` is this server: the origin of its links, or the host the request was sent to. */
function isOwn(origin: string, host: string | null, url: string): boolean {
  if (!URL.canParse(origin)) return false
  const { origin: own, host: from } = new URL(origin)
  return own === new URL(url).origin || (host !== null && from === host.toLowerCase())
}
