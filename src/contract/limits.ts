// Limits of the service, and how operators override them.

import { Problem } from './errors.ts'
import { findClosest } from './message-texts.ts'

/**
 * All limits. Operators can override them with `GRIDLINE_LIMIT_<NAME>`; some checks always use the default.
 * Errors name the limit, its value and the actual size. See docs/api.md#limits.
 */
const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB

export const limits = {
  upload_bytes: { value: 16 * GiB, unit: 'bytes', what: 'one uploaded file, as sent' },
  json_body_bytes: { value: 64 * MiB, unit: 'bytes', what: 'one JSON body that carries data or a figure' },
  small_body_bytes: { value: 1 * MiB, unit: 'bytes', what: 'any other JSON or form body' },
  form_fields: { value: 1_000, unit: 'fields', what: 'fields of a form-encoded or multipart body' },
  bodies_bytes: {
    value: 512 * MiB,
    unit: 'bytes',
    what: 'all JSON bodies in memory; at most half of it for one user',
  },
  form_bytes: {
    value: 16 * MiB,
    unit: 'bytes',
    what: 'one form of a share button, which anyone can send (POST /external)',
  },
  forms_bytes: {
    value: 64 * MiB,
    unit: 'bytes',
    what: 'all such forms in memory; at most half of it for one IP address',
  },
  forms_at_once: {
    value: 8,
    unit: 'forms',
    what: 'such forms received at once; at most half of them from one IP address',
  },
  body_bytes_per_second: {
    value: 1 * KiB,
    unit: 'bytes',
    what: 'minimum transfer rate per second of a request body or a response',
  },
  slow_seconds: {
    value: 10,
    unit: 'seconds',
    what: 'maximum time that a connection may stay below that rate',
  },
  connections: { value: 4_096, unit: 'connections', what: 'open connections of one server' },
  requests_at_once: {
    value: 128,
    unit: 'requests',
    what: 'requests processed at once; at most half of them for one user',
  },
  requests_waiting: {
    value: 1_024,
    unit: 'requests',
    what: 'requests waiting in the queue; at most half of them for one user',
  },
  wait_seconds: { value: 3, unit: 'seconds', what: 'maximum time that a request waits in the queue' },
  uploads_at_once: {
    value: 32,
    unit: 'uploads',
    what: 'uploads processed at once; at most half of them for one user',
  },
  version_days: { value: 30, unit: 'days', what: 'time for which every version of a file is kept' },
  versions: { value: 1_000, unit: 'versions', what: 'versions of a file that are kept for that time' },
  daily_version_days: {
    value: 365,
    unit: 'days',
    what: 'time for which the last version of each day is kept',
  },
  draft_days: { value: 14, unit: 'days', what: 'lifetime of a draft' },
  drafts: { value: 1_000, unit: 'drafts', what: 'drafts of one user' },
  resumable_uploads: {
    value: 32,
    unit: 'uploads',
    what: 'open uploads in parts; at most half of them for one user',
  },
  resume_seconds: {
    value: 120,
    unit: 'seconds',
    what: 'maximum wait of an upload in parts for its next bytes',
  },
  record_bytes: { value: 16 * MiB, unit: 'bytes', what: 'one line of an uploaded file' },
  columns: { value: 10_000, unit: 'columns', what: 'columns in one grid' },
  column_name_length: { value: 1_000, unit: 'characters', what: 'a column name' },
  filename_length: { value: 255, unit: 'characters', what: 'a filename' },
  metadata_bytes: { value: 256 * KiB, unit: 'bytes', what: 'metadata of one file' },
  json_depth: { value: 256, unit: 'levels', what: 'nesting of a JSON value' },
  json_members: { value: 100_000, unit: 'members', what: 'members of one JSON object' },
  figure_columns: {
    value: 100_000,
    unit: 'columns',
    what: 'columns that one figure refers to; a column counts each time it is referenced',
  },
  figure_traces: { value: 100_000, unit: 'traces', what: 'traces of one figure, and of its frames' },
  figure_grids: { value: 1_000, unit: 'grids', what: 'grids that one figure refers to' },
  path_depth: { value: 64, unit: 'levels', what: 'nested folders above a file' },
  archive_bytes: { value: 4 * GiB, unit: 'bytes', what: 'one archive or workbook, as sent' },
  unpacked_bytes: { value: 16 * GiB, unit: 'bytes', what: 'content of an archive or workbook, unpacked' },
  archive_entries: {
    value: 1_000,
    unit: 'files',
    what: 'data files in one archive, or sheets in a workbook',
  },
  compression_ratio: { value: 200, unit: 'times', what: 'maximum ratio of unpacked to compressed size' },
  emails_per_day: { value: 50, unit: 'e-mails', what: 'e-mails that one user can send per day' },
  alerts: { value: 200, unit: 'alerts', what: 'alerts of one user' },
  mailings: { value: 50, unit: 'mailings', what: 'charts and boards that one user sends regularly' },
  collaborators: { value: 1_000, unit: 'collaborators', what: 'collaborators on one file' },
  import_seconds: { value: 60, unit: 'seconds', what: 'maximum time to fetch the file of a URL import' },
  requests_per_minute: {
    value: 0,
    unit: 'requests',
    what: 'requests of one user or IP address per minute; 0: unlimited',
  },
  database_connections: { value: 16, unit: 'connections', what: 'connections of one process to PostgreSQL' },
  lock_seconds: {
    value: 5,
    unit: 'seconds',
    what: 'maximum wait for a row lock (PostgreSQL)',
  },
  statement_seconds: {
    value: 60,
    unit: 'seconds',
    what: 'maximum duration of one database statement (PostgreSQL)',
  },
  images_at_once: {
    value: 2,
    unit: 'images',
    what: 'images of plots drawn at once; at most half for one user',
  },
  images_waiting: {
    value: 64,
    unit: 'images',
    what: 'images waiting to be drawn; at most half of them for one user',
  },
  image_seconds: { value: 20, unit: 'seconds', what: 'maximum time to draw one image, and to wait for it' },
  image_memory_bytes: { value: 2 * GiB, unit: 'bytes', what: 'memory of the browser that draws images' },
  image_figure_bytes: {
    value: 64 * MiB,
    unit: 'bytes',
    what: 'a figure with its data, to be drawn as an image',
  },
  image_pixels: { value: 25_000_000, unit: 'pixels', what: 'pixels of one image' },
  image_cache_bytes: { value: 64 * MiB, unit: 'bytes', what: 'images cached in memory' },
  queries_at_once: {
    value: 2,
    unit: 'queries',
    what: 'queries in SQL that run at once; at most half of them for one user',
  },
  query_seconds: { value: 10, unit: 'seconds', what: 'maximum time of one query' },
  query_memory_bytes: { value: 1 * GiB, unit: 'bytes', what: 'memory of one query' },
  query_result_bytes: { value: 256 * MiB, unit: 'bytes', what: 'the result of one query, as JSON' },
  query_cache_bytes: {
    value: 4 * GiB,
    unit: 'bytes',
    what: 'copies of grids for queries, on disk; a copy is deleted a day after its last use',
  },
  sort_bytes: {
    value: 64 * MiB,
    unit: 'bytes',
    what: 'values to sort rows by, or rows to reorder',
  },
  evaluation_work: {
    value: 20_000_000_000,
    unit: 'steps',
    what: 'characters read and values compared per request: filters, statistics, checks, diffs, sorting',
  },
  anonymous_work: {
    value: 1_000_000_000,
    unit: 'steps',
    what: 'the same for a request without an account',
  },
  transform_seconds: {
    value: 20,
    unit: 'seconds',
    what: 'evaluating the transforms of one figure',
  },
  row_work: {
    value: 24_000_000,
    unit: 'steps',
    what: 'characters of one row, counted once per condition that reads them; up to 24 times for patterns with _',
  },
  sort_rows: { value: 5_000_000, unit: 'rows', what: 'rows that are sorted at once' },
  describes_at_once: {
    value: 4,
    unit: 'grids',
    what: 'grids whose statistics are computed at once; at most half for one user',
  },
  sorts_waiting: {
    value: 16,
    unit: 'pages',
    what: 'pages waiting to sort a grid; at most half of them for one user',
  },
  live_pages: { value: 1_000, unit: 'pages', what: 'open pages of plots that receive live updates' },
  list_position: {
    value: 10_000,
    unit: 'files',
    what: 'files before a page of a list that is requested by number',
  },
  drain_seconds: {
    value: 5,
    unit: 'seconds',
    what: 'time that a stopping server still serves requests, while /readyz reports it',
  },
  stop_seconds: {
    value: 60,
    unit: 'seconds',
    what: 'time that running uploads have to finish after that',
  },
  audit_days: { value: 365, unit: 'days', what: 'lifetime of events in the audit log' },
  user_files: { value: 0, unit: 'files', what: 'files of a user without a quota of their own; 0: unlimited' },
  user_rows: { value: 0, unit: 'rows', what: 'rows in all grids of such a user; 0: unlimited' },
  user_bytes: {
    value: 0,
    unit: 'bytes',
    what: 'values, figures and metadata of such a user before compression, also of earlier versions; 0: unlimited',
  },
  page_size: { value: 1_000, unit: 'items', what: 'one page of a list' },
  idempotency_key_length: { value: 255, unit: 'characters', what: 'an Idempotency-Key' },
} as const satisfies Record<string, { value: number; unit: string; what: string }>

export type LimitName = keyof typeof limits
export type Limits = { [name in LimitName]: number }

const VARIABLE_PREFIX = 'GRIDLINE_LIMIT_'
/** Maximum delay of a Node.js timer, in seconds. */
const MAX_TIMER_SECONDS = 2_147_483

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(limits, name)
}

/**
 * Returns the limits in effect: defaults overridden by the environment, in the units of the table. Throws
 * `usage` for unknown limits and invalid values.
 */
export function readLimits(environment: Record<string, string | undefined> = {}): Limits {
  const result = Object.fromEntries(
    Object.entries(limits).map(([name, { value }]) => [name, value as number]),
  )
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || text === undefined) continue
    const name = variable.slice(VARIABLE_PREFIX.length).toLowerCase()
    if (!isLimitName(name)) {
      const similar = findClosest(name, Object.keys(limits))
      throw new Problem('usage', `${variable}: unknown limit`, {
        hint: `${similar === undefined ? '' : `Did you mean ${VARIABLE_PREFIX}${similar.toUpperCase()}? `}List the limits with: gridline help limits`,
      })
    }
    const value = Number(text)
    // Limits that are off by default accept 0.
    const min = limits[name].value === 0 ? 0 : 1
    if (!/^\d+$/.test(text.trim()) || !Number.isSafeInteger(value) || value < min)
      throw new Problem(
        'usage',
        `${variable}=${text}: must be a whole number${min === 1 ? ' above zero' : ''}`,
        { hint: `Its unit is ${limits[name].unit}, and its default ${limits[name].value}.` },
      )
    if (limits[name].unit === 'seconds' && value > MAX_TIMER_SECONDS)
      throw new Problem('usage', `${variable}=${text}: the maximum is ${MAX_TIMER_SECONDS} seconds`)
    result[name] = value
  }
  return result as Limits
}

/** Lists limits that differ from their default: `name=value`. */
export function listChangedLimits(current: Limits): string[] {
  return (Object.keys(limits) as LimitName[])
    .filter((name) => current[name] !== limits[name].value)
    .map((name) => `${name}=${current[name]}`)
}

export const defaultLimits: Limits = readLimits()

/** Formats a size: 1536 → `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  let value = bytes
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  if (bytes === 1) return '1 byte'
  return `${unit === 0 || Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`
}
