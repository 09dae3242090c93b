import { Problem } from '../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Limits } from '../../contract/limits.ts'
import * as s from '../../contract/schema.ts'
import { closeSession, openSession, redeemCode, SESSION_SECONDS } from '../accounts/sessions.ts'
import { localPath, signInPage } from '../pages/signin.ts'
import { COOKIE_NAME, sessionToken } from './auth.ts'
import { receive } from './body.ts'
import { refuseCrossSite } from './browser.ts'
import { addressOf, type Desk } from './desk.ts'
import { PAGE_HEADERS } from './pages.ts'

const form = {
  kind: 'json',
  form: true,
  limit: 'small_body_bytes',
  schema: s.object({
    username: s.optional(s.string()),
    api_key: s.optional(s.string()),
    next: s.optional(s.string()),
  }),
} as const

/** Signing in and out; undefined for other requests. */
export function signIn(
  desk: Desk,
  method: string,
  path: string,
  query: string,
  request: HttpRequest,
): Promise<HttpResponse> | undefined {
  const isForm = path === '/signin' && (method === 'GET' || method === 'POST')
  if (!isForm && !(path === '/signout' && method === 'POST')) return undefined
  const work = (): Promise<HttpResponse> => answer(desk, method, path, query, request)
  return desk.requests.run(addressOf(request), work, request.gone)
}

async function answer(
  desk: Desk,
  method: string,
  path: string,
  queryText: string,
  request: HttpRequest,
): Promise<HttpResponse> {
  const { service, authenticator, rates } = desk
  const { store } = service
  if (path === '/signin' && method === 'GET') {
    const query = new URLSearchParams(queryText)
    const next = localPath(query.get('next'))
    const code = query.get('code')
    if (code === null) return page(200, signInPage(next))
    rates.take(addressOf(request))
    const token = await redeemCode(store, code)
    if (token === undefined)
      return page(
        403,
        signInPage(next, 'This link has expired or was used before. Create a new one, or sign in here.'),
      )
    return redirect(next, cookie(service.url, token, SESSION_SECONDS))
  }
  if (path === '/signin') {
    refuseCrossSite(request.headers, service.url)
    rates.take(addressOf(request))
    const { username = '', api_key = '', next } = await fieldsOf(request, service.limits)
    try {
      const { scopes, keyHash } = await authenticator.password(username.trim(), api_key.trim())
      const opening = { owner: username.trim(), scopes: [...scopes].join(','), key_hash: keyHash! }
      const { token } = await openSession(store, 'session', opening)
      return redirect(localPath(next), cookie(service.url, token, SESSION_SECONDS))
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'unauthenticated') throw error
      return page(401, signInPage(localPath(next), 'Wrong username or API key.'))
    }
  }
  refuseCrossSite(request.headers, service.url)
  const token = sessionToken(request.headers)
  if (token !== undefined) await closeSession(store, token)
  authenticator.forget()
  return redirect('/', cookie(service.url, '', 0))
}

async function fieldsOf(request: HttpRequest, limits: Limits) {
  const { fields } = await receive(request, form, { limits, take: () => {} })
  return fields as { username?: string; api_key?: string; next?: string }
}

function cookie(url: string, token: string, seconds: number): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  return `${COOKIE_NAME}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

function page(status: number, html: string): HttpResponse {
  return new HttpResponse(status, { ...PAGE_HEADERS, 'cache-control': 'no-store' }, html)
}

function redirect(location: string, cookies: string): HttpResponse {
  const headers = {
    location,
    'set-cookie': cookies,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  }
  return new HttpResponse(303, headers, null)
}
