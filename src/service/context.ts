import type { Fid } from '../contract/fid.ts'
import type { Limits } from '../contract/limits.ts'
import type { FileKind, OperationName, QueryOf, ResultOf } from '../contract/operations.ts'
import type { Bytes, RawJson } from '../json/index.ts'
import type { Caller } from './access/access.ts'
import type { AppendQueue } from './grids/append.ts'
import type { UrlImport } from './imports/fetch.ts'
import type { Mail } from './mail.ts'
import type { Metrics } from './metrics.ts'
import type { Seal } from './seal.ts'
import type { WriteKey } from './store/idempotency.ts'
import type { Store } from './store/store.ts'
import type { Views } from './views.ts'

/** What handlers work with, the same for every request. */
export interface Service {
  store: Store
  /** Where the service is reached, without a slash at the end: links are made of it. */
  url: string
  limits: Limits
  appends: AppendQueue
  views: Views
  mail: Mail | undefined
  metrics: Metrics
  /** Signs cursors. */
  seal: Seal
  /** Whether `source_url` may be fetched. */
  urlImport: UrlImport | undefined
  /** A key or user has changed: what is remembered of credentials no longer holds. */
  forgetCredentials(): void
  /** Work that no answer waits for; `idle` of the service does. */
  background(work: () => Promise<void>): void
}

/** One request, checked against its operation. */
export interface Call<N extends OperationName = OperationName> {
  operation: N
  caller: Caller | undefined
  /** The file in the path; of operations without one, unused. */
  fid: Fid
  /** The only kind of file found under the path; all kinds if undefined. */
  filetype: FileKind | undefined
  /** What else the path names: a user, a team, a key. */
  name: string
  /** `share_key` of the query: opens one private file for reading. */
  shareKey: string | undefined
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
