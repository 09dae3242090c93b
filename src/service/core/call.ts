import type { Fid } from '../../contract/fid.ts'
import type {
  BodyOf,
  FileKind,
  HeadersOf,
  OperationName,
  QueryOf,
  RawOf,
} from '../../contract/operations/index.ts'
import type { Bytes, RawJson, Work } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import type { WriteKey } from '../store/aggregates/idempotency.ts'
import type { Trace } from '../tracing/tracing.ts'

/** The fields of a JSON body as an operation gets them: those that the contract calls raw as RawJson. */
export type FieldsOf<N extends OperationName> = {
  [K in keyof BodyOf<N>]: K extends RawOf<N> ? RawJson : BodyOf<N>[K]
}

/** One request, whatever its operation: what decides on access, versions and retries. */
export interface Call {
  operation: OperationName
  caller: Caller | undefined
  /** The file id in the path; unused by operations without one. */
  fid: Fid
  /** The only filetype found under this path; undefined for all. */
  filetype: FileKind | undefined
  /** The other path parameter: a user, a team or a key. */
  name: string
  /** The `share_key` query parameter, which opens one private file for reading. */
  shareKey: string | undefined
  /** The `version` query parameter of an operation that has one: the version of the file that is asked for. */
  version: string | undefined
  /** Bytes of a body that is not JSON. */
  bytes: Bytes
  /** Media type of the body, in lower case and without parameters. */
  contentType: string
  /** X-File-Name. */
  fileName: string | undefined
  /** The If-Match header. */
  ifMatch: string | undefined
  /** Whether the client has disconnected. */
  gone?: () => boolean
  /** The trace that the request belongs to. */
  trace: Trace | undefined
  /** Why the change is made, for the history. */
  message: string | undefined
  /** The idempotency key of this write, for a transaction on the files of `owner`. */
  writeKey(owner: string): WriteKey
}

/** One request, validated against its operation and typed by it. */
export interface OperationCall<N extends OperationName> extends Call {
  operation: N
  query: QueryOf<N>
  /** The service's own headers, by name without prefix. */
  headers: HeadersOf<N>
  /** Fields of a JSON body. Fields that the contract marks `raw` are unparsed. */
  fields: FieldsOf<N>
}

export interface OperationResult<T> {
  body: T
  etag?: string
  /** Media type of a streamed body. */
  type?: string
  /** Whether pages of other sites may not show the body. */
  ownSiteOnly?: boolean
  /** Further headers of the response. */
  headers?: Record<string, string>
  /** The streamed body in Brotli, for clients that accept it. */
  brotli?: () => Bytes
  /**
   * Takes long and needs none of the resources that requests share: it runs after the request has left the
   * queue, unless the client has the response already (`etag`). It gets the user or address that asks, and what it may
   * cost.
   */
  later?: (user: string, work: Work) => Promise<Pick<OperationResult<T>, 'body' | 'type'>>
}
