import type { Fid } from '../contract/fid.ts'
import type { Limits } from '../contract/limits.ts'
import type { OperationName, QueryOf, ResultOf } from '../contract/operations.ts'
import type { Bytes, RawJson } from '../ingest/index.ts'
import type { Caller } from './access.ts'
import type { AppendQueue } from './grids/append.ts'
import type { WriteKey } from './store/idempotency.ts'
import type { Store } from './store/store.ts'

/** What handlers work with, the same for every request. */
export interface Service {
  store: Store
  /** Where the service is reached, without a slash at the end: links are made of it. */
  url: string
  limits: Limits
  appends: AppendQueue
  /** Work that no answer waits for; `idle` of the service does. */
  background(work: () => Promise<void>): void
}

/** One request, checked against its operation. */
export interface Call<N extends OperationName = OperationName> {
  operation: N
  caller: Caller | undefined
  /** The file in the path; of operations without one, unused. */
  fid: Fid
  query: QueryOf<N>
  /** Headers of the service's own, by their names without prefix. */
  headers: Record<string, string | number | boolean | undefined>
  /** Fields of a JSON body; those the contract calls raw as they came. */
  fields: Record<string, unknown>
  /** Bytes of any other body. */
  bytes: Bytes
  /** Media type of the body, in lower case and without parameters. */
  contentType: string
  /** X-File-Name. */
  fileName: string | undefined
  /** The version an If-Match asks for. */
  ifMatch: string | undefined
  /** Names this write, for a transaction on the files of `owner`. */
  writeKey(owner: string): WriteKey
}

export interface Answer<T> {
  body: T
  etag?: string
  /** Media type of a streamed body. */
  type?: string
}

export type Handler<N extends OperationName> = (
  service: Service,
  call: Call<N>,
) => Promise<Answer<ResultOf<N> extends undefined ? Bytes | undefined : ResultOf<N>>>

export type Handlers = { [N in OperationName]: Handler<N> }

export type { RawJson }
