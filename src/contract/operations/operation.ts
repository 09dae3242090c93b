import type { LimitName } from '../limits.ts'
import type * as s from '../schema.ts'

/**
 * What an operation requires of the caller: nothing (`anyone`), an account (`caller`) or administrator
 * rights (`operator`). For an operation on a file: the access to that file (`service/access/policy.ts`).
 */
export type Access = 'anyone' | 'caller' | 'operator' | FileAccess
export type FileAccess = 'read' | 'collaborate' | 'write' | 'trash' | 'own'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** First path segment → filetype. `files` matches every filetype. */
export const resources = {
  files: undefined,
  grids: 'grid',
  plots: 'plot',
  folders: 'fold',
  extras: 'extra',
} as const
export type Resource = keyof typeof resources

export type Body =
  | { kind: 'none' }
  /** `raw`: fields passed to the handler as unparsed bytes. `form`: form-encoded bodies are accepted too. */
  | { kind: 'json'; schema: s.ObjectSchema; form?: boolean; raw?: readonly string[]; limit: LimitName }
  /** The bytes of a data file. With `json`, a JSON body with that schema is accepted too. */
  | {
      kind: 'bytes'
      types: readonly string[]
      json?: s.ObjectSchema
      raw?: readonly string[]
      limit: LimitName
    }

export interface Operation {
  summary: string
  method: Method
  /** An alternative method with the same effect. */
  synonym?: Method
  /** `:fid` is a file id. The resource in the path restricts which filetype is found. */
  path: string
  /** Other resources that have the same route: `/v2/grids/:fid/trash` besides `/v2/files/:fid/trash`. */
  under?: readonly Resource[]
  access: Access
  /**
   * What the operation is to agents (`gridline mcp`): a tool that reads, one that only adds, one that changes or removes
   * what is there, or none. An operation that returns or needs credentials, or that takes several requests, is none.
   */
  agents: 'reads' | 'adds' | 'changes' | 'none'
  /** Requires an account even if the access level alone does not. */
  account?: true
  query?: s.ObjectSchema
  /** Takes `version` in the query: what it returns is that of an earlier version. See docs/versions.md. */
  ofVersions?: true
  /** Repeating a request changes nothing by itself: it needs no idempotency key. */
  repeatable?: true
  /** It has effects that cannot be rolled back: the header `Dry-Run` is refused. */
  lasts?: true
  /** Headers of the service's own, without their prefix. */
  headers?: Record<string, s.Schema>
  body: Body
  status: 200 | 201 | 204
  /** JSON Schema of the response body; `stream` for bytes with one of the media types in `produces`. */
  result: s.Schema | 'stream' | 'none'
  /** Media types of a streamed response. Default: JSON. */
  produces?: readonly string[]
}

/** What the query parameter of operations with `ofVersions` is. */
export const VERSION =
  'The version to read: a number, -1 (the one before the present one), a date or time, or the name of a kept version.'
