import { columnNames } from '../../charts/spec/column-names.ts'
import { Problem } from '../../contract/errors.ts'
import { delimiterByName } from '../../contract/formats.ts'
import type { HeadersOf } from '../../contract/operations/index.ts'
import {
  type DelimitedOptions,
  type GivenType,
  givenDelimiter,
  givenStyle,
  givenTypes,
} from '../../ingest/index.ts'
import { camelCase, type Option, type OptionsOf } from '../core/define.ts'

/** Options that control how text is parsed, shared by upload and append. */
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
    description: 'lines to leave out at the end, such as a total; empty lines do not count',
  },
  { flags: '--comment <character>', description: 'skip lines that begin with this character' },
  { flags: '--decimal <character>', description: 'decimal separator of numbers: . or , (default: .)' },
  {
    flags: '--thousands <character>',
    description: 'thousands separator of numbers: a character, or space (default: none)',
  },
  {
    flags: '--locale <tag>',
    description: 'decimal and thousands separators, and the order of dates, of a language: de, fr, en-US …',
  },
  {
    flags: '--as-written',
    description: 'keep each character of dates and booleans (default: stored as 2024-01-31 and true)',
  },
  {
    flags: '--column <name:type>',
    description:
      'set the type of a column: number, text, boolean, date, datetime, date-dmy or date-mdy (repeatable)',
    repeatable: true,
  },
] as const satisfies readonly Option[]

/** The same, and options about files that hold several tables or nested values. */
export const readingOptions = [
  ...textOptions,
  { flags: '--sheet <name|number>', description: 'sheet of a workbook (default: all, as a folder of grids)' },
  { flags: '--range <cells>', description: 'range of the sheet to read: B2:D20, B:D or 2:20' },
  {
    flags: '--flatten',
    description: 'turn nested JSON objects into columns, at every level: user.address.city',
  },
] as const satisfies readonly Option[]

/** The same for commands that have a --format and a --no-header of their own. */
export const localOptions = readingOptions.filter(
  ({ flags }) => flags !== '--header' && flags !== '--no-header',
) as Exclude<(typeof readingOptions)[number], { flags: '--header' | '--no-header' }>[] & readonly Option[]

/** Throws `usage` if options about reading files are given for something that is no file. */
export function refuseReadingOptions(options: ReadingOptions): void {
  const given = localOptions
    .map(({ flags }) => flags.split(' ')[0].slice(2))
    .find((flag) => camelCase(flag) in options)
  if (given !== undefined)
    throw new Problem('usage', `--${given} can only be used with a data file of this machine`)
}

/** Option for files whose warnings are errors. */
export const strict = {
  flags: '--strict',
  description:
    'treat warnings as errors, but for a detected delimiter and empty sheets: nothing is stored (exit code 7)',
} as const satisfies Option

/** `50%` or `50`, as a whole number of percent. Throws `usage`. */
export function percent(flag: string, given: string): number {
  const value = /^(\d{1,3})\s*%?$/.exec(given.trim())?.[1]
  if (value === undefined || Number(value) > 100)
    throw new Problem('usage', `${flag} ${given}: must be a percentage from 0% to 100%`)
  return Number(value)
}

/** Option for appending rows. */
export const allowTypeChange = {
  flags: '--allow-type-change',
  description: 'allow appended values that change the type of a column (default: rejected)',
} as const satisfies Option

/** Option for files that are checked before anybody sees them. */
export const checksOption = {
  flags: '--checks <file>',
  description: 'refuse data that fails the rules of a checks file (exit code 7); see: gridline check --help',
  completes: 'local',
} as const satisfies Option

/** Options of commands that find rows by a key. */
export const keyOptions = [
  {
    flags: '--key <columns>',
    description:
      'update rows that have the same values in these columns, comma-separated, and append the others; the grid remembers them ("" removes its key)',
    completes: 'column',
  },
  {
    flags: '--delete-missing',
    description: 'with a key: remove rows that the file lacks (more than 10% of the rows only with --yes)',
  },
] as const satisfies readonly Option[]

/** The options of a key as request headers. `yes`: all rows may be removed. */
export function keyHeaders({
  key,
  deleteMissing,
  yes,
}: {
  key?: string
  deleteMissing?: boolean
  yes?: boolean
}): Partial<HeadersOf<'grids.upload'>> {
  return {
    // A comma alone is no column.
    Key:
      key === undefined
        ? undefined
        : columnNames(key).filter(Boolean).map(encodeURIComponent).join(',') || ',',
    'Delete-Missing': deleteMissing ? true : undefined,
    ...(deleteMissing && { 'Max-Shrink': yes ? 100 : undefined }),
  }
}

/** Values of the options that control how text is parsed. */
export type ReadingOptions = OptionsOf<typeof readingOptions>

function columnTypes(columns: readonly string[] | undefined): Map<string, GivenType> | undefined {
  if (!columns) return undefined
  return new Map(
    columns.map((given) => {
      const at = given.lastIndexOf(':')
      const type = given.slice(at + 1) as GivenType
      if (at > 0 && givenTypes.includes(type)) return [given.slice(0, at), type]
      throw new Problem('usage', `--column ${given}: must be NAME:TYPE`, {
        hint: `Available types: ${givenTypes.join(', ')}.`,
      })
    }),
  )
}

/** Parsing options, for parsing in this process (previews). */
export function readingOptionsOf(options: ReadingOptions, source: string): DelimitedOptions {
  const { delimiter, encoding, header, column, skip, null: nullTexts } = options
  return {
    source,
    delimiter: delimiter === undefined ? delimiterByName(source) : givenDelimiter(delimiter),
    encoding,
    header,
    types: columnTypes(column),
    nullTexts,
    skip,
    skipLast: options.skipLast,
    sheet: options.sheet,
    range: options.range,
    flatten: options.flatten,
    asWritten: options.asWritten,
    ...givenStyle(options),
  }
}

/** Parsing options as request headers. */
export function readingHeaders(options: ReadingOptions): Partial<HeadersOf<'grids.upload'>> {
  const { delimiter, encoding, header, column, skip, null: nullTexts } = options
  // An error of an option is one of the command, before anything is sent.
  givenStyle(options)
  const types = columnTypes(column)
  const encoded = (text: string | undefined) => (text === undefined ? undefined : encodeURIComponent(text))
  return {
    Delimiter: delimiter === undefined ? undefined : encodeURIComponent(givenDelimiter(delimiter)!),
    Encoding: encoding,
    Header: header,
    Columns: types && encodeURIComponent(JSON.stringify(Object.fromEntries(types))),
    'Null-Text': nullTexts?.map(encodeURIComponent).join(','),
    Skip: skip,
    'Skip-Last': options.skipLast,
    Sheet: encoded(options.sheet),
    Range: encoded(options.range),
    Flatten: options.flatten ? true : undefined,
    'As-Written': options.asWritten ? true : undefined,
    Quote: encoded(options.quote),
    Escape: encoded(options.escape),
    Comment: encoded(options.comment),
    Decimal: encoded(options.decimal),
    Thousands: encoded(options.thousands),
    Locale: options.locale,
  }
}
