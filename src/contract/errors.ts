// Error codes, and the error class of server and command line.
import type { CheckReport } from './resources/checks.ts'

/**
 * Error codes with HTTP status, exit code of the command line, and hint. See docs/api.md#errors. Existing
 * clients retry 429 and 503 for minutes: only errors that a retry can fix may have these.
 */
export const errorCodes = {
  invalid_request: { status: 400, exit: 2 },
  invalid_query: { status: 400, exit: 2 },
  bad_data: { status: 400, exit: 7 },
  column_exists: { status: 400, exit: 6 },
  unknown_table: { status: 400, exit: 3 },
  unknown_column: { status: 400, exit: 7 },
  type_change: { status: 400, exit: 7 },
  column_loss: { status: 409, exit: 6 },
  row_loss: { status: 409, exit: 6 },
  bad_keys: { status: 400, exit: 7 },
  bad_checks: { status: 400, exit: 7 },
  checks_failed: { status: 422, exit: 7 },
  unauthenticated: { status: 401, exit: 4, hint: 'Log in with: gridline login' },
  forbidden: { status: 403, exit: 5 },
  not_found: { status: 404, exit: 3 },
  gone: { status: 410, exit: 3 },
  method_not_allowed: { status: 405, exit: 2 },
  already_exists: { status: 409, exit: 6 },
  conflict: { status: 409, exit: 6 },
  derived_grid: { status: 409, exit: 6 },
  wrong_server: {
    status: 421,
    exit: 9,
    hint: 'Send all requests of an upload in parts to the server that its id names.',
  },
  version_mismatch: { status: 412, exit: 6, hint: 'Read the file again and repeat the change.' },
  too_slow: { status: 408, exit: 9, hint: 'Check the connection, then try again.' },
  too_large: { status: 413, exit: 7 },
  quota_exceeded: {
    status: 413,
    exit: 7,
    hint: 'Delete files permanently, or forget earlier versions. An administrator can change the quota: gridline admin user quota NAME',
  },
  unsupported_media_type: { status: 415, exit: 7 },
  idempotency_mismatch: { status: 422, exit: 6 },
  bad_figure: { status: 422, exit: 7 },
  rate_limited: { status: 429, exit: 9, hint: 'Try again in a moment.' },
  // The client disconnected; nobody reads the response.
  aborted: { status: 499, exit: 9 },
  internal: { status: 500, exit: 1 },
  damaged: { status: 500, exit: 1, hint: 'Restore the file from a backup, or upload it again.' },
  no_chromium: { status: 501, exit: 1 },
  no_duckdb: { status: 501, exit: 1 },
  no_temporary_folder: {
    status: 501,
    exit: 1,
    hint: 'Set TMPDIR to a folder that can be written to.',
  },
  overloaded: { status: 503, exit: 9, hint: 'Try again in a moment.' },
  disk_full: {
    status: 507,
    exit: 1,
    hint: 'Free some disk space. Nothing was changed, and files can still be read.',
  },
  // Errors of the command line only; the status is never sent.
  failed: { status: 500, exit: 1 },
  usage: { status: 400, exit: 2 },
  no_such_file: { status: 404, exit: 3 },
  unreachable: { status: 503, exit: 9 },
  partly_done: { status: 500, exit: 8 },
  interrupted: { status: 500, exit: 130 },
} as const satisfies Record<string, { status: number; exit: number; hint?: string }>

export type ErrorCode = keyof typeof errorCodes

/** `field`: field of the body or query at fault. `path`: value inside it. `hint`: how to fix it. */
export interface ProblemInfo {
  field?: string
  path?: string
  hint?: string
  /** Position in a data file: line from 1, column by name or number. */
  line?: number
  column?: string | number
  /** Delay before the next attempt (from `Retry-After`), in ms. */
  retryAfter?: number
  /** True if another attempt would fail too. */
  isPermanent?: boolean
  /** For `checks_failed`: result of each rule, as in CheckReport. */
  checks?: CheckReport
  /** For `wrong_server`: name of the right server. */
  server?: string
  /** For `unknown_table`: names in the query that are no grids. */
  tables?: readonly string[]
}

/** Error with a code of the table above. Throw this for every error that a user should see. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly field?: string
  readonly path?: string
  readonly hint?: string
  readonly line?: number
  readonly column?: string | number
  readonly retryAfter?: number
  readonly isPermanent?: boolean
  readonly checks?: CheckReport
  readonly server?: string
  readonly tables?: readonly string[]

  constructor(code: ErrorCode, message: string, info: ProblemInfo = {}) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.field = info.field
    this.path = info.path
    this.line = info.line
    this.column = info.column
    this.retryAfter = info.retryAfter
    this.isPermanent = info.isPermanent
    this.checks = info.checks
    this.server = info.server
    this.tables = info.tables
    const { hint }: { status: number; hint?: string } = errorCodes[code]
    this.hint = info.hint ?? hint
  }

  get status(): number {
    return errorCodes[this.code].status
  }

  get exit(): number {
    return errorCodes[this.code].exit
  }
}

/** Body of every 4xx and 5xx response. The R client treats a body without `errors` as success. */
export interface ErrorBody {
  detail: string
  errors: {
    code: string
    message: string
    field?: string
    path?: string
    /** Position in a data file: line from 1, column by name or number. */
    line?: number
    column?: string | number
    hint?: string
    /** For `checks_failed`: result of each rule. */
    checks?: CheckReport
    /** For `wrong_server`: name of the right server. */
    server?: string
    /** For `unknown_table`: names in the query that are no grids. */
    tables?: readonly string[]
  }[]
}

export function formatErrorBody(problem: Problem): ErrorBody {
  const { code, message, field, path, line, column, hint, checks, server, tables } = problem
  return {
    detail: message,
    errors: [{ code, message, field, path, line, column, hint, checks, server, tables }],
  }
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code)
}

/** Returns the code of an error of Node.js or of a library, such as ENOENT; '' if it has none. */
export function errorCodeOf(error: unknown): string {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : ''
}

/** Returns the message of an error; anything else that was thrown as text. */
export function errorMessageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the message of the cause of an error, if it has one, or else of the error: `fetch` hides the cause. */
export function causeMessageOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message !== '' ? cause.message : errorMessageOf(error)
}

/** Returns a 400 `invalid_request` for a field. `path`: the field, or a value inside it: `cols.2.name`. */
export function invalidField(path: string, why: string): Problem {
  return new Problem('invalid_request', `${path}: ${why}`, { field: path.split('.')[0], path })
}

/** Returns `column_loss` for columns of a grid that new content lacks. `source`: the content, as in `the file`. */
export function columnLossError(
  source: string,
  filename: string,
  lost: readonly { name: string }[],
): Problem {
  const names = lost.slice(0, 10).map(({ name }) => name)
  const count = lost.length === 1 ? 'a column' : `${lost.length} columns`
  const more = lost.length > names.length ? ' …' : ''
  return new Problem(
    'column_loss',
    `${source} lacks ${count} of '${filename}', which would be lost: ${names.join(', ')}${more}`,
    { field: 'columns', hint: 'Add --yes to replace the grid anyway.' },
  )
}

/** Returns the result of a lookup; undefined if it fails with `not_found`. */
export async function undefinedIfNotFound<T>(lookup: Promise<T>): Promise<T | undefined> {
  try {
    return await lookup
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  }
}
