// Options for reading data files: parsing, keys, checks.
import { parseColumnNames } from '../../charts/spec/parse-names.ts'
import { Problem } from '../../contract/errors.ts'
import { delimiterOfFileName } from '../../contract/formats.ts'
import type { HeadersOf } from '../../contract/operations/index.ts'
import {
  type DelimitedOptions,
  GIVEN_TYPES,
  type GivenType,
  parseDelimiter,
  parseStyleOptions,
} from '../../ingest/index.ts'
import { camelCase, type Option, type OptionValues } from '../core/define.ts'

/** Options for parsing text, shared by upload and append. */
export const textOptions = [
  {
    flags: '--delimiter <character>',
    description:
      'delimiter between cells: a character, or tab, comma, semicolon, pipe, space (default: detected)',
  },
  {
    flags: '--encoding <name>',
    description: 'character encoding: utf-8, utf-16le, windows-1252 … (default: detected)',
  },
  { flags: '--header', description: 'treat the first line as column names (default: detected)' },
  { flags: '--no-header', description: 'treat the first line as data' },
  {
    flags: '--null <text>',
    description: 'text that marks a missing value, such as NA (repeatable)',
    repeatable: true,
  },
  { flags: '--quote <character>', description: 'character that quotes cells, or none (default: detected)' },
  {
    flags: '--escape <character>',
    description: 'escape character in quoted cells, or none (default: detected)',
  },
  { flags: '--skip <lines>', integer: {}, description: 'lines to skip at the beginning' },
  {
    flags: '--skip-last <lines>',
    integer: { max: 1000 },
    description: 'lines to skip at the end, such as a total; empty lines do not count',
  },
  { flags: '--comment <character>', description: 'skip lines that begin with this character' },
  { flags: '--decimal <character>', description: 'decimal separator of numbers: . or , (default: .)' },
  {
    flags: '--thousands <character>',
    description: 'thousands separator of numbers: a character, or space (default: none)',
  },
  {
    flags: '--locale <tag>',
    description: 'language that sets decimal and thousands separators and date order: de, fr, en-US …',
  },
  {
    flags: '--as-written',
    description: 'keep dates and booleans as written (default: stored as 2024-01-31 and true)',
  },
  {
    flags: '--column <name:type>',
    description: `set the type of a column: ${GIVEN_TYPES.slice(0, -1).join(', ')} or ${GIVEN_TYPES.at(-1)} (repeatable)`,
    repeatable: true,
  },
] as const satisfies readonly Option[]

/** Text options, and options for files with several tables or nested values. */
export const readingOptions = [
  ...textOptions,
  { flags: '--sheet <name|number>', description: 'sheet of a workbook (default: all, as a folder of grids)' },
  { flags: '--range <cells>', description: 'range of the sheet to read: B2:D20, B:D or 2:20' },
  {
    flags: '--flatten',
    description: 'turn nested JSON objects into columns, at every level: user.address.city',
  },
] as const satisfies readonly Option[]

/** Reading options for commands with their own --format and --no-header. */
export const localOptions = readingOptions.filter(
  ({ flags }) => flags !== '--header' && flags !== '--no-header',
)

/** Returns the first reading option that was given, such as `--decimal`. */
export function findReadingFlag(options: ReadingOptions): string | undefined {
  return localOptions
    .map(({ flags }) => flags.split(' ')[0])
    .find((flag) => camelCase(flag.slice(2)) in options)
}

/** Throws `usage` if reading options are used without a local file. */
export function assertNoReadingOptions(options: ReadingOptions): void {
  const flag = findReadingFlag(options)
  if (flag !== undefined) throw new Problem('usage', `${flag} can only be used with a local data file`)
}

/** Option that turns warnings into errors. */
export const strictOption = {
  flags: '--strict',
  description:
    'treat warnings as errors, except detected delimiters and empty sheets: store nothing (exit code 7)',
} as const satisfies Option

/** Parses `50%` or `50`. Throws `usage` unless an integer from 0 to 100. */
export function parsePercent(flag: string, text: string): number {
  const value = /^(\d{1,3})\s*%?$/.exec(text.trim())?.[1]
  if (value === undefined || Number(value) > 100)
    throw new Problem('usage', `${flag} ${text}: must be a percentage from 0% to 100%`)
  return Number(value)
}

/** Seconds of each unit of time. */
const SECONDS = { m: 60, h: 3600, d: 86_400 } as const

/** Parses a time such as `15m` into seconds. Throws `usage`. */
export function parseDuration(flag: string, text: string): number {
  const [, number, unit] = /^(\d+)\s*([mhd])$/.exec(text.trim()) ?? []
  if (number === undefined)
    throw new Problem('usage', `${flag} ${text}: expected minutes, hours or days, such as 15m, 1h or 1d`)
  return Number(number) * SECONDS[unit as keyof typeof SECONDS]
}

/** Option for appends that change column types. */
export const allowTypeChangeOption = {
  flags: '--allow-type-change',
  description: 'allow appended values that change the type of a column (default: rejected)',
} as const satisfies Option

/** Option that checks data before it is stored. */
export const checksOption = {
  flags: '--checks <file>',
  description: 'refuse data that fails the rules of a checks file (exit code 7); see: gridline check --help',
  completion: 'local',
} as const satisfies Option

/** Options for upserts. */
export const keyOptions = [
  {
    flags: '--key <columns>',
    description: 'upsert by these key columns, comma-separated; stored as key of the grid ("" removes it)',
    completion: 'column',
  },
  {
    flags: '--delete-missing',
    description: 'with a key: remove rows that are not in the file (more than 10% only with --yes)',
  },
] as const satisfies readonly Option[]

/** Converts key options to request headers. `yes`: any number of rows may be removed. */
export function toKeyHeaders({
  key,
  deleteMissing,
  yes,
}: {
  key?: string
  deleteMissing?: boolean
  yes?: boolean
}): Partial<HeadersOf<'grids.upload'>> {
  return {
    // A comma alone means no columns.
    Key:
      key === undefined
        ? undefined
        : parseColumnNames(key).filter(Boolean).map(encodeURIComponent).join(',') || ',',
    'Delete-Missing': deleteMissing ? true : undefined,
    ...(deleteMissing && { 'Max-Shrink': yes ? 100 : undefined }),
  }
}

/** Values of the reading options. */
export type ReadingOptions = OptionValues<typeof readingOptions> & {
  /** Whether a file may lack columns of --column, as one of several files. */
  areTypesOptional?: boolean
}

/** Lists the columns of --column that none of several files has. */
export function listUnknownColumns(
  { column }: Pick<ReadingOptions, 'column'>,
  names: ReadonlySet<string>,
): string[] {
  return [...(parseColumnTypes(column)?.keys() ?? [])].filter((name) => !names.has(name))
}

/** Parses --column options. Throws `usage`. */
function parseColumnTypes(columns: readonly string[] | undefined): Map<string, GivenType> | undefined {
  if (!columns) return undefined
  return new Map(
    columns.map((option) => {
      const at = option.lastIndexOf(':')
      const type = GIVEN_TYPES.find((known) => known === option.slice(at + 1))
      if (at > 0 && type) return [option.slice(0, at), type]
      throw new Problem('usage', `--column ${option}: must be NAME:TYPE`, {
        hint: `Available types: ${GIVEN_TYPES.join(', ')}.`,
      })
    }),
  )
}

/** Converts reading options for parsing in this process (previews). */
export function toParseOptions(options: ReadingOptions, source: string): DelimitedOptions {
  const { delimiter, encoding, header, column, skip, null: nullTexts } = options
  return {
    source,
    delimiter: delimiter === undefined ? delimiterOfFileName(source) : parseDelimiter(delimiter),
    encoding,
    header,
    types: parseColumnTypes(column),
    areTypesOptional: options.areTypesOptional,
    nullTexts,
    skip,
    skipLast: options.skipLast,
    sheet: options.sheet,
    range: options.range,
    flatten: options.flatten,
    asWritten: options.asWritten,
    ...parseStyleOptions(options),
  }
}

/** Converts reading options to request headers. Throws `usage` for invalid ones. */
export function toReadingHeaders(options: ReadingOptions): Partial<HeadersOf<'grids.upload'>> {
  const { delimiter, encoding, header, column, skip, null: nullTexts } = options
  // Report invalid options before sending anything.
  parseStyleOptions(options)
  const types = parseColumnTypes(column)
  const encode = (text: string | undefined) => (text === undefined ? undefined : encodeURIComponent(text))
  return {
    Delimiter: delimiter === undefined ? undefined : encodeURIComponent(parseDelimiter(delimiter)!),
    Encoding: encoding,
    Header: header,
    Columns: types && encodeURIComponent(JSON.stringify(Object.fromEntries(types))),
    'Columns-Optional': (types && options.areTypesOptional) || undefined,
    'Null-Text': nullTexts?.map(encodeURIComponent).join(','),
    Skip: skip,
    'Skip-Last': options.skipLast,
    Sheet: encode(options.sheet),
    Range: encode(options.range),
    Flatten: options.flatten ? true : undefined,
    'As-Written': options.asWritten ? true : undefined,
    Quote: encode(options.quote),
    Escape: encode(options.escape),
    Comment: encode(options.comment),
    Decimal: encode(options.decimal),
    Thousands: encode(options.thousands),
    Locale: options.locale,
  }
}
