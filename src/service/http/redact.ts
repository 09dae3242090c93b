import { type ErrorCode, Problem } from '../../contract/errors.ts'
import type { Caller } from '../access/access.ts'

/** Whether a caller may see what files contain: everybody but API keys without the read scope. */
export function mayRead(caller: Caller | undefined): boolean {
  return !caller || caller.scopes.has('read') || caller.scopes.has('admin')
}

/**
 * What API keys without the read scope are told: all of an error, nothing of its hint and place (false), or this text in
 * place of its message. A code that is not decided does not compile.
 */
const told: Record<ErrorCode, boolean | string> = {
  invalid_request: true,
  invalid_query: false,
  bad_data: true,
  column_exists: true,
  unknown_column: false,
  type_change: 'values do not fit the types of the columns',
  column_loss: 'columns of the grid would be lost',
  row_loss: 'rows of the grid would be lost',
  bad_keys: 'the keys of the grid do not tell its rows apart',
  bad_checks: true,
  checks_failed: 'the data fails checks',
  unauthenticated: true,
  forbidden: true,
  not_found: true,
  method_not_allowed: true,
  already_exists: true,
  conflict: true,
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
export function withoutNames(error: unknown): unknown {
  if (!(error instanceof Problem)) return error
  const { code, message, field } = error
  const what = told[code]
  if (what === true) return error
  return typeof what === 'string'
    ? new Problem(code, what, { hint: '' })
    : new Problem(code, message, { field, hint: '' })
}

/** Response fields sent to API keys without the read scope: what was created, and where. */
const SHOWN: ReadonlySet<string> = new Set([
  'fid',
  'filetype',
  'owner',
  'web_url',
  'embed_url',
  'new_fid',
  'grid_fid',
  'action',
  'rows_added',
  'emails_sent',
  // Fields of a new API key, which has no more scopes than this one.
  'id',
  'received',
  'username',
  'api_key',
  'scopes',
  'expires_at',
  'created_at',
])

export function withoutContent(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const shown: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(body)) {
    if (field === 'file') shown.file = withoutContent(value)
    else if (field === 'files') shown.files = (value as unknown[]).map(withoutContent)
    // They name columns; clients go through them.
    else if (field === 'warnings') shown.warnings = []
    else if (SHOWN.has(field)) shown[field] = value
  }
  return shown
}
