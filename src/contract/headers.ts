import * as s from './schema.ts'

/**
 * Prefixes of the service's own headers. `Gridline-<Name>` is canonical; `Service-<Name>` and
 * `Plotly-<Name>` (sent by clients of the old service) are accepted too. See docs/api.md#legacy-clients.
 */
export const prefixes = ['gridline-', 'service-', 'plotly-'] as const

/** Percent of the rows of a grid that Delete-Missing removes without Max-Shrink. */
export const MAX_REMOVED = 10

export const conflictRules = ['fail', 'rename', 'replace', 'append'] as const
export type ConflictRule = (typeof conflictRules)[number]

/** Upload headers. Those from `Delimiter` on control how text is parsed. See docs/api.md#upload. */
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
        'What to do if the name is taken: `fail` (409), `rename` (to `sales (1)`; the default), `replace` (keeps the fid, the link, and the uids of columns with the same name), `append` (matches columns by name).',
    }),
  ),
  'Source-Tag': s.optional(
    s.string({
      description:
        'Any text of up to 200 characters that identifies the file, such as a hash. The metadata of the grid has it as source_tag until the grid changes.',
    }),
  ),
  Provenance: s.optional(
    s.string({
      description:
        'Percent-encoded text of up to 500 characters on where the data is from, such as a commit and a run. The history of the grid has it as source.',
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
        'Column types as a percent-encoded JSON object, for example {"zip": "text"}: number, text, boolean, date, datetime, date-dmy or date-mdy.',
    }),
  ),
  'Allow-Type-Change': s.optional(
    s.boolean({
      description:
        'Whether appended rows can change the type of a column. Default: false for CSV, TSV and NDJSON (400 with line and column), true for a JSON body of rows.',
    }),
  ),
  'Allow-Column-Loss': s.optional(
    s.boolean({
      description:
        'For replace: if false, a file that lacks columns of the grid is refused (409). Default: true.',
    }),
  ),
  'Max-Shrink': s.optional(
    s.integer({
      minimum: 0,
      description:
        'For replace: by how many percent the number of rows may shrink. A file with fewer rows, or with none, is refused (409 row_loss). Default: no check.',
    }),
  ),
  Key: s.optional(
    s.string({
      description:
        'Percent-encoded names of columns, comma-separated, whose values tell rows apart. The grid remembers them as primary_key. Rows that it has with the same key are updated in place, others appended; columns that the file lacks keep their values. A comma alone removes the key.',
    }),
  ),
  'Delete-Missing': s.optional(
    s.boolean({
      description:
        'With a key: removes rows that the file lacks. More than 10 % of the rows, or than Max-Shrink, are refused (409 row_loss). Default: false.',
    }),
  ),
  Draft: s.optional(
    s.string({
      description:
        'Name of a draft. The grid with this name stays as it is: the upload is seen only by those who may write it and ask for this version, for 14 days. See docs/drafts.md.',
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
        'If true, a file that is read with warnings is refused (400), and nothing is stored. A detected delimiter and empty sheets are no reason.',
    }),
  ),
  'Null-Text': s.optional(
    s.string({
      description:
        'Percent-encoded texts that represent a missing value, comma-separated. Empty cells and \\N are always missing values.',
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
      description: 'Of a workbook: percent-encoded name of a sheet, or its number from 1. Default: all.',
    }),
  ),
  Range: s.optional(
    s.string({ description: 'Of a sheet: percent-encoded range of cells, such as B2:D20, B:D or 2:20.' }),
  ),
  Flatten: s.optional(
    s.boolean({ description: 'Of JSON: whether members of nested objects become columns, at every level.' }),
  ),
  'As-Written': s.optional(
    s.boolean({
      description:
        'Whether dates and booleans keep each character: those that are stored in another way, such as 1/2/2024 or TRUE, are text.',
    }),
  ),
  Decimal: s.optional(s.string({ description: 'Percent-encoded decimal separator: `.` (default) or `,`.' })),
  Thousands: s.optional(
    s.string({ description: 'Percent-encoded thousands separator: a character, or `space`. Default: none.' }),
  ),
  Locale: s.optional(
    s.string({
      description:
        'A language tag, such as de or en-US: sets the decimal and thousands separators, and reads columns of dates in its order of day and month.',
    }),
  ),
} as const

/** Filename of the upload. This header has no prefix. */
export const FILE_NAME_HEADER = 'X-File-Name'
export const IDEMPOTENCY_HEADER = 'Idempotency-Key'
export const REQUEST_ID_HEADER = 'X-Request-Id'

/** A write with this header, `true`, is performed and rolled back: its response says what it would do. */
export const DRY_RUN_HEADER = 'Dry-Run'

/** Why a change is made, as percent-encoded text: the versions that begin with it say so. */
export const MESSAGE_HEADER = 'Message'
/** Characters of a message. */
export const MAX_MESSAGE = 500

/** Cache: header name → its prefixed names in lower case. */
const prefixedNames = new Map<string, readonly string[]>()

/** The value of a header under any prefix. `Gridline-` takes precedence. */
export function prefixed(headers: { get(name: string): string | null }, name: string): string | undefined {
  let names = prefixedNames.get(name)
  if (!names) {
    names = prefixes.map((prefix) => prefix + name.toLowerCase())
    prefixedNames.set(name, names)
  }
  for (const one of names) {
    const value = headers.get(one)
    if (value !== null) return value
  }
  return undefined
}

/** What an image of a plot does not show because its data is gone, as a percent-encoded text. Absent otherwise. */
export const MISSING_HEADER = 'gridline-missing'

/** What an image leaves out, although it is drawn, as a percent-encoded text. Absent otherwise. */
export const WARNING_HEADER = 'gridline-warning'
