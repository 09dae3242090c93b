/** Routes addresses outside of the API to their handlers. */
import { type Fid, isUsername } from '../../../contract/fid.ts'
import type { HttpResponse } from '../../../contract/http.ts'
import { type WebRoute, type WebRouteName, webRoutes } from '../../../contract/web/index.ts'
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
  icon: (_, { request }) => serveAsset('favicon.svg', undefined, request),
}

/** Patterns of path parameters. */
const PARAMETER_PATTERNS: Readonly<Record<string, string>> = {
  user: '[^/]+',
  id: '\\d+',
  hash: '[0-9a-f]+',
  name: '[\\w.-]+',
}

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
    .replace(/:(\w+)/g, (_, parameter: string) => `(?<${parameter}>${PARAMETER_PATTERNS[parameter]})`)
  return new RegExp(`^${source}$`)
}

/** Lists the methods of a path outside of the API; empty if it has no route. */
export function listWebMethods(path: string): string[] {
  return compiledRoutes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
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
    return handlers[route.name](context, { ...webRequest, parts })
  }
  return undefined
}
