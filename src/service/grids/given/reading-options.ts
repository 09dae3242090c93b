import { Problem } from '../../../contract/errors.ts'
import { delimiterOfFileName, isNotice } from '../../../contract/formats.ts'
import type { HeadersOf } from '../../../contract/operations/index.ts'
import {
  type DelimitedOptions,
  type GivenType,
  givenDelimiter,
  givenStyle,
  givenTypes,
} from '../../../ingest/index.ts'
import type { Call } from '../../core/call.ts'
import type { GridService } from '../service.ts'

/** A request that uploads or appends a data file. */
export type DataCall = Call & { headers: HeadersOf<'grids.upload'> }

/** Parsing options from the request headers. */
export function readingOptions(
  service: GridService,
  { headers, fileName }: Pick<DataCall, 'headers' | 'fileName'>,
): DelimitedOptions {
  const { Delimiter, Encoding, Header } = headers
  const text = (
    name: 'Quote' | 'Escape' | 'Comment' | 'Decimal' | 'Thousands' | 'Sheet' | 'Range',
  ): string | undefined => {
    const value = headers[name]
    return value === undefined ? undefined : decoded(value, name)
  }
  return {
    source: fileName ?? 'the upload',
    delimiter:
      Delimiter === undefined
        ? delimiterOfFileName(fileName ?? '')
        : givenDelimiter(decoded(Delimiter, 'Delimiter')),
    encoding: Encoding,
    header: Header,
    types: columnTypes(headers.Columns),
    keys:
      headers.Key === undefined
        ? undefined
        : headers.Key.split(',').flatMap((name) => decoded(name, 'Key').trim() || []),
    nullTexts: headers['Null-Text']?.split(',').map((text) => decoded(text, 'Null-Text')),
    skip: headers.Skip,
    skipLast: lastLines(headers['Skip-Last']),
    sheet: text('Sheet'),
    range: text('Range'),
    flatten: headers.Flatten,
    asWritten: headers['As-Written'],
    ...givenStyle({
      quote: text('Quote'),
      escape: text('Escape'),
      comment: text('Comment'),
      decimal: text('Decimal'),
      thousands: text('Thousands'),
      locale: headers.Locale,
    }),
    limits: service.limits,
  }
}

/** Characters of a provenance. */
const MAX_PROVENANCE = 500

/** Where the data of a request is from, for the history of the grid. */
export function givenProvenance({ headers }: Pick<DataCall, 'headers'>): string | undefined {
  if (headers.Provenance === undefined) return undefined
  const text = decoded(headers.Provenance, 'Provenance')
  if (text.length <= MAX_PROVENANCE) return text
  throw new Problem(
    'invalid_request',
    `Provenance: ${text.length} characters; the limit is ${MAX_PROVENANCE}`,
    { field: 'Provenance' },
  )
}

/** Lines at the end that can be left out: they are held in memory. */
const MAX_LAST = 1000

function lastLines(given: number | undefined): number | undefined {
  if (given === undefined || given <= MAX_LAST) return given
  throw new Problem('invalid_request', `Skip-Last: ${given} lines; at most ${MAX_LAST} can be left out`, {
    field: 'Skip-Last',
  })
}

function decoded(text: string, field: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Problem('invalid_request', `${field}: not percent-encoded text`, { field })
  }
}

function columnTypes(header: string | undefined): Map<string, GivenType> | undefined {
  if (header === undefined) return undefined
  try {
    const types = new Map(Object.entries(JSON.parse(decoded(header, 'Columns')) as Record<string, GivenType>))
    if ([...types.values()].every((type) => givenTypes.includes(type))) return types
  } catch {
    // Invalid JSON: fall through to the error.
  }
  throw new Problem(
    'invalid_request',
    'Columns: must be a JSON object of column names to types: number, text, boolean, date, datetime, date-dmy, date-mdy',
    { field: 'Columns' },
  )
}

/** Whether rows from files may change the type of a column. Default: no. */
export function mayChangeTypes({ headers }: Pick<DataCall, 'headers'>): boolean {
  return headers['Allow-Type-Change'] === true
}

/** Warnings that an error names. */
const MAX_NAMED = 10

/** Throws `bad_data` with the warnings, if they are errors (`Strict`). */
export function refuseWarnings(
  { headers, fileName }: Pick<DataCall, 'headers' | 'fileName'>,
  given: readonly string[],
): void {
  const warnings = given.filter((warning) => !isNotice(warning))
  if (headers.Strict !== true || warnings.length === 0) return
  const left = warnings.length - MAX_NAMED
  const more = left > 0 ? `; and ${left} more` : ''
  throw new Problem(
    'bad_data',
    `${fileName ?? 'the upload'}: ${warnings.slice(0, MAX_NAMED).join('; ')}${more}`,
    {
      hint: warnings.every((warning) => warning.startsWith('check: '))
        ? 'Warnings are errors with --strict. Correct the data or the checks, or leave out --strict.'
        : 'Warnings are errors with --strict. Give the option that says how the file is written, or leave out --strict.',
    },
  )
}
