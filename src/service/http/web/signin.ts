import { Problem } from '../../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../../contract/http.ts'
import type { Limits } from '../../../contract/limits.ts'
import * as s from '../../../contract/schema.ts'
import { closeSession, openSession, redeemCode, userOfCode } from '../../accounts/sessions.ts'
import { continuePage, localPath, signInPage } from '../../pages/forms/signin.ts'
import type { Store } from '../../store/store.ts'
import { retryAfter } from '../answer.ts'
import { cookieName, cookieOf, sessionToken } from '../auth.ts'
import { receive } from '../body.ts'
import { isLedByOthers, refuseCrossSite } from '../browser.ts'
import { addressOf, type Desk, type LogLine } from '../desk.ts'
import { PAGE_HEADERS } from './pages.ts'
import { inTurn, type WebRequest } from './request.ts'

const form = {
  kind: 'json',
  form: true,
  limit: 'small_body_bytes',
  schema: s.object({
    username: s.optional(s.string()),
    api_key: s.optional(s.string()),
    code: s.optional(s.string()),
    next: s.optional(s.string()),
  }),
} as const

/** `GET /signin`: the form, or the end of a link that signs in. */
export const signInForm = inTurn(async (desk, asked) => {
  const { query: queryText, request } = asked
  const { service, authenticator, rates } = desk
  const query = new URLSearchParams(queryText)
  const next = localPath(query.get('next'))
  const code = query.get('code')
  if (code === null) return page(200, signInPage(next, service.people?.name))
  rates.take(addressOf(request))
  const username = await userOfCode(service.store, code)
  if (username === undefined) return page(403, signInPage(next, service.people?.name, EXPIRED))
  const present = await authenticator.caller(request.headers).catch(() => undefined)
  // A link must not change who uses the browser unnoticed: what they then save would go to somebody else.
  if (isLedByOthers(request.headers) || (present !== undefined && present.username !== username))
    return page(200, continuePage({ username, present: present?.username, code, next }))
  return signedIn(desk, await redeemCode(storeFor(desk, asked), code), next)
})

/** `GET /signin/oidc`: leads to the identity provider. */
export const signInProvider = inTurn(async ({ service, rates }, { query, request, line }) => {
  rates.take(addressOf(request))
  const next = localPath(new URLSearchParams(query).get('next'))
  const { people } = service
  if (!people) return page(404, signInPage(next, undefined, 'This server has no identity provider.'))
  try {
    const { url, kept } = await people.begin(next)
    return redirect(url, leaving(service.url, kept, LEAVING_SECONDS))
  } catch (error) {
    return refusedPage(error, next, people.name, line)
  }
})

/** `GET /signin/oidc/return`: signs in whom the identity provider sends back. */
export const signInReturn = inTurn(async (desk, asked) => {
  const { query, request, line } = asked
  const { service, authenticator, rates } = desk
  rates.take(addressOf(request))
  const { people } = service
  if (!people) return page(404, signInPage('/', undefined, 'This server has no identity provider.'))
  try {
    const kept = cookieOf(request.headers, leavingName(service.url))
    const store = storeFor(desk, asked)
    const { username, next } = await people.finish(store, query, kept)
    line.user = username
    authenticator.forget()
    const opening = { owner: username, scopes: 'read,write', key_hash: null }
    const session = await openSession(store, 'session', opening, PERSON_MS)
    const reply = signedIn(desk, session, localPath(next))
    // State and verifier are of no use any more.
    reply.cookies.push(leaving(service.url, '', 0))
    return reply
  } catch (error) {
    return refusedPage(error, '/', people.name, line)
  }
})

/** How long a browser may be at the identity provider. */
const LEAVING_SECONDS = 900
/** How long people whom an identity provider authenticates stay signed in, in ms. Then it is asked again. */
const PERSON_MS = 12 * 3600_000

/** The name of the cookie of a browser that is at the identity provider. */
function leavingName(url: string): string {
  return url.startsWith('https:') ? '__Host-gridline_leaving' : 'gridline_leaving'
}

function leaving(url: string, value: string, seconds: number): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  return `${leavingName(url)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

function refusedPage(error: unknown, next: string, provider: string, line: LogLine): HttpResponse {
  if (!(error instanceof Problem)) throw error
  const { message, hint = '', status } = error
  if (status >= 500) line.reason = message
  const html = signInPage(next, provider, `${message[0].toUpperCase()}${message.slice(1)}. ${hint}`)
  return page(status, html, retryAfter(error))
}

/** The store for changes of this request: the audit log has where it came from. */
function storeFor({ service }: Desk, { request, line }: WebRequest): Store {
  return service.store.by({ user: null, address: request.address, request_id: line.request_id })
}

/** `POST /signin`. */
export const signIn = inTurn(async (desk, asked) => {
  const { request } = asked
  const { service, authenticator, rates } = desk
  const store = storeFor(desk, asked)
  refuseCrossSite(request.headers, service.url)
  rates.take(addressOf(request))
  const fields = await fieldsOf(request, service.limits)
  const next = localPath(fields.next)
  if (fields.code !== undefined) return signedIn(desk, await redeemCode(store, fields.code), next)
  const username = (fields.username ?? '').trim()
  try {
    const {
      scopes,
      keyHash,
      username: owner,
    } = await authenticator.password(username, (fields.api_key ?? '').trim())
    const opening = { owner, scopes: [...scopes].join(','), key_hash: keyHash! }
    return signedIn(desk, await openSession(store, 'session', opening), next)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'unauthenticated') throw error
    return page(401, signInPage(next, service.people?.name, 'Wrong username or API key.', username))
  }
})

/** `POST /signout`. */
export const signOut = inTurn(async ({ service, authenticator }, { request }) => {
  refuseCrossSite(request.headers, service.url)
  const token = sessionToken(request.headers, service.url)
  if (token !== undefined) await closeSession(service.store, token)
  authenticator.forget()
  return redirect('/', cookie(service.url, '', 0))
})

const EXPIRED = 'This link has expired or was used before. Create a new one, or sign in here.'

/** Leads to `next` with the cookie of a new session; without one, the link has expired. */
function signedIn(
  { service }: Desk,
  session: { token: string; expires_at: number } | undefined,
  next: string,
): HttpResponse {
  if (!session) return page(403, signInPage(next, service.people?.name, EXPIRED))
  const seconds = Math.max(1, Math.floor((session.expires_at - Date.now()) / 1000))
  return redirect(next, cookie(service.url, session.token, seconds))
}

async function fieldsOf(request: HttpRequest, limits: Limits) {
  const { fields } = await receive(request, form, { limits, take: () => {} })
  return fields as { username?: string; api_key?: string; code?: string; next?: string }
}

function cookie(url: string, token: string, seconds: number): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(url)}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

function page(status: number, html: string, headers: Record<string, string> = {}): HttpResponse {
  return new HttpResponse(status, { ...PAGE_HEADERS, 'cache-control': 'no-store', ...headers }, html)
}

function redirect(location: string, cookie: string): HttpResponse {
  const headers = {
    // Headers have no other characters.
    location: location.replace(/[^!-~]+/gu, encodeURIComponent),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  }
  const reply = new HttpResponse(303, headers, null)
  reply.cookies.push(cookie)
  return reply
}
