/** Serves pages, their scripts and styles. */

import type { Problem } from '../../../contract/errors.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { type HttpRequest, HttpResponse } from '../../../contract/http.ts'
import { toByteStream } from '../../../json/index.ts'
import { checkScope } from '../../access/access.ts'
import { getAsset } from '../../pages/assets.ts'
import { renderDocument } from '../../pages/html.ts'
import type { Answer, PageRequest } from '../../pages/index.ts'
import { createStreamResponse, retryAfterHeaders } from '../answer.ts'
import {
  authenticateRequest,
  clientKeyOf,
  completeOutcome,
  createWork,
  type HttpContext,
  isNotModified,
  type Outcome,
  scopeService,
} from '../http-context.ts'
import { PAGE_HEADERS } from '../page-headers.ts'
import type { WebRequest } from './request.ts'

/** Serves a page, a download or a chart. Requires the read scope. */
export async function servePage(
  context: HttpContext,
  handler: (service: HttpContext['service'], asked: PageRequest) => Promise<Answer> | Answer,
  target: Pick<PageRequest, 'username' | 'fid' | 'ending'>,
  { request, query: queryText, line }: Omit<WebRequest, 'parts'>,
): Promise<HttpResponse> {
  const { service, requestQueue } = context
  const caller = await authenticateRequest(context, request)
  line.user = caller?.username
  checkScope(caller, 'read')
  const query = new URLSearchParams(queryText)
  const shareKey = query.get('share_key') ?? undefined
  const version = query.get('version') || undefined
  const user = caller?.username ?? clientKeyOf(request)
  const serve = async (): Promise<Outcome<HttpResponse>> => {
    const answer = await handler(scopeService(service, target.username || (caller?.username ?? '')), {
      principal: { caller, shareKey, version, isAborted: request.isAborted },
      query,
      user,
      ...target,
    })
    if (answer.viewed) service.views.count(answer.viewed)
    if (isNotModified(request, answer.etag)) return new HttpResponse(304, answerHeaders(answer), null)
    const { later } = answer
    if (later)
      return async () =>
        createAnswerResponse({ ...answer, ...(await later(user, createWork(service, caller, request))) })
    return createAnswerResponse(answer)
  }
  return completeOutcome(await requestQueue.run(user, serve, request.isAborted))
}

function answerHeaders({ type, headers, etag }: Answer): Record<string, string> {
  return {
    ...(type.startsWith('text/html') ? PAGE_HEADERS : { 'cache-control': 'private, no-cache' }),
    'content-type': type,
    ...(etag === undefined ? {} : { etag }),
    ...headers,
  }
}

function createAnswerResponse(answer: Answer): HttpResponse | Promise<HttpResponse> {
  const { body, type } = answer
  if (typeof body === 'string') return new HttpResponse(200, answerHeaders(answer), body)
  // Events are sent at once; other streams are merged into larger chunks.
  if (type === 'text/event-stream') return new HttpResponse(200, answerHeaders(answer), body)
  return createStreamResponse(200, body, type, answerHeaders(answer))
}

/** Serves a script or style. The current hash in the URL permits caching it forever. */
export function serveAsset(
  name: string,
  requestedHash: string | undefined,
  { headers }: HttpRequest,
): HttpResponse {
  const { type, bytes, hash, encoding } = getAsset(name, headers.get('accept-encoding') ?? '')
  return new HttpResponse(
    200,
    {
      'content-type': type,
      // During an update, pages of another version can request their assets here.
      'cache-control': requestedHash === hash ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
      // Scripts run in opaque origins, so all their requests are cross-origin.
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      vary: 'accept-encoding',
      'content-length': String(bytes.length),
      ...(encoding && { 'content-encoding': encoding }),
    },
    toByteStream(bytes),
  )
}

/** Creates the response with a page that is not cached. */
export function createUncachedPage(
  status: number,
  html: string,
  headers: Record<string, string> = {},
): HttpResponse {
  return new HttpResponse(status, { ...PAGE_HEADERS, 'cache-control': 'no-store', ...headers }, html)
}

/** Renders an error as an HTML page. Offers a link to sign in if nobody is signed in. */
export function createErrorPage(problem: Problem, path: string, user?: string): HttpResponse {
  const { status, message, hint } = problem
  const titles: Record<number, string> = {
    401: 'Sign in',
    403: 'Not permitted',
    404: 'Not found',
    410: 'Gone',
  }
  const parts = [`<p>${escapeHtml(message[0].toUpperCase() + message.slice(1))}.</p>`]
  if (hint) parts.push(`<p>${escapeHtml(hint)}</p>`)
  if (user === undefined && [401, 403, 404].includes(status))
    parts.push(
      `<p>If the file is private, open its secret link, or <a href="/signin?next=${escapeHtml(encodeURIComponent(path))}">sign in</a>.</p>`,
    )
  if (user !== undefined && status === 404)
    parts.push(
      `<p>It may have been moved, renamed or deleted. Search for its name above, or look at <a href="/~${escapeHtml(user)}/">all your files</a>.</p>`,
    )
  const html = renderDocument(titles[status] ?? 'Request failed', parts.join('\n'), { user: user ?? null })
  return createUncachedPage(status, html, retryAfterHeaders(problem))
}
