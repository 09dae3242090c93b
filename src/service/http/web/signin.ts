/** Signs browsers in and out: by API key, one-time link or identity provider. */
import { Problem } from '../../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../../contract/http.ts'
import type { Limits } from '../../../contract/limits.ts'
import * as s from '../../../contract/schema.ts'
import { closeSession, findUserOfCode, openSession, redeemCode } from '../../accounts/sessions.ts'
import { renderContinuePage, renderSignInPage, toLocalPath } from '../../pages/forms/signin.ts'
import type { Store } from '../../store/store.ts'
import { retryAfterHeaders } from '../answer.ts'
import { readCookie, readSessionToken, sessionCookieName } from '../auth.ts'
import { receiveBody } from '../body.ts'
import { isLinkFromOtherSite, refuseCrossSite } from '../browser.ts'
import { clientKeyOf, type HttpContext, type LogLine } from '../http-context.ts'
import { createUncachedPage } from './pages.ts'
import { queued, type WebRequest } from './request.ts'

const SIGN_IN_BODY = {
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
export const signInForm = queued(async (context, webRequest) => {
  const { query: queryText, request } = webRequest
  const { service, authenticator, rates } = context
  const query = new URLSearchParams(queryText)
  const next = toLocalPath(query.get('next'))
  const code = query.get('code')
  if (code === null) return createUncachedPage(200, renderSignInPage(next, service.oidcSignIn?.host))
  rates.countRequest(clientKeyOf(request))
  const username = await findUserOfCode(service.store, code)
  if (username === undefined)
    return createUncachedPage(403, renderSignInPage(next, service.oidcSignIn?.host, EXPIRED_MESSAGE))
  const currentCaller = await authenticator.authenticate(request.headers).catch(() => undefined)
  // A link must not switch the user unnoticed: new files would belong to somebody else.
  if (
    isLinkFromOtherSite(request.headers) ||
    (currentCaller !== undefined && currentCaller.username !== username)
  )
    return createUncachedPage(
      200,
      renderContinuePage({ username, currentUser: currentCaller?.username, code, next }),
    )
  return redirectSignedIn(context, await redeemCode(auditedStore(context, webRequest), code), next)
})

/** `GET /signin/oidc`: redirects to the identity provider. */
export const signInProvider = queued(async ({ service, rates }, { query, request, line }) => {
  rates.countRequest(clientKeyOf(request))
  const next = toLocalPath(new URLSearchParams(query).get('next'))
  const { oidcSignIn } = service
  if (!oidcSignIn)
    return createUncachedPage(404, renderSignInPage(next, undefined, 'This server has no identity provider.'))
  try {
    const { url, cookie: oidcState } = await oidcSignIn.begin(next)
    return redirect(url, createOidcCookie(service.url, oidcState, OIDC_COOKIE_SECONDS))
  } catch (error) {
    return createRefusalPage(error, next, oidcSignIn.host, line)
  }
})

/**
 * `GET /signin/oidc/return`: the redirect URI. Signs in the user that the identity provider authenticated.
 */
export const signInReturn = queued(async (context, webRequest) => {
  const { query, request, line } = webRequest
  const { service, authenticator, rates } = context
  rates.countRequest(clientKeyOf(request))
  const { oidcSignIn } = service
  if (!oidcSignIn)
    return createUncachedPage(404, renderSignInPage('/', undefined, 'This server has no identity provider.'))
  try {
    const oidcState = readCookie(request.headers, oidcCookieName(service.url))
    const store = auditedStore(context, webRequest)
    const { username, next } = await oidcSignIn.finish(store, query, oidcState)
    line.user = username
    authenticator.clearCache()
    const grant = { owner: username, scopes: 'read,write', key_hash: null }
    const session = await openSession(store, 'session', grant, OIDC_SESSION_MS)
    const reply = redirectSignedIn(context, session, toLocalPath(next))
    // The cookie with state and verifier has been used.
    reply.cookies.push(createOidcCookie(service.url, '', 0))
    return reply
  } catch (error) {
    return createRefusalPage(error, '/', oidcSignIn.host, line)
  }
})

/** Maximum time that a browser has to return from the identity provider. */
const OIDC_COOKIE_SECONDS = 900
/** Lifetime of sessions that an identity provider started, in ms. */
const OIDC_SESSION_MS = 12 * 3600_000

/** Returns the name of the cookie with OpenID Connect state and verifier. */
function oidcCookieName(url: string): string {
  return url.startsWith('https:') ? '__Host-gridline_leaving' : 'gridline_leaving'
}

/** Creates the cookie with OpenID Connect state and verifier. */
function createOidcCookie(url: string, value: string, seconds: number): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  return `${oidcCookieName(url)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** Renders an expected error on the sign-in page. Throws other errors again. */
function createRefusalPage(error: unknown, next: string, provider: string, line: LogLine): HttpResponse {
  if (!(error instanceof Problem)) throw error
  const { message, hint = '', status } = error
  if (status >= 500) line.reason = message
  const html = renderSignInPage(next, provider, `${message[0].toUpperCase()}${message.slice(1)}. ${hint}`)
  return createUncachedPage(status, html, retryAfterHeaders(error))
}

/** Returns a store that records IP address and request id in the audit log. */
function auditedStore({ service }: HttpContext, { request, line }: WebRequest): Store {
  return service.store.withActor({ user: null, address: request.address, request_id: line.request_id })
}

/** `POST /signin`: signs in with an API key, or with the code of a one-time link. */
export const signIn = queued(async (context, webRequest) => {
  const { request } = webRequest
  const { service, authenticator, rates } = context
  const store = auditedStore(context, webRequest)
  refuseCrossSite(request.headers, service.url)
  rates.countRequest(clientKeyOf(request))
  const fields = await readFields(request, service.limits)
  const next = toLocalPath(fields.next)
  if (fields.code !== undefined) return redirectSignedIn(context, await redeemCode(store, fields.code), next)
  const username = (fields.username ?? '').trim()
  try {
    const {
      scopes,
      keyHash,
      username: owner,
    } = await authenticator.checkApiKey(username, (fields.api_key ?? '').trim())
    const grant = { owner, scopes: [...scopes].join(','), key_hash: keyHash! }
    return redirectSignedIn(context, await openSession(store, 'session', grant), next)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'unauthenticated') throw error
    return createUncachedPage(
      401,
      renderSignInPage(next, service.oidcSignIn?.host, 'Wrong username or API key.', username),
    )
  }
})

/** `POST /signout`: ends the session. */
export const signOut = queued(async ({ service, authenticator }, { request }) => {
  refuseCrossSite(request.headers, service.url)
  const token = readSessionToken(request.headers, service.url)
  if (token !== undefined) await closeSession(service.store, token)
  authenticator.clearCache()
  return redirect('/', createSessionCookie(service.url, '', 0))
})

const EXPIRED_MESSAGE = 'This link has expired or was used before. Create a new one, or sign in here.'

/** Redirects to `next` with the session cookie. Without a session, the link has expired. */
function redirectSignedIn(
  { service }: HttpContext,
  session: { token: string; expires_at: number } | undefined,
  next: string,
): HttpResponse {
  if (!session)
    return createUncachedPage(403, renderSignInPage(next, service.oidcSignIn?.host, EXPIRED_MESSAGE))
  const seconds = Math.max(1, Math.floor((session.expires_at - Date.now()) / 1000))
  return redirect(next, createSessionCookie(service.url, session.token, seconds))
}

async function readFields(request: HttpRequest, limits: Limits) {
  const { fields } = await receiveBody(request, SIGN_IN_BODY, { limits, take: () => {} })
  return fields as { username?: string; api_key?: string; code?: string; next?: string }
}

function createSessionCookie(url: string, token: string, seconds: number): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  return `${sessionCookieName(url)}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
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
