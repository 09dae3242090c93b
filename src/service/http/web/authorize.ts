import { Problem } from '../../../contract/errors.ts'
import { HttpResponse } from '../../../contract/http.ts'
import * as s from '../../../contract/schema.ts'
import { openLogin } from '../../accounts/sessions.ts'
import { authorizedPage, authorizePage, type LoginRequest } from '../../pages/forms/authorize.ts'
import { receive } from '../body.ts'
import { refuseCrossSite } from '../browser.ts'
import { callerOf } from '../desk.ts'
import { PAGE_HEADERS } from './pages.ts'
import { inTurn } from './request.ts'

const form = {
  kind: 'json',
  form: true,
  limit: 'small_body_bytes',
  schema: s.object({ port: s.string(), challenge: s.string(), state: s.string(), name: s.string() }),
} as const

/** `GET /authorize`: the page on which the user of a browser logs a command line in. */
export const authorizeForm = inTurn(async (desk, { query, request }) => {
  const caller = await callerOf(desk, request)
  const asked = checked(Object.fromEntries(new URLSearchParams(query)))
  if (caller) return page(authorizePage(caller.username, asked))
  const location = `/signin?next=${encodeURIComponent(`/authorize?${query}`)}`
  return new HttpResponse(303, { location, 'cache-control': 'no-store' }, null)
})

/** `POST /authorize`. */
export const authorize = inTurn(async (desk, { request, line }) => {
  const { service } = desk
  const caller = await callerOf(desk, request)
  refuseCrossSite(request.headers, service.url)
  if (!caller) throw new Problem('unauthenticated', 'this browser is not signed in')
  const { fields } = await receive(request, form, { limits: service.limits, take: () => {} })
  const { port, challenge, state } = checked(fields as Record<string, string>)
  const scopes = ['read', 'write'].filter(
    (scope) => caller.scopes.has('admin') || caller.scopes.has(scope as 'read'),
  )
  const opening = { owner: caller.username, scopes: scopes.join(','), key_hash: caller.keyHash ?? null }
  const code = await openLogin(
    service.store.by({ user: opening.owner, address: request.address, request_id: line.request_id }),
    opening,
    challenge,
  )
  const answered = new URLSearchParams({ code, state })
  // A header, not a redirect: the policy of the page lets its form lead to this server only.
  const url = `http://127.0.0.1:${port}/?${answered}`
  return page(authorizedPage(url), { refresh: `0; url=${url}` })
})

/** Throws `invalid_request` unless this is what `gridline login` asks for. */
function checked({ port = '', challenge = '', state = '', name = '' }: Record<string, string>): LoginRequest {
  const number = Number(port)
  const isRight =
    Number.isInteger(number) &&
    number >= 1024 &&
    number < 65_536 &&
    /^[\w-]{43}$/.test(challenge) &&
    /^[\w-]{16,64}$/.test(state) &&
    name.length <= 100
  if (!isRight) throw new Problem('invalid_request', 'not a request of gridline login')
  return { port: number, challenge, state, name: name || 'an unnamed device' }
}

function page(html: string, headers: Record<string, string> = {}): HttpResponse {
  return new HttpResponse(200, { ...PAGE_HEADERS, 'cache-control': 'no-store', ...headers }, html)
}
