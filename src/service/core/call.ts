import type { Fid } from '../../contract/fid.ts'
import type { FileKind, OperationName, QueryOf } from '../../contract/operations.ts'
import type { Bytes } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import type { WriteKey } from '../store/idempotency.ts'

/** One request, checked against its operation. */
export interface OperationCall<N extends OperationName = OperationName> {
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

export interface OperationResult<T> {
  body: T
  etag?: string
  /** Media type of a streamed body. */
  type?: string
}
