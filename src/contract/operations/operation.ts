// Type of an API operation.
import type { LimitName } from '../limits.ts'
import type * as s from '../schema.ts'

/**
 * Requirement of an operation: none (`anyone`), an account (`caller`) or administrator rights (`operator`).
 * For an operation on a file: access to that file (`service/access/policy.ts`).
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
  dashboards: 'dashboard',
} as const
export type Resource = keyof typeof resources

export type Body =
  | { kind: 'none' }
  /** `raw`: fields that the handler receives as unparsed bytes. `form`: form encoding is accepted too. */
  | { kind: 'json'; schema: s.ObjectSchema; form?: boolean; raw?: readonly string[]; limit: LimitName }
  /** Bytes of a data file. With `json`, a JSON body with that schema is accepted too. */
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
  /** Alternative method with the same effect. */
  synonym?: Method
  /** Path. `:fid` is a file id. The resource in the path restricts the filetype. */
  path: string
  /** Other resources with the same route: `/v2/grids/:fid/trash` besides `/v2/files/:fid/trash`. */
  alsoUnder?: readonly Resource[]
  access: Access
  /**
   * Tool of agents (`gridline mcp`): one that reads, only adds, changes or removes data, or none. Operations
   * that return or need credentials, or take several requests, are none.
   */
  agentTool: 'reads' | 'adds' | 'changes' | 'none'
  /** True if an account is required even though the access level does not say so. */
  requiresAccount?: true
  query?: s.ObjectSchema
  /** True if the query parameter `version` selects an earlier version. See docs/versions.md. */
  takesVersion?: true
  /** True if repeated requests have no further effect: no idempotency key is needed. */
  isIdempotent?: true
  /** True for effects that cannot be rolled back: the header `Dry-Run` is refused. */
  lasts?: true
  /** Gridline's own headers, by name without prefix. */
  headers?: Record<string, s.Schema>
  body: Body
  status: 200 | 201 | 204
  /** JSON Schema of the response body; `stream`: bytes with a media type of `produces`. */
  result: s.Schema | 'stream' | 'none'
  /** Media types of a streamed response. Default: JSON. */
  produces?: readonly string[]
}

/** Description of the query parameter `version`. */
export const VERSION_DESCRIPTION =
  'The version to read: a number, -1 (the previous one), a date or time, or the name of a kept version.'
