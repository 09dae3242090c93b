// Gridline's own request and response headers.
import * as s from './schema.ts'

/**
 * Prefixes of Gridline's own headers. `Gridline-<Name>` is canonical. `Service-<Name>` and `Plotly-<Name>`
 * (sent by clients of the old service) are accepted too. See docs/api.md#legacy-clients.
 */
export const HEADER_PREFIXES = ['gridline-', 'service-', 'plotly-'] as const

/** Maximum percentage of rows that Delete-Missing removes without Max-Shrink. */
export const MAX_REMOVED_PERCENT = 10

export const conflictRules = ['fail', 'rename', 'replace', 'append'] as const
export type ConflictRule = (typeof conflictRules)[number]

/** Upload headers. Those from `Delimiter` on control parsing. See docs/api.md#upload. */
export const uploadHeaders = {
  'World-Readable': s.optional(
    s.boolean({ description: 'Whether anyone can read the file. Default: false.' }),
  ),
  Parent: s.optional(s.integer({ description: 'Id of the folder for the file; -1 is the home folder.' })),
  'Parent-Path': s.optional(
    s.string({ description: 'Path of the folder, instead of Parent. Missing folders are created.' }),
  ),
  'On-Conflict': s.optional(
    s.enumOf(conflictRules, {
      description:
        'What to do if the name is taken: `fail` (409), `rename` (to `sales (1)`; the default), `replace` (keeps the fid, the link, and uids by column name), `append` (matches columns by name).',
    }),
  ),
  Idlocal: s.optional(
    s.integer({
      description:
        'Number of a new grid, as idlocal of grids.create. The file must have one table. Default: the next one.',
    }),
  ),
  Uids: s.optional(
    s.string({
      description:
        'Uids of the columns in their order, comma-separated, to keep those of another server, for a new grid or with `replace`. The file must have one table.',
    }),
  ),
  'Source-Tag': s.optional(
    s.string({
      description:
        'Text of up to 200 characters that identifies the file, such as a hash. The metadata of the grid contains it as source_tag until the grid changes.',
    }),
  ),
  Provenance: s.optional(
    s.string({
      description:
        'Percent-encoded text of up to 500 characters on the origin of the data, such as a commit and a run. The version history contains it as source.',
    }),
  ),
  Delimiter: s.optional(
    s.string({
      description: 'One character, or tab, comma, semicolon, pipe, space. Default: detected.',
    }),
  ),
  Encoding: s.optional(
    s.string({ description: 'An encoding of the WHATWG Encoding Standard. Default: detected.' }),
  ),
  Header: s.optional(
    s.boolean({ description: 'Whether the first row contains column names. Default: detected.' }),
  ),
  Columns: s.optional(
    s.string({
      description:
        'Column types as percent-encoded JSON, such as {"zip": "text"}: number, text, boolean, date, datetime, date-dmy or date-mdy.',
    }),
  ),
  'Columns-Optional': s.optional(
    s.boolean({
      description: 'Whether the file may lack some. Default: false.',
    }),
  ),
  'Allow-Type-Change': s.optional(
    s.boolean({
      description:
        'Whether appended rows can change the type of a column. Default: true for a JSON body of rows, otherwise false.',
    }),
  ),
  'Allow-Column-Loss': s.optional(
    s.boolean({
      description:
        'For replace: if false, a file without all columns of the grid is refused (409). Default: true.',
    }),
  ),
  'Max-Shrink': s.optional(
    s.integer({
      minimum: 0,
      description:
        'For replace: maximum decrease of the number of rows, in percent (409 row_loss). Default: no check.',
    }),
  ),
  Key: s.optional(
    s.string({
      description:
        'Percent-encoded names of the key columns, comma-separated, which become the primary_key. Rows with an existing key are updated, others appended; columns that the file lacks keep their values. A comma alone removes the key.',
    }),
  ),
  'Delete-Missing': s.optional(
    s.boolean({
      description:
        'With a key: removes rows that the file lacks. Refused (409 row_loss) above 10 % of the rows, or above Max-Shrink. Default: false.',
    }),
  ),
  Draft: s.optional(
    s.string({
      description:
        'Name of a draft, which only users with write access who request this version see, for 14 days: docs/drafts.md.',
    }),
  ),
  Checks: s.optional(
    s.string({
      description:
        'A checks file as percent-encoded JSON. Data that fails it is refused (422 checks_failed), and nothing is changed. See docs/checks.md.',
    }),
  ),
  Strict: s.optional(
    s.boolean({
      description:
        'If true, a file with warnings is refused (400), and nothing is stored. A detected delimiter and empty sheets do not count.',
    }),
  ),
  'Null-Text': s.optional(
    s.string({
      description:
        'Up to 100 percent-encoded texts of missing values, comma-separated. So are empty cells and \\N; with a comma alone, only empty cells.',
    }),
  ),
  Quote: s.optional(
    s.string({
      description:
        'Percent-encoded character that quotes cells, or `none`. Default: detected, double or single quotes.',
    }),
  ),
  Escape: s.optional(
    s.string({
      description:
        'Percent-encoded character before a quote inside a quoted cell, or `none`. Default: detected.',
    }),
  ),
  Skip: s.optional(s.integer({ description: 'Lines to skip at the beginning of the file.' })),
  'Skip-Last': s.optional(
    s.integer({
      minimum: 0,
      description: 'Lines to leave out at the end of the file, up to 1000. Empty lines do not count.',
    }),
  ),
  Comment: s.optional(
    s.string({ description: 'Percent-encoded character at the start of lines to skip. Default: none.' }),
  ),
  Sheet: s.optional(
    s.string({
      description: 'For workbooks: percent-encoded name of a sheet, or its number from 1. Default: all.',
    }),
  ),
  Range: s.optional(
    s.string({ description: 'For sheets: percent-encoded range of cells, such as B2:D20, B:D or 2:20.' }),
  ),
  Unpivot: s.optional(
    s.string({
      description:
        'Percent-encoded columns that become rows, comma-separated, as a range (2019-2023) or a pattern (temp_*).',
    }),
  ),
  Into: s.optional(
    s.string({
      description:
        'With Unpivot: percent-encoded names of the column for their names and the one for their values, comma-separated.',
    }),
  ),
  Flatten: s.optional(
    s.boolean({ description: 'For JSON: whether members of nested objects become columns, at every level.' }),
  ),
  'As-Written': s.optional(
    s.boolean({
      description:
        'Whether dates and booleans keep each character: 1/2/2024 or TRUE, which would be stored differently, become text. A column of the given type date or datetime keeps it for ISO 8601 texts.',
    }),
  ),
  Decimal: s.optional(s.string({ description: 'Percent-encoded decimal separator: `.` (default) or `,`.' })),
  Thousands: s.optional(
    s.string({ description: 'Percent-encoded thousands separator: a character, or `space`. Default: none.' }),
  ),
  Locale: s.optional(
    s.string({
      description:
        'A language tag, such as de or en-US: sets the decimal and thousands separators, and reads dates in its order of day and month.',
    }),
  ),
} as const

/** File name of the upload. This header has no prefix. */
export const FILE_NAME_HEADER = 'X-File-Name'
export const IDEMPOTENCY_HEADER = 'Idempotency-Key'
export const REQUEST_ID_HEADER = 'X-Request-Id'

/** Header of a dry run (`true`): the write is performed and rolled back. */
export const DRY_RUN_HEADER = 'Dry-Run'

/** Header with the reason of a change, percent-encoded. The new version shows it. */
export const MESSAGE_HEADER = 'Message'
/** Maximum length of a message. */
export const MAX_MESSAGE_CHARACTERS = 500

/** Cache: header name → prefixed names in lower case. */
const NAMES_WITH_PREFIX = new Map<string, readonly string[]>()

/** Returns the value of a header under any prefix; `Gridline-` takes precedence. Undefined if missing. */
export function getPrefixedHeader(
  headers: { get(name: string): string | null },
  name: string,
): string | undefined {
  let names = NAMES_WITH_PREFIX.get(name)
  if (!names) {
    names = HEADER_PREFIXES.map((prefix) => prefix + name.toLowerCase())
    NAMES_WITH_PREFIX.set(name, names)
  }
  for (const prefixedName of names) {
    const value = headers.get(prefixedName)
    if (value !== null) return value
  }
  return undefined
}

/** Response header: data that the image lacks because it was deleted, percent-encoded. Absent otherwise. */
export const MISSING_HEADER = 'gridline-missing'

/** Response header: what is wrong with an image or data, such as parts that were not drawn, percent-encoded. */
export const WARNING_HEADER = 'gridline-warning'
