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
  /** The client's own name, from its headers. */
  client?: string
  /** The IP address of the client. */
  address?: string
  /** The header User-Agent. */
  agent?: string
  /** The id of the trace that the request belongs to (traceparent). */
  trace?: string
  /** Why the server could not do it, with status 503 and others above 500. */
  reason?: string
  /** The stack of an error that nothing expects. */
  error?: string
}

/** State shared by all requests. */
export interface Desk {
  service: Service
  authenticator: Authenticator
  rates: Rates
  /** Admission of ordinary requests. */
  requests: Admission
  /** Admission of streamed uploads. They take long and would otherwise block short requests. */
  uploads: Admission
  bodies: ByteBudget
  /** Admission and bytes of forms that anybody may send. They take nothing from the requests of users. */
  forms: Admission
  formBodies: ByteBudget
}

/** What a request may cost. */
export function workOf(
  { limits }: Pick<Service, 'limits'>,
  caller: Caller | undefined,
  { gone }: HttpRequest,
): Work {
  return new Work(limits, caller ? 'user' : 'anonymous', gone)
}

/** The desk of a service, with admission by its limits. */
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
 * Authenticates the request and counts it for rate limiting: by username, or by IP address for anonymous
 * requests and wrong credentials.
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
 * The rate-limit key of an IP address. `@` keeps it apart from usernames. Of IPv6 it is the network (/64): a client has
 * all addresses in it.
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
 * The service for requests on files of `owner`, which may use only part of the database connections. `actor`: who makes
 * the changes of a request that makes some.
 */
export function serviceFor(service: Service, owner: string, actor?: Actor): Service {
  const lane = service.store.for(owner)
  const store = actor ? lane.by(actor) : lane
  return store === service.store ? service : { ...service, store }
}

/** Whether the client has sent the entity tag of what it would get. */
export function isUnchanged({ headers }: HttpRequest, etag: string | undefined): boolean {
  const seen = etag === undefined ? undefined : headers.get('if-none-match')
  return Boolean(seen && (seen === '*' || matchesEtag(seen, etag!)))
}

/** A response, or the rest of the work on it, which is done outside of the queue. */
export type Outcome<T> = T | (() => Promise<T>)

export function finish<T extends object>(outcome: Outcome<T>): T | Promise<T> {
  return typeof outcome === 'function' ? (outcome as () => Promise<T>)() : outcome
}
