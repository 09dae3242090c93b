import type { Problem } from '../../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../../contract/http.ts'
import { once } from '../../../json/index.ts'
import { asset } from '../../pages/assets.ts'
import { document, PAGE_POLICY, text } from '../../pages/html.ts'
import type { Answer, PageRequest } from '../../pages/index.ts'
import { retryAfter, streamReply } from '../answer.ts'
import { checkScope } from '../auth.ts'
import {
  addressOf,
  callerOf,
  type Desk,
  finish,
  isUnchanged,
  type LogLine,
  type Outcome,
  serviceFor,
  workOf,
} from '../desk.ts'

/**
 * Headers of HTML pages. Pages contain user input. Other sites are told nothing of an address, which may have a share
 * key. Forms of these pages must name their origin, so the policy is not `no-referrer`: that makes it `null`.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'private, no-cache',
}

/** Answers a request for a page, or for what belongs to a file. */
export async function showPage(
  desk: Desk,
  answer: (service: Desk['service'], asked: PageRequest) => Promise<Answer> | Answer,
  place: Pick<PageRequest, 'username' | 'fid' | 'ending'>,
  request: HttpRequest,
  queryText: string,
  line: LogLine,
): Promise<HttpResponse> {
  const { service, requests } = desk
  const caller = await callerOf(desk, request)
  line.user = caller?.username
  checkScope(caller, 'read')
  const query = new URLSearchParams(queryText)
  const shareKey = query.get('share_key') ?? undefined
  const version = query.get('version') || undefined
  const who = caller?.username ?? addressOf(request)
  const work = async (): Promise<Outcome<HttpResponse>> => {
    const shown = await answer(serviceFor(service, place.username || (caller?.username ?? '')), {
      principal: { caller, shareKey, version, gone: request.gone },
      query,
      who,
      ...place,
    })
    if (shown.viewed) service.views.count(shown.viewed)
    if (isUnchanged(request, shown.etag)) return new HttpResponse(304, headersOf(shown), null)
    const { later } = shown
    if (later) return async () => reply({ ...shown, ...(await later(who, workOf(service, caller, request))) })
    return reply(shown)
  }
  return finish(await requests.run(who, work, request.gone))
}

function headersOf({ type, headers, etag }: Answer): Record<string, string> {
  return {
    ...(type.startsWith('text/html') ? PAGE_HEADERS : { 'cache-control': 'private, no-cache' }),
    'content-type': type,
    ...(etag === undefined ? {} : { etag }),
    ...headers,
  }
}

function reply(answer: Answer): HttpResponse | Promise<HttpResponse> {
  const { body, type } = answer
  if (typeof body === 'string') return new HttpResponse(200, headersOf(answer), body)
  // Events are sent as they come; other streams are gathered into larger pieces.
  if (type === 'text/event-stream') return new HttpResponse(200, headersOf(answer), body)
  return streamReply(200, body, type, headersOf(answer))
}

/** A script or style of the pages. Its address changes with its content, so under this address it is cached forever. */
export function showAsset(name: string, asked: string | undefined, { headers }: HttpRequest): HttpResponse {
  const gzip = /\bgzip\b/.test(headers.get('accept-encoding') ?? '')
  const { type, bytes, hash, encoding } = asset(name, gzip)
  return new HttpResponse(
    200,
    {
      'content-type': type,
      // During an update, a server may be asked for the assets of another version.
      'cache-control': asked === hash ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
      // Scripts run in opaque origins, for which every request comes from another site.
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      vary: 'accept-encoding',
      'content-length': String(bytes.length),
      ...(encoding && { 'content-encoding': encoding }),
    },
    once(bytes),
  )
}

/** An error as an HTML page, for browsers. Offers a link to sign in if nobody is signed in. */
export function errorPage(problem: Problem, path: string, user?: string): HttpResponse {
  const { status, message, hint } = problem
  const titles: Record<number, string> = {
    401: 'Sign in',
    403: 'Not permitted',
    404: 'Not found',
    410: 'Gone',
  }
  const parts = [`<p>${text(message[0].toUpperCase() + message.slice(1))}.</p>`]
  if (hint) parts.push(`<p>${text(hint)}</p>`)
  if (user === undefined && [401, 403, 404].includes(status))
    parts.push(
      `<p>If the file is private, open its secret link, or <a href="/signin?next=${text(encodeURIComponent(path))}">sign in</a>.</p>`,
    )
  if (user !== undefined && status === 404)
    parts.push(
      `<p>It may have been moved, renamed or deleted. Search for its name above, or look at <a href="/~${text(user)}/">all your files</a>.</p>`,
    )
  const html = document(titles[status] ?? 'Request failed', parts.join('\n'), { user: user ?? null })
  const headers = { ...PAGE_HEADERS, 'cache-control': 'no-store', ...retryAfter(problem) }
  return new HttpResponse(status, headers, html)
}
