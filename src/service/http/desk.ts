/** State shared by all HTTP requests: admission, rate limits and the authenticated caller. */
import type { HttpRequest } from '../../contract/http.ts'
import { Work } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import { Admission, ByteBudget } from '../core/admission.ts'
import { matchesEtag } from '../core/etag.ts'
import type { OperationService as Service } from '../operations/handler.ts'
import type { Actor } from '../store/aggregates/audit.ts'
import type { Authenticator } from './auth.ts'
import { Rates } from './rates.ts'

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
export interface Desk {
  service: Service
  authenticator: Authenticator
  rates: Rates
  /** Queue of ordinary requests. */
  requests: Admission
  /** Queue of streamed uploads: they take long, and would block short requests. */
  uploads: Admission
  /** Memory of bodies that are read completely. */
  bodies: ByteBudget
  /** Queue of forms that anybody can send: they must not take resources from users. */
  forms: Admission
  /** Memory of these forms. */
  formBodies: ByteBudget
}

/** Creates the work budget of a request: by user, or the smaller one of anonymous callers. */
export function workOf(
  { limits }: Pick<Service, 'limits'>,
  caller: Caller | undefined,
  { gone }: HttpRequest,
): Work {
  return new Work(limits, caller ? 'user' : 'anonymous', gone)
}

/** Creates the state of all HTTP requests, with queues and budgets by the limits of the service. */
export function deskOf(service: Service, authenticator: Authenticator): Desk {
  const { limits } = service
  return {
    service,
    authenticator,
    rates: new Rates(limits.requests_per_minute),
    requests: new Admission(
      {
        running: limits.requests_at_once,
        waiting: limits.requests_waiting,
        wait: limits.wait_seconds * 1000,
      },
      'requests_waiting',
    ),
    uploads: new Admission(
      {
        running: limits.uploads_at_once,
        waiting: limits.requests_waiting,
        wait: limits.wait_seconds * 1000,
      },
      'uploads_at_once',
    ),
    bodies: new ByteBudget(limits.bodies_bytes, 'bodies_bytes'),
    forms: new Admission(
      {
        running: limits.forms_at_once,
        waiting: limits.forms_at_once,
        wait: limits.wait_seconds * 1000,
      },
      'forms_at_once',
    ),
    formBodies: new ByteBudget(limits.forms_bytes, 'forms_bytes'),
  }
}

/**
 * Authenticates the request, and counts it for rate limiting: by username; by IP address for anonymous
 * requests and wrong credentials. Throws `unauthenticated` and `rate_limited`.
 */
export async function callerOf(
  { authenticator, rates }: Desk,
  request: HttpRequest,
): Promise<Caller | undefined> {
  const address = addressOf(request)
  const caller = await authenticator.caller(request.headers).catch((error) => {
    rates.take(address)
    throw error
  })
  rates.take(caller?.username ?? address)
  return caller
}

/**
 * Returns the rate-limit key of the client's IP address. `@` distinguishes it from usernames. For IPv6, it is
 * the /64 network: one client can use all addresses in it.
 */
export function addressOf({ address = '' }: Pick<HttpRequest, 'address'>): string {
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
export function serviceFor(service: Service, owner: string, actor?: Actor): Service {
  const ownerStore = service.store.for(owner)
  const store = actor ? ownerStore.by(actor) : ownerStore
  return store === service.store ? service : { ...service, store }
}

/** Returns whether `If-None-Match` contains this entity tag. */
export function isUnchanged({ headers }: HttpRequest, etag: string | undefined): boolean {
  const sentTags = etag === undefined ? undefined : headers.get('if-none-match')
  return Boolean(sentTags && (sentTags === '*' || matchesEtag(sentTags, etag!)))
}

/** A response, or a function that completes it outside of the queue. */
export type Outcome<T> = T | (() => Promise<T>)

/** Completes an outcome. */
export function finish<T extends object>(outcome: Outcome<T>): T | Promise<T> {
  return typeof outcome === 'function' ? (outcome as () => Promise<T>)() : outcome
}
