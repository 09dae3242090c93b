// One validated request, as operations receive it, and the result that they return.
import type { Fid } from '../../contract/fid.ts'
import type {
  BodyOf,
  FileKind,
  HeadersOf,
  OperationName,
  QueryOf,
  RawOf,
} from '../../contract/operations/index.ts'
import type { Bytes, RawJson, WorkBudget } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import type { WriteKey } from '../store/aggregates/idempotency.ts'
import type { Trace } from '../tracing/tracing.ts'

/** Fields of a JSON body as an operation receives them. Fields that the contract marks `raw` are unparsed. */
export type FieldsOf<N extends OperationName> = {
  [K in keyof BodyOf<N>]: K extends RawOf<N> ? RawJson : BodyOf<N>[K]
}

/** One request, independent of its operation. Access, version and idempotency checks take it. */
export interface Call {
  operation: OperationName
  caller: Caller | undefined
  /** The file id in the path; unused by operations without one. */
  fid: Fid
  /** Filetype that the path is restricted to; undefined for any. */
  filetype: FileKind | undefined
  /** The other path parameter: a user, a team or a key. */
  name: string
  /** The `share_key` query parameter, which opens one private file for reading. */
  shareKey: string | undefined
  /** The `version` query parameter: the requested version of the file. */
  version: string | undefined
  /** Bytes of a body that is not JSON. */
  bytes: Bytes
  /** Media type of the body, in lower case and without parameters. */
  contentType: string
  /** X-File-Name. */
  fileName: string | undefined
  /** The If-Match header. */
  ifMatch: string | undefined
  /** Returns whether the client has disconnected. */
  isAborted?: () => boolean
  /** Trace that the request belongs to. */
  trace: Trace | undefined
  /** Reason of the change, shown in the version history. */
  message: string | undefined
  /** Returns the idempotency key of this write, for a transaction on the files of `owner`. */
  writeKey(owner: string): WriteKey
}

/** One request, validated against its operation and typed by it. */
export interface OperationCall<N extends OperationName> extends Call {
  operation: N
  query: QueryOf<N>
  /** Gridline's own request headers, by name without prefix. */
  headers: HeadersOf<N>
  /** Fields of a JSON body. Fields that the contract marks `raw` are unparsed. */
  fields: FieldsOf<N>
}

export interface OperationResult<T> {
  body: T
  etag?: string
  /** Media type of a streamed body. */
  type?: string
  /** True if pages of other origins must not display the body. */
  isSameOriginOnly?: boolean
  /** Additional response headers. */
  headers?: Record<string, string>
  /** Returns the streamed body compressed with Brotli, for clients that accept it. */
  brotli?: () => Bytes
  /**
   * Creates the body of a slow response. Runs after the request has left the queue, and not at all if the
   * client already has this `etag`. `user` is the user or IP address; `work` bounds the cost.
   */
  createBody?: (
    user: string,
    work: WorkBudget,
  ) => Promise<Pick<OperationResult<T>, 'body' | 'type' | 'headers'>>
}
