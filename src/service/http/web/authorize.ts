/** Pages that log the command line in through a signed-in browser. */
import { Problem } from '../../../contract/errors.ts'
import { HttpResponse } from '../../../contract/http.ts'
import * as s from '../../../contract/schema.ts'
import { checkScope, hasScope } from '../../access/access.ts'
import { createLoginCode } from '../../accounts/sessions.ts'
import { type LoginRequest, renderAuthorizedPage, renderAuthorizePage } from '../../pages/forms/authorize.ts'
import { receiveBody } from '../body.ts'
import { refuseCrossSite } from '../browser.ts'
import { authenticateRequest } from '../http-context.ts'
import { createUncachedPage } from './pages.ts'
import { queued } from './request.ts'

const AUTHORIZE_BODY = {
  kind: 'json',
  form: true,
  limit: 'small_body_bytes',
  schema: s.object({ port: s.string(), challenge: s.string(), state: s.string(), name: s.string() }),
} as const

/** `GET /authorize`: asks whether to log the command line in. Without a session, redirects to sign in. */
export const authorizeForm = queued(async (context, { query, request }) => {
  const caller = await authenticateRequest(context, request)
  const loginRequest = parseLoginRequest(Object.fromEntries(new URLSearchParams(query)))
  // The code makes a key, as `keys.create` does.
  checkScope(caller, 'write')
  if (caller) return createUncachedPage(200, renderAuthorizePage(caller.username, loginRequest))
  const location = `/signin?next=${encodeURIComponent(`/authorize?${query}`)}`
  return new HttpResponse(303, { location, 'cache-control': 'no-store' }, null)
})

/** `POST /authorize`: sends a login code to the command line. */
export const authorize = queued(async (context, { request, line }) => {
  const { service } = context
  const first = await authenticateRequest(context, request)
  refuseCrossSite(request.headers, service.url)
  const notSignedIn = new Problem('unauthenticated', 'this browser is not signed in')
  if (!first) throw notSignedIn
  const { fields } = await receiveBody(request, AUTHORIZE_BODY, { limits: service.limits, take: () => {} })
  // The session can end while the body arrives.
  const caller = await context.authenticator.authenticate(request.headers)
  if (!caller) throw notSignedIn
  checkScope(caller, 'write')
  const { port, challenge, state } = parseLoginRequest(fields as Record<string, string>)
  const scopes = (['read', 'write'] as const).filter((scope) => hasScope(caller, scope))
  const grant = { owner: caller.username, scopes: scopes.join(','), key_hash: caller.keyHash ?? null }
  const code = await createLoginCode(
    service.store.withActor({ user: grant.owner, address: request.address, request_id: line.request_id }),
    grant,
    challenge,
  )
  const parameters = new URLSearchParams({ code, state })
  // A refresh header instead of a redirect: the policy of the page permits form targets on this server only.
  const url = `http://127.0.0.1:${port}/?${parameters}`
  return createUncachedPage(200, renderAuthorizedPage(url), { refresh: `0; url=${url}` })
})

/** Parses the parameters that `gridline login` sends. Throws `invalid_request`. */
function parseLoginRequest({
  port = '',
  challenge = '',
  state = '',
  name = '',
}: Record<string, string>): LoginRequest {
  const number = Number(port)
  const isValid =
    Number.isInteger(number) &&
    number >= 1024 &&
    number < 65_536 &&
    /^[\w-]{43}$/.test(challenge) &&
    /^[\w-]{16,64}$/.test(state) &&
    name.length <= 100
  if (!isValid) throw new Problem('invalid_request', 'not a request of gridline login')
  return { port: number, challenge, state, name: name || 'an unnamed device' }
}
