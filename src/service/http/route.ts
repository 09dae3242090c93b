/** Finds the operation of a request by method and path. */
import { TrieRouter } from 'hono/router/trie-router'
import { Problem } from '../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import {
  type FileKind,
  methodsOf,
  type Operation,
  type OperationName,
  operations,
  routesOf,
} from '../../contract/operations/index.ts'
import { createErrorResponse } from './answer.ts'

/** A request for an operation of the contract. */
export interface OperationRequest {
  name: OperationName
  operation: Operation
  /** Filetype required by the path; undefined if it accepts all. */
  filetype: FileKind | undefined
  /** Parameters of the path, by name. */
  parameters: Record<string, string>
  request: HttpRequest
  path: string
  query: string
  /** Path and query as sent, before former usernames are replaced. Retries are compared by it. */
  rawUrl: string
  /** Value of X-Request-Id: sent by the client, or new. */
  requestId: string
  /** True if the request skips the queue and is never refused. */
  isUnlimited: boolean
}

/** Operations that skip the queue and are never refused. */
const UNLIMITED_OPERATIONS: ReadonlySet<OperationName> = new Set([
  'service.health',
  'service.ready',
  'service.metrics',
])

type Route = Pick<OperationRequest, 'name' | 'operation' | 'filetype' | 'isUnlimited'>

/** A route and its path parameters. */
type RouteMatch = readonly [Route, Readonly<Record<string, string>>]

/** Number and length of remembered paths. */
const MAX_REMEMBERED_PATHS = 1000
const MAX_REMEMBERED_CHARACTERS = 200

/** Router of operations. */
export class OperationRouter {
  private readonly router = new TrieRouter<Route>()
  private readonly routes: { method: string; path: string }[] = []
  /** Routes of recent requests. */
  private readonly found = new Map<string, RouteMatch>()

  constructor() {
    for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
      const route = { name, operation, isUnlimited: UNLIMITED_OPERATIONS.has(name) }
      for (const { path, filetype } of routesOf(operation)) {
        for (const method of methodsOf(operation)) {
          this.routes.push({ method, path })
          this.router.add(method, path, { ...route, filetype })
        }
      }
    }
  }

  /** Returns the route and its path parameters; undefined if there is none. */
  find(method: string, path: string): RouteMatch | undefined {
    const key = `${method} ${path}`
    const known = this.found.get(key)
    if (known) return known
    const [[match]] = this.router.match(method, path)
    if (match && path.length <= MAX_REMEMBERED_CHARACTERS) {
      if (this.found.size === MAX_REMEMBERED_PATHS) this.found.clear()
      this.found.set(key, match as RouteMatch)
    }
    return match as RouteMatch | undefined
  }

  /** Responds to a request without a route: 405 if another method has one. Throws `not_found` otherwise. */
  async refuse(method: string, path: string): Promise<HttpResponse> {
    const { listWebMethods } = await import('./web/routes.ts')
    const methods = [
      ...this.routes.filter((route) => matchesTemplate(route.path, path)).map((route) => route.method),
      ...listWebMethods(path),
    ]
    if (methods.length === 0) throw noPathError(path)
    const allow = [
      ...new Set(methods.flatMap((allowed) => (allowed === 'GET' ? ['GET', 'HEAD'] : [allowed]))),
      'OPTIONS',
    ].join(', ')
    if (method === 'OPTIONS') return new HttpResponse(204, { allow }, null)
    const reply = createErrorResponse(
      new Problem('method_not_allowed', `method ${method} is not allowed here`, {
        hint: `Allowed: ${allow}`,
      }),
    )
    reply.headers.allow = allow
    return reply
  }
}

/** Splits a URL into decoded path and query. Collapses `//` (sent by R) and drops a trailing slash. */
export function splitUrl(url: string): { path: string; query: string } {
  const pathStart = url.indexOf('/', url.indexOf('//') + 2)
  const queryStart = url.indexOf('?', pathStart)
  const rawPath = pathStart < 0 ? '/' : url.slice(pathStart, queryStart < 0 ? undefined : queryStart)
  const cleanPath =
    rawPath.includes('//') || rawPath.endsWith('/')
      ? rawPath.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
      : rawPath
  return {
    path: cleanPath.includes('%') ? decodePath(cleanPath) : cleanPath,
    query: queryStart < 0 ? '' : url.slice(queryStart + 1),
  }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Creates the error for a path without an operation. Clients of Chart Studio ask for presentations. */
function noPathError(path: string): Problem {
  return path.startsWith('/v2/spectacle-presentations')
    ? new Problem('not_found', 'presentations are not offered', {
        hint: 'Boards show charts with text: gridline board create FILE, or /v2/dashboards.',
      })
    : new Problem('not_found', `no such path: ${path.slice(0, 200)}`)
}

/** Returns whether a path matches a template such as `/v2/grids/:fid`. */
function matchesTemplate(template: string, path: string): boolean {
  const templateParts = template.split('/')
  const pathParts = path.split('/')
  return (
    templateParts.length === pathParts.length &&
    templateParts.every((part, k) => part.startsWith(':') || part === pathParts[k])
  )
}
