import * as s from './schema.ts'

/**
 * Headers of the service's own. Each is sent as `Gridline-<Name>`; `Service-` (the reference's
 * placeholder) and `Plotly-` (what clients of the old service send) are read as well.
 */
export const prefixes = ['gridline-', 'service-', 'plotly-'] as const

export const conflictRules = ['fail', 'rename', 'replace', 'append'] as const
export type ConflictRule = (typeof conflictRules)[number]

/** Reference section 4.1, "Upload headers"; those from Delimiter on say how a text is to be read. */
export const uploadHeaders = {
  'World-Readable': s.optional(
    s.boolean({ description: 'Whether anyone may read the file; false if not given.' }),
  ),
  Parent: s.optional(
    s.integer({ description: 'Id of the folder to put the file in; -1 is the home folder.' }),
  ),
  'Parent-Path': s.optional(
    s.string({ description: 'Path of that folder instead; missing folders are made.' }),
  ),
  'On-Conflict': s.optional(
    s.enumOf(conflictRules, {
      description:
        'What to do if the name is taken: `fail` (409), `rename` (`sales (1)`, the default), `replace` (fid and link stay, and uids of columns whose names stay), `append` (rows matched to columns by name).',
    }),
  ),
  Delimiter: s.optional(
    s.string({
      description: 'One character, or tab, comma, semicolon, pipe, space; detected if not given.',
    }),
  ),
  Encoding: s.optional(
    s.string({ description: 'An encoding of the WHATWG standard; detected if not given.' }),
  ),
  Header: s.optional(
    s.boolean({ description: 'true: the first row is names; false: it is data; detected if not given.' }),
  ),
  Columns: s.optional(
    s.string({
      description:
        'Types of columns as a JSON object in percent-encoding: {"zip": "text"}; number, text or boolean.',
    }),
  ),
  'Allow-Type-Change': s.optional(
    s.boolean({
      description:
        'Of rows appended to a grid: whether values may change the type of a column. Default: false for CSV, TSV and NDJSON (400 with line and column), true for a JSON body of rows.',
    }),
  ),
  'Allow-Column-Loss': s.optional(
    s.boolean({
      description:
        'Of replace: false refuses (409) a file that lacks columns of the grid it replaces. Default: true.',
    }),
  ),
  'Null-Text': s.optional(
    s.string({
      description: 'Text that stands for a missing value, percent-encoded; the empty cell always does.',
    }),
  ),
} as const

/** Filename of the upload; not under a prefix. */
export const FILE_NAME_HEADER = 'X-File-Name'
export const IDEMPOTENCY_HEADER = 'Idempotency-Key'
export const REQUEST_ID_HEADER = 'X-Request-Id'

/** A header under each of its prefixes, in lower case: put together once, not for every request. */
const prefixedNames = new Map<string, readonly string[]>()

/** The header under whatever prefix it came; the service's own name wins. */
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
