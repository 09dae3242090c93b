import { Problem } from '../../contract/errors.ts'
import type { HttpRequest } from './message.ts'

/** Whether a person's browser asks, and not a program. */
export function isBrowser(headers: HttpRequest['headers']): boolean {
  if (headers.get('sec-fetch-mode') !== null) return true
  return /^mozilla\//i.test(headers.get('user-agent') ?? '') || wantsPage(headers)
}

/** Whether the answer is to be a page. */
export function wantsPage(headers: HttpRequest['headers']): boolean {
  return /(^|,)\s*text\/html\b/i.test(headers.get('accept') ?? '')
}

/**
 * Refuses a change that a page of another site has a browser send: the browser adds credentials that the
 * page does not know. Programs send neither header.
 */
export function refuseCrossSite(headers: HttpRequest['headers'], url: string): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const foreign =
    (site !== null && site !== 'same-origin' && site !== 'none') ||
    (origin !== null && !isOwn(origin, headers.get('host'), url))
  if (!foreign) return
  throw new Problem('forbidden', 'a page of another site may not change anything here', {
    hint: 'Send the request from a program, or from a page of this server.',
  })
}

/** Whether an origin is this server's: the one in its links, or the one the request was sent to. */
function isOwn(origin: string, host: string | null, url: string): boolean {
  if (!URL.canParse(origin)) return false
  const { origin: own, host: from } = new URL(origin)
  return own === new URL(url).origin || (host !== null && from === host.toLowerCase())
}
