/** Removes file content from responses to API keys without the read scope. */
import { type ErrorCode, Problem } from '../../contract/errors.ts'

/**
 * Errors for API keys without the read scope, by code: unchanged (true), without hint and location (false),
 * or with this message. A missing code is a compile error.
 */
const ERROR_VISIBILITY: Record<ErrorCode, boolean | string> = {
  invalid_request: true,
  invalid_query: false,
  bad_data: true,
  column_exists: true,
  unknown_column: false,
  unknown_table: true,
  type_change: 'values do not fit the types of the columns',
  column_loss: 'columns of the grid would be lost',
  row_loss: 'rows of the grid would be lost',
  bad_keys: 'the primary key of the grid does not identify its rows',
  bad_checks: true,
  checks_failed: 'the data fails checks',
  unauthenticated: true,
  forbidden: true,
  gone: true,
  not_found: true,
  method_not_allowed: true,
  already_exists: true,
  conflict: true,
  derived_grid: true,
  version_mismatch: true,
  too_slow: true,
  quota_exceeded: 'the quota of the owner is used up',
  too_large: true,
  unsupported_media_type: true,
  idempotency_mismatch: true,
  bad_figure: true,
  rate_limited: true,
  aborted: true,
  internal: true,
  damaged: true,
  no_chromium: true,
  no_duckdb: true,
  no_temporary_folder: true,
  overloaded: true,
  wrong_server: true,
  disk_full: true,
  failed: true,
  usage: true,
  no_such_file: true,
  unreachable: true,
  partly_done: true,
  interrupted: true,
}

/** Removes file content (column names, values) from an error, for API keys without the read scope. */
export function redactError(error: unknown): unknown {
  if (!(error instanceof Problem)) return error
  const { code, message, field } = error
  const visibility = ERROR_VISIBILITY[code]
  if (visibility === true) return error
  return typeof visibility === 'string'
    ? new Problem(code, visibility, { hint: '' })
    : new Problem(code, message, { field, hint: '' })
}

/** Response fields sent to API keys without the read scope: the created file and its links. */
const VISIBLE_FIELDS: ReadonlySet<string> = new Set([
  ...['fid', 'filetype', 'owner', 'web_url', 'embed_url', 'new_fid', 'grid_fid'],
  ...['action', 'rows_added', 'emails_sent'],
  // Fields of a new API key: it never has more scopes than this one.
  ...['id', 'received', 'username', 'api_key', 'scopes', 'expires_at', 'created_at'],
])

/** Removes all fields with file content from a response body. */
export function redactBody(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const visible: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(body)) {
    if (field === 'file') visible.file = redactBody(value)
    else if (field === 'files') visible.files = (value as unknown[]).map(redactBody)
    // Warnings name columns. Clients expect the array.
    else if (field === 'warnings') visible.warnings = []
    else if (VISIBLE_FIELDS.has(field)) visible[field] = value
  }
  return visible
}
