/** Finds the operation of a request by method and path. */
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
import { addToList } from '../store/schema/row-groups.ts'
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

/** A method and a path with parameters, such as `/v2/grids/:fid`, in its segments. */
interface Template {
  method: string
  segments: readonly string[]
  route: Route
}

/** Router of operations. */
export class OperationRouter {
  /** Templates in the order of the contract, by number of segments: the first that matches is used. */
  private readonly templates = new Map<number, Template[]>()
  /** Routes of recent requests. */
  private readonly found = new Map<string, RouteMatch>()

  constructor() {
    for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
      const isUnlimited = UNLIMITED_OPERATIONS.has(name)
      for (const { path, filetype } of routesOf(operation)) {
        const segments = path.split('/')
        const route = { name, operation, isUnlimited, filetype }
        for (const method of methodsOf(operation))
          addToList(this.templates, segments.length, { method, segments, route })
      }
    }
  }

  /** Returns the route and its path parameters; undefined if there is none. */
  find(method: string, path: string): RouteMatch | undefined {
    const key = `${method} ${path}`
    const known = this.found.get(key)
    if (known) return known
    const segments = path.split('/')
    const template = this.templatesOf(segments).find((one) => one.method === method)
    if (!template) return undefined
    const match: RouteMatch = [template.route, parametersOf(template, segments)]
    if (path.length <= MAX_REMEMBERED_CHARACTERS) {
      if (this.found.size === MAX_REMEMBERED_PATHS) this.found.clear()
      this.found.set(key, match)
    }
    return match
  }

  /** Returns the templates of all methods that a path matches. */
  private templatesOf(segments: readonly string[]): Template[] {
    return (this.templates.get(segments.length) ?? []).filter((template) =>
      template.segments.every((part, k) =>
        part.startsWith(':') ? segments[k] !== '' : part === segments[k],
      ),
    )
  }

  /** Responds to a request without a route: 405 if another method has one. Throws `not_found` otherwise. */
  async refuse(method: string, path: string): Promise<HttpResponse> {
    const { listWebMethods } = await import('./web/routes.ts')
    const methods = [
      ...this.templatesOf(path.split('/')).map((template) => template.method),
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

/** Returns the values of the parameters of a template, by name. */
function parametersOf(template: Template, segments: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {}
  for (const [k, part] of template.segments.entries())
    if (part.startsWith(':')) parameters[part.slice(1)] = segments[k]
  return parameters
}
