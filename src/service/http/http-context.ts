/** State shared by all HTTP requests: admission, rate limits and the authenticated caller. */
import type { HttpRequest } from '../../contract/http.ts'
import type { LimitName } from '../../contract/limits.ts'
import { WorkBudget } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import { Admission, ByteBudget } from '../core/admission.ts'
import { hasMatchingEtag } from '../core/etag.ts'
import type { OperationService as Service } from '../operations/handler.ts'
import type { Actor } from '../store/aggregates/audit.ts'
import type { Authenticator } from './auth.ts'
import { RateLimiter } from './rate-limiter.ts'
import type { ResponseCache } from './response-cache.ts'

/** One log line: a request and its outcome. Contains no credentials. */
export interface LogLine {
  request_id: string
  method: string
  path: string
  operation?: string
  status: number
  ms: number
  user?: string
  /** Value of the header Plotly-Client-Platform. */
  client?: string
  /** IP address of the client. */
  address?: string
  /** Value of the header User-Agent. */
  agent?: string
  /** Trace id from the header traceparent. */
  trace?: string
  /** Message of an expected error with status 500 or above, such as 503. */
  reason?: string
  /** Stack of an unexpected error. */
  error?: string
}

/** State shared by all requests. */
export interface HttpContext {
  service: Service
  authenticator: Authenticator
  rates: RateLimiter
  /** Queue of ordinary requests. */
  requestQueue: Admission
  /** Queue of streamed uploads: they take long, and would block short requests. */
  uploadQueue: Admission
  /** Memory of bodies that are read completely. */
  bodyBudget: ByteBudget
  /** Queue of forms that anybody can send: they must not take resources from users. */
  formQueue: Admission
  /** Memory of these forms. */
  formBudget: ByteBudget
  /** Cache of responses; only servers have one. */
  responses?: ResponseCache
}

/** Creates the work budget of a request: by user, or the smaller one of anonymous callers. */
export function createWork(
  { limits }: Pick<Service, 'limits'>,
  caller: Caller | undefined,
  { isAborted }: HttpRequest,
): WorkBudget {
  return new WorkBudget(limits, caller ? 'user' : 'anonymous', isAborted)
}

/** Creates the state of all HTTP requests, with queues and budgets by the limits of the service. */
export function createHttpContext(service: Service, authenticator: Authenticator): HttpContext {
  const { limits } = service
  const createQueue = (running: number, waiting: number, limit: LimitName): Admission =>
    new Admission({ running, waiting, wait: limits.wait_seconds * 1000 }, limit)
  return {
    service,
    authenticator,
    rates: new RateLimiter(limits.requests_per_minute),
    requestQueue: createQueue(limits.requests_at_once, limits.requests_waiting, 'requests_waiting'),
    uploadQueue: createQueue(limits.uploads_at_once, limits.requests_waiting, 'uploads_at_once'),
    bodyBudget: new ByteBudget(limits.bodies_bytes, 'bodies_bytes'),
    formQueue: createQueue(limits.forms_at_once, limits.forms_at_once, 'forms_at_once'),
    formBudget: new ByteBudget(limits.forms_bytes, 'forms_bytes'),
  }
}

/**
 * Authenticates the request, and counts it for rate limiting: by username; by IP address for anonymous
 * requests and wrong credentials. Throws `unauthenticated` and `rate_limited`.
 */
export async function authenticateRequest(
  { authenticator, rates }: HttpContext,
  request: HttpRequest,
): Promise<Caller | undefined> {
  const address = clientKeyOf(request)
  const caller = await authenticator.authenticate(request.headers).catch((error) => {
    rates.countRequest(address)
    throw error
  })
  rates.countRequest(caller?.username ?? address)
  return caller
}

/**
 * Returns the rate-limit key of the client's IP address. `@` distinguishes it from usernames. For IPv6, it is
 * the /64 network: one client can use all addresses in it.
 */
export function clientKeyOf({ address = '' }: Pick<HttpRequest, 'address'>): string {
  if (!address.includes(':') || address.includes('.')) return `@${address}`
  const [head, tail] = address.split('%')[0].split('::')
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean))
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return `@${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}

/**
 * Returns a service for files of `owner`, whose store uses only part of the database connections. `actor` is
 * recorded in the audit log.
 */
export function scopeService(service: Service, owner: string, actor?: Actor): Service {
  const ownerStore = service.store.forOwner(owner)
  const store = actor ? ownerStore.withActor(actor) : ownerStore
  return store === service.store ? service : { ...service, store }
}

/** Returns whether `If-None-Match` contains this entity tag. */
export function isNotModified({ headers }: HttpRequest, etag: string | undefined): boolean {
  const sentTags = etag === undefined ? undefined : headers.get('if-none-match')
  return Boolean(sentTags && (sentTags === '*' || hasMatchingEtag(sentTags, etag!)))
}

/** A response, or a function that completes it outside of the queue. */
export type Outcome<T> = T | (() => Promise<T>)

/** Completes an outcome. */
export function completeOutcome<T extends object>(outcome: Outcome<T>): T | Promise<T> {
  return typeof outcome === 'function' ? (outcome as () => Promise<T>)() : outcome
}
