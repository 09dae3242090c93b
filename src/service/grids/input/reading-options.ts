// Reads the headers of requests with data files: parsing options, provenance, strictness.
import { Problem } from '../../../contract/errors.ts'
import { delimiterOfFileName, isNotice } from '../../../contract/formats.ts'
import type { HeadersOf } from '../../../contract/operations/index.ts'
import {
  type DelimitedOptions,
  GIVEN_TYPES,
  type GivenType,
  parseDelimiter,
  parseStyleOptions,
} from '../../../ingest/index.ts'
import type { Call } from '../../core/call.ts'
import type { GridService } from '../service.ts'

/** A request that uploads or appends a data file. */
export type DataCall = Call & { headers: HeadersOf<'grids.upload'> }

/** Reads parsing options from the request headers. Throws `invalid_request`. */
export function parseReadingOptions(
  service: GridService,
  { headers, fileName }: Pick<DataCall, 'headers' | 'fileName'>,
): DelimitedOptions {
  const { Delimiter, Encoding, Header } = headers
  const decodeHeader = (
    name: 'Quote' | 'Escape' | 'Comment' | 'Decimal' | 'Thousands' | 'Sheet' | 'Range',
  ): string | undefined => {
    const value = headers[name]
    return value === undefined ? undefined : decodeText(value, name)
  }
  return {
    source: fileName ?? 'the upload',
    delimiter:
      Delimiter === undefined
        ? delimiterOfFileName(fileName ?? '')
        : parseDelimiter(decodeText(Delimiter, 'Delimiter')),
    encoding: Encoding,
    header: Header,
    types: parseColumnTypes(headers.Columns),
    areTypesOptional: headers['Columns-Optional'],
    keys:
      headers.Key === undefined
        ? undefined
        : headers.Key.split(',').flatMap((name) => decodeText(name, 'Key').trim() || []),
    nullTexts: parseNullTexts(headers['Null-Text']),
    skip: headers.Skip,
    skipLast: checkSkipLast(headers['Skip-Last']),
    sheet: decodeHeader('Sheet'),
    range: decodeHeader('Range'),
    flatten: headers.Flatten,
    asWritten: headers['As-Written'],
    ...parseStyleOptions({
      quote: decodeHeader('Quote'),
      escape: decodeHeader('Escape'),
      comment: decodeHeader('Comment'),
      decimal: decodeHeader('Decimal'),
      thousands: decodeHeader('Thousands'),
      locale: headers.Locale,
    }),
    limits: service.limits,
  }
}

/** Columns that become rows, in the syntax of the command line, and the names of the new columns. */
export interface UnpivotHeaders {
  unpivot: string
  into: string[]
}

/** Reads which columns become rows; undefined for none. Throws `invalid_request`. */
export function parseUnpivot({
  headers: { Unpivot, Into },
}: Pick<DataCall, 'headers'>): UnpivotHeaders | undefined {
  if (Unpivot === undefined && Into === undefined) return undefined
  if (Unpivot === undefined || Into === undefined)
    throw new Problem('invalid_request', 'Unpivot and Into belong together', { field: 'Into' })
  return {
    unpivot: decodeText(Unpivot, 'Unpivot'),
    into: decodeText(Into, 'Into')
      .split(',')
      .map((name) => name.trim()),
  }
}

/** Maximum length of a provenance, in characters. */
const MAX_PROVENANCE_CHARACTERS = 500

/** Reads the origin of the data, for the history of the grid. Throws `invalid_request` if it is too long. */
export function parseProvenance({ headers }: Pick<DataCall, 'headers'>): string | undefined {
  if (headers.Provenance === undefined) return undefined
  const text = decodeText(headers.Provenance, 'Provenance')
  if (text.length <= MAX_PROVENANCE_CHARACTERS) return text
  throw new Problem(
    'invalid_request',
    `Provenance: ${text.length} characters; the limit is ${MAX_PROVENANCE_CHARACTERS}`,
    { field: 'Provenance' },
  )
}

/** Maximum number of lines that can be skipped at the end: they are buffered in memory. */
const MAX_SKIPPED_LAST_LINES = 1000

/** Maximum number of texts of missing values: each cell is compared with all. */
const MAX_NULL_TEXTS = 100

/** Parses the header `Null-Text`. A comma alone means none. Throws `invalid_request`. */
function parseNullTexts(header: string | undefined): string[] | undefined {
  if (header === undefined) return undefined
  if (header === ',') return []
  const texts = header.split(',').map((text) => decodeText(text, 'Null-Text'))
  if (texts.length > MAX_NULL_TEXTS)
    throw new Problem('invalid_request', `Null-Text: more than ${MAX_NULL_TEXTS} texts`, {
      field: 'Null-Text',
    })
  return texts
}

function checkSkipLast(lines: number | undefined): number | undefined {
  if (lines === undefined || lines <= MAX_SKIPPED_LAST_LINES) return lines
  throw new Problem('invalid_request', `Skip-Last: ${lines} lines; the limit is ${MAX_SKIPPED_LAST_LINES}`, {
    field: 'Skip-Last',
  })
}

/** Decodes a percent-encoded header value. */
function decodeText(text: string, field: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Problem('invalid_request', `${field}: not percent-encoded text`, { field })
  }
}

/** Parses the header `Columns`: types by column name. */
export function parseColumnTypes(header: string | undefined): Map<string, GivenType> | undefined {
  if (header === undefined) return undefined
  try {
    const typesByName: Record<string, GivenType> = JSON.parse(decodeText(header, 'Columns'))
    const types = new Map(Object.entries(typesByName))
    if ([...types.values()].every((type) => GIVEN_TYPES.includes(type))) return types
  } catch {
    // Invalid JSON: fall through to the error.
  }
  throw new Problem(
    'invalid_request',
    'Columns: must be a JSON object of column names to types: number, text, boolean, date, datetime, date-dmy, date-mdy',
    { field: 'Columns' },
  )
}

/** Parses the header `Uids`: one uid for each column. Throws `invalid_request`. */
export function parseUids({ headers }: Pick<DataCall, 'headers'>, columns: number): string[] | undefined {
  if (headers.Uids === undefined) return undefined
  const uids = headers.Uids.split(',')
  const areUids = uids.every((uid) => /^[0-9a-f]{6}$/.test(uid)) && new Set(uids).size === uids.length
  if (areUids && uids.length === columns) return uids
  throw new Problem(
    'invalid_request',
    `Uids: must be distinct uids of six hexadecimal digits, one for each of the ${columns} columns`,
    { field: 'Uids' },
  )
}

/** Returns whether the request allows values to change the type of a column. */
export function allowsTypeChange({ headers }: Pick<DataCall, 'headers'>): boolean {
  return headers['Allow-Type-Change'] === true
}

/** Maximum number of warnings in an error. */
const MAX_NAMED_WARNINGS = 10

/** Throws `bad_data` if the request is `Strict` and there are warnings. Notices are ignored. */
export function checkWarnings(
  { headers, fileName }: Pick<DataCall, 'headers' | 'fileName'>,
  messages: readonly string[],
): void {
  const warnings = messages.filter((warning) => !isNotice(warning))
  if (headers.Strict !== true || warnings.length === 0) return
  const unlisted = warnings.length - MAX_NAMED_WARNINGS
  const suffix = unlisted > 0 ? `; and ${unlisted} more` : ''
  throw new Problem(
    'bad_data',
    `${fileName ?? 'the upload'}: ${warnings.slice(0, MAX_NAMED_WARNINGS).join('; ')}${suffix}`,
    {
      hint: warnings.every((warning) => warning.startsWith('check: '))
        ? 'Warnings are errors with --strict. Correct the data or the checks, or leave out --strict.'
        : 'Warnings are errors with --strict. Set the option that describes the file, or leave out --strict.',
    },
  )
}
