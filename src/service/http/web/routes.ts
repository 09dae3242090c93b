/** Routes addresses outside of the API to their handlers. */
import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatEmbedUrl, formatWebUrl, isUsername, parseFid } from '../../../contract/fid.ts'
import { HttpResponse } from '../../../contract/http.ts'
import { type WebRoute, type WebRouteName, webRoutes } from '../../../contract/web/index.ts'
import { type OldAddress, oldAddresses } from '../../../contract/web/old-addresses.ts'
import { PAGE_HANDLERS, type PageName } from '../../pages/index.ts'
import type { HttpContext } from '../http-context.ts'
import { authorize, authorizeForm } from './authorize.ts'
import { external } from './external.ts'
import { serveAsset, servePage } from './pages.ts'
import type { WebHandler, WebRequest } from './request.ts'
import { signIn, signInForm, signInProvider, signInReturn, signOut } from './signin.ts'

const pageHandlers = Object.fromEntries(
  (Object.keys(PAGE_HANDLERS) as PageName[]).map((name): [PageName, WebHandler] => [
    name,
    (context, webRequest) => {
      const { user: username = '', id, ending = '' } = webRequest.parts
      const fid: Fid = { owner: username, idlocal: id === undefined ? -1 : Number(id) }
      return servePage(context, PAGE_HANDLERS[name], { username, fid, ending }, webRequest)
    },
  ]),
) as Record<PageName, WebHandler>

const handlers: Record<WebRouteName, WebHandler> = {
  ...pageHandlers,
  signInForm,
  signInProvider,
  signInReturn,
  signIn,
  signOut,
  authorizeForm,
  authorize,
  external: (context, { request }) => external(context, request),
  asset: (_, { request, parts }) => serveAsset(parts.name, parts.hash, request),
  embedScript: (_, { request }) => serveAsset('embed.js', undefined, request),
  missingPicture: (_, { request }) => serveAsset('missing.png', undefined, request),
  icon: (_, { request }) => serveAsset('favicon.svg', undefined, request),
}

/** Patterns of path parameters. */
const PARAMETER_PATTERNS: Readonly<Record<string, string>> = {
  user: '[^/]+',
  id: '\\d+',
  fid: '[^/]+:\\d+',
  hash: '[0-9a-f]+',
  name: '[\\w.-]+',
}

const compiledOldAddresses = oldAddresses.flatMap((address) =>
  [address.path, ...(address.aliases ?? [])].map((path) => ({ address, pattern: compilePath(path) })),
)

const compiledRoutes = (Object.entries(webRoutes) as [WebRouteName, WebRoute][]).flatMap(
  ([name, { method, path, aliases = [] }]) =>
    [path, ...aliases].map((alias) => ({ name, method, pattern: compilePath(alias) })),
)

/**
 * Compiles a path such as `/~:user/:id.embed`. Links end in a slash, so one is accepted before the extension.
 */
function compilePath(path: string): RegExp {
  const source = path
    .replace(/\.(\w+)$/, (dot, ending: string) =>
      path.includes(':id') ? `/?\\.(?<ending>${ending})` : `\\${dot}`,
    )
    .replace('/*', '(?:/.*)?')
    .replace(/:(\w+)/g, (_, parameter: string) => `(?<${parameter}>${PARAMETER_PATTERNS[parameter]})`)
  return new RegExp(`^${source}$`)
}

/** Lists the methods of a path outside of the API; empty if it has no route. */
export function listWebMethods(path: string): string[] {
  const methods = compiledRoutes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  return methods.length === 0 && findOldAddress(path) ? ['GET'] : methods
}

/** Handles a request outside of the API; undefined if it has no route. */
export function handleWebRequest(
  context: HttpContext,
  method: string,
  path: string,
  webRequest: Omit<WebRequest, 'parts'>,
): Promise<HttpResponse> | HttpResponse | undefined {
  for (const route of compiledRoutes) {
    const match = route.method === method ? route.pattern.exec(path) : null
    if (!match) continue
    const parts = { ...match.groups }
    if (parts.user !== undefined && !isUsername(parts.user)) continue
    webRequest.line.operation = `web.${route.name}`
    const framed = route.name === 'file' ? redirectFrame(context, webRequest, parts) : undefined
    if (framed) return framed
    return handlers[route.name](context, { ...webRequest, parts })
  }
  const old = method === 'GET' ? findOldAddress(path) : undefined
  if (!old) return undefined
  webRequest.line.operation = 'web.old'
  return answerOldAddress(context.service.url, old.address, old.parts, webRequest.query)
}

/** Redirects a frame of another page to the chart alone: old frames name the page of a chart, which cannot be framed. */
function redirectFrame(
  { service }: HttpContext,
  { request, query }: Omit<WebRequest, 'parts'>,
  { user, id }: Readonly<Record<string, string>>,
): HttpResponse | undefined {
  if (request.headers.get('sec-fetch-dest') !== 'iframe') return undefined
  const url = formatEmbedUrl(service.url, { owner: user, idlocal: Number(id) })
  const headers = { location: url + (query && `?${query}`), vary: 'sec-fetch-dest' }
  return new HttpResponse(302, headers, null)
}

/** Returns the old address that a path matches, and its parameters. */
function findOldAddress(
  path: string,
): { address: OldAddress; parts: Readonly<Record<string, string>> } | undefined {
  for (const { address, pattern } of compiledOldAddresses) {
    const match = pattern.exec(path)
    const parts = { ...match?.groups }
    if (match && (parts.user === undefined || isUsername(parts.user))) return { address, parts }
  }
  return undefined
}

/** Redirects to the page that an old address leads to, with its query. Throws `gone` if it leads nowhere. */
function answerOldAddress(
  url: string,
  address: OldAddress,
  { user, id, fid: named }: Readonly<Record<string, string>>,
  queryText: string,
): HttpResponse {
  if ('gone' in address) throw new Problem('gone', address.gone, { hint: address.hint })
  const query = new URLSearchParams(queryText)
  const fid =
    address.leadsTo === 'fid'
      ? parseFid(named ?? query.get('fid') ?? '')
      : address.leadsTo === 'file'
        ? { owner: user, idlocal: Number(id) }
        : undefined
  query.delete('fid')
  const location = fid ? formatWebUrl(url, fid) : `${url}/`
  return new HttpResponse(301, { location: location + (query.size > 0 ? `?${query}` : '') }, null)
}
