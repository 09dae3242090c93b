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
import type { Handler, Handlers } from '../operations/handler.ts'
import { errorReply } from './answer.ts'
import { webMethodsOf } from './web/routes.ts'

/** A request for an operation of the contract. */
export interface OperationRequest {
  name: OperationName
  operation: Operation
  handler: Handler<OperationName>
  /** The only filetype found under this path; undefined for all. */
  filetype: FileKind | undefined
  /** Parameters in the path. */
  parameters: Record<string, string>
  request: HttpRequest
  path: string
  query: string
  /** Path and query as they were sent, perhaps with a former name: a retry is compared by it. */
  sent: string
  /** X-Request-Id: that of the client, or a new one. */
  requestId: string
  /** Whether it is never refused or queued. */
  isUnlimited: boolean
}

/** Health operations. They are never refused or queued. */
const UNLIMITED: ReadonlySet<OperationName> = new Set(['service.health', 'service.ready', 'service.metrics'])

type Route = Pick<OperationRequest, 'name' | 'operation' | 'handler' | 'filetype' | 'isUnlimited'>

/** Finds the operation of a request by method and path. */
export class OperationRouter {
  private readonly router = new TrieRouter<Route>()
  private readonly routes: { method: string; path: string }[] = []

  constructor(handlers: Handlers) {
    for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
      const route = {
        name,
        operation,
        handler: handlers[name] as Route['handler'],
        isUnlimited: UNLIMITED.has(name),
      }
      for (const { path, filetype } of routesOf(operation)) {
        for (const method of methodsOf(operation)) {
          this.routes.push({ method, path })
          this.router.add(method, path, { ...route, filetype })
        }
      }
    }
  }

  find(method: string, path: string): [Route, Record<string, string>] | undefined {
    const [[found]] = this.router.match(method, path)
    return found as [Route, Record<string, string>] | undefined
  }

  /** The response to a request that nothing is found for: 405 where another method works. Throws 404 elsewhere. */
  refusal(method: string, path: string): HttpResponse {
    const methods = [
      ...this.routes.filter((route) => matches(route.path, path)).map((route) => route.method),
      ...webMethodsOf(path),
    ]
    if (methods.length === 0) throw new Problem('not_found', `no such path: ${path.slice(0, 200)}`)
    const allow = [
      ...new Set(methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]))),
      'OPTIONS',
    ].join(', ')
    if (method === 'OPTIONS') return new HttpResponse(204, { allow }, null)
    const reply = errorReply(
      new Problem('method_not_allowed', `method ${method} is not allowed here`, {
        hint: `Allowed: ${allow}`,
      }),
    )
    reply.headers.allow = allow
    return reply
  }
}

/** Path and query of a URL. Collapses `//` (sent by R) and drops a trailing slash. */
export function address(url: string): { path: string; query: string } {
  const at = url.indexOf('/', url.indexOf('//') + 2)
  const mark = url.indexOf('?', at)
  const raw = at < 0 ? '/' : url.slice(at, mark < 0 ? undefined : mark)
  const clean =
    raw.includes('//') || raw.endsWith('/') ? raw.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1') : raw
  return {
    path: clean.includes('%') ? decodedPath(clean) : clean,
    query: mark < 0 ? '' : url.slice(mark + 1),
  }
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function matches(template: string, path: string): boolean {
  const parts = template.split('/')
  const given = path.split('/')
  return parts.length === given.length && parts.every((part, k) => part.startsWith(':') || part === given[k])
}
