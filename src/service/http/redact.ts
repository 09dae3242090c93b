import { Problem } from '../../contract/errors.ts'
import type { Caller } from '../access/access.ts'

/** Whether a caller may see what files contain: everybody but API keys without the read scope. */
export function mayRead(caller: Caller | undefined): boolean {
  return !caller || caller.scopes.has('read') || caller.scopes.has('admin')
}

/** Removes file content (column names, values) from an error, for API keys without the read scope. */
export function withoutNames(error: unknown): unknown {
  if (!(error instanceof Problem)) return error
  const { code, message, field } = error
  if (code === 'type_change')
    return new Problem(code, 'values do not fit the types of the columns', { hint: '' })
  if (code === 'column_loss') return new Problem(code, 'columns of the grid would be lost', { hint: '' })
  if (code === 'row_loss') return new Problem(code, 'rows of the grid would be lost', { hint: '' })
  return code === 'unknown_column' ? new Problem(code, message, { field, hint: '' }) : error
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
