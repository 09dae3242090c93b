/** Signs browsers in and out: by API key, one-time link or identity provider. */
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

/** `GET /signin`: shows the form, or signs in with the code of a one-time link. */
export const signInForm = inTurn(async (context, webRequest) => {
  const { query: queryText, request } = webRequest
  const { service, authenticator, rates } = context
  const query = new URLSearchParams(queryText)
  const next = localPath(query.get('next'))
  const code = query.get('code')
  if (code === null) return page(200, signInPage(next, service.people?.name))
  rates.take(addressOf(request))
  const username = await userOfCode(service.store, code)
  if (username === undefined) return page(403, signInPage(next, service.people?.name, EXPIRED))
  const currentCaller = await authenticator.caller(request.headers).catch(() => undefined)
  // A link must not switch the user unnoticed: new files would belong to somebody else.
  if (isLedByOthers(request.headers) || (currentCaller !== undefined && currentCaller.username !== username))
    return page(200, continuePage({ username, present: currentCaller?.username, code, next }))
  return signedIn(context, await redeemCode(storeFor(context, webRequest), code), next)
})

/** `GET /signin/oidc`: redirects to the identity provider. */
export const signInProvider = inTurn(async ({ service, rates }, { query, request, line }) => {
  rates.take(addressOf(request))
  const next = localPath(new URLSearchParams(query).get('next'))
  const { people } = service
  if (!people) return page(404, signInPage(next, undefined, 'This server has no identity provider.'))
  try {
    const { url, kept: oidcState } = await people.begin(next)
    return redirect(url, leaving(service.url, oidcState, LEAVING_SECONDS))
  } catch (error) {
    return refusedPage(error, next, people.name, line)
  }
})

/**
 * `GET /signin/oidc/return`: the redirect URI. Signs in the user that the identity provider authenticated.
 */
export const signInReturn = inTurn(async (context, webRequest) => {
  const { query, request, line } = webRequest
  const { service, authenticator, rates } = context
  rates.take(addressOf(request))
  const { people } = service
  if (!people) return page(404, signInPage('/', undefined, 'This server has no identity provider.'))
  try {
    const oidcState = cookieOf(request.headers, leavingName(service.url))
    const store = storeFor(context, webRequest)
    const { username, next } = await people.finish(store, query, oidcState)
    line.user = username
    authenticator.forget()
    const grant = { owner: username, scopes: 'read,write', key_hash: null }
    const session = await openSession(store, 'session', grant, PERSON_MS)
    const reply = signedIn(context, session, localPath(next))
    // The cookie with state and verifier has been used.
    reply.cookies.push(leaving(service.url, '', 0))
    return reply
  } catch (error) {
    return refusedPage(error, '/', people.name, line)
  }
})

/** Maximum time that a browser has to return from the identity provider. */
const LEAVING_SECONDS = 900
/** Lifetime of sessions that an identity provider started, in ms. */
const PERSON_MS = 12 * 3600_000

/** Returns the name of the cookie with OpenID Connect state and verifier. */
function leavingName(url: string): string {
  return url.startsWith('https:') ? '__Host-gridline_leaving' : 'gridline_leaving'
}

/** Creates the cookie with OpenID Connect state and verifier. */
function leaving(url: string, value: string, seconds: number): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  return `${leavingName(url)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** Renders an expected error on the sign-in page. Throws other errors again. */
function refusedPage(error: unknown, next: string, provider: string, line: LogLine): HttpResponse {
  if (!(error instanceof Problem)) throw error
  const { message, hint = '', status } = error
  if (status >= 500) line.reason = message
  const html = signInPage(next, provider, `${message[0].toUpperCase()}${message.slice(1)}. ${hint}`)
  return page(status, html, retryAfter(error))
}

/** Returns a store that records IP address and request id in the audit log. */
function storeFor({ service }: Desk, { request, line }: WebRequest): Store {
  return service.store.by({ user: null, address: request.address, request_id: line.request_id })
}

/** `POST /signin`: signs in with an API key, or with the code of a one-time link. */
export const signIn = inTurn(async (context, webRequest) => {
  const { request } = webRequest
  const { service, authenticator, rates } = context
  const store = storeFor(context, webRequest)
  refuseCrossSite(request.headers, service.url)
  rates.take(addressOf(request))
  const fields = await fieldsOf(request, service.limits)
  const next = localPath(fields.next)
  if (fields.code !== undefined) return signedIn(context, await redeemCode(store, fields.code), next)
  const username = (fields.username ?? '').trim()
  try {
    const {
      scopes,
      keyHash,
      username: owner,
    } = await authenticator.password(username, (fields.api_key ?? '').trim())
    const grant = { owner, scopes: [...scopes].join(','), key_hash: keyHash! }
    return signedIn(context, await openSession(store, 'session', grant), next)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'unauthenticated') throw error
    return page(401, signInPage(next, service.people?.name, 'Wrong username or API key.', username))
  }
})

/** `POST /signout`: ends the session. */
export const signOut = inTurn(async ({ service, authenticator }, { request }) => {
  refuseCrossSite(request.headers, service.url)
  const token = sessionToken(request.headers, service.url)
  if (token !== undefined) await closeSession(service.store, token)
  authenticator.forget()
  return redirect('/', cookie(service.url, '', 0))
})

const EXPIRED = 'This link has expired or was used before. Create a new one, or sign in here.'

/** Redirects to `next` with the session cookie. Without a session, the link has expired. */
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

/** Creates a redirect with a cookie. */
function redirect(location: string, cookie: string): HttpResponse {
  const headers = {
    // Headers can contain only these ASCII characters.
    location: location.replace(/[^!-~]+/gu, encodeURIComponent),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  }
  const reply = new HttpResponse(303, headers, null)
  reply.cookies.push(cookie)
  return reply
}
