import type { Fid } from '../../contract/fid.ts'
import type { FileKind, OperationName, QueryOf } from '../../contract/operations.ts'
import type { Bytes } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import type { WriteKey } from '../store/idempotency.ts'

/** One request, validated against its operation. */
export interface OperationCall<N extends OperationName = OperationName> {
  operation: N
  caller: Caller | undefined
  /** The file id in the path; unused by operations without one. */
  fid: Fid
  /** The only filetype found under this path; undefined for all. */
  filetype: FileKind | undefined
  /** The other path parameter: a user, a team or a key. */
  name: string
  /** The `share_key` query parameter, which opens one private file for reading. */
  shareKey: string | undefined
  query: QueryOf<N>
  /** The service's own headers, by name without prefix. */
  headers: Record<string, string | number | boolean | undefined>
  /** Fields of a JSON body. Fields that the contract marks `raw` are unparsed. */
  fields: Record<string, unknown>
  /** Bytes of any other body. */
  bytes: Bytes
  /** Media type of the body, in lower case and without parameters. */
  contentType: string
  /** X-File-Name. */
  fileName: string | undefined
  /** The If-Match header. */
  ifMatch: string | undefined
  /** The idempotency key of this write, for a transaction on the files of `owner`. */
  writeKey(owner: string): WriteKey
}

export interface OperationResult<T> {
  body: T
  etag?: string
  /** Media type of a streamed body. */
  type?: string
}
