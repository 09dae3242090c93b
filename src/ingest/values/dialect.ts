import type { Limits } from '../../contract/limits.ts'
import type { Moment } from '../../json/index.ts'
import type { DateOrder } from './date.ts'

/** The dialect of a delimited text, detected by `sniff` or given. */
export interface Dialect {
  /** One byte: `,` `;` tab `|` space or any other ASCII character. */
  delimiter: string
  /** `"`, `'` or another ASCII character; empty if cells are never quoted. */
  quote: string
  /** A quote inside quotes is written twice, or after this character; empty if it is written twice only. */
  escape: string
  /** A lone CR ends a row, as on old Macs; otherwise it is part of its cell. */
  crOnly: boolean
  /** Spaces after a delimiter are ignored, so that a quote may follow them. */
  skipSpace: boolean
  /** Consecutive delimiters count as one, for columns aligned with spaces. */
  collapse: boolean
  /** The cells of a row, if a delimiter ends each row: then a line that ends before goes on. */
  closed?: number
  /** Number of lines to skip above the header (title, comments, `sep=;`). */
  preamble: number
  /** Number of header rows: 0, 1, or 2 if the second contains units or a second level of names. */
  headerRows: number
  /** Column names, one per column; not empty and unique. */
  names: string[]
  /** The cells of the header as they are in the file, if a row of the same cells is not data. */
  repeated?: string[]
  /** Number of delimiters at the end of every data row that the header lacks. */
  trailing: number
  /** Lines that begin with this character are skipped; empty for none. */
  comment: string
  /** What the columns hold in the sample. */
  profile: ColumnProfile
}

/** Returns the dialect of a table that is not delimited text. */
export function noDialect(names: string[]): Dialect {
  return {
    delimiter: '',
    quote: '',
    escape: '',
    crOnly: false,
    skipSpace: false,
    collapse: false,
    preamble: 0,
    headerRows: 0,
    names,
    trailing: 0,
    comment: '',
    profile: {
      filled: [],
      numeric: [],
      styled: [],
      written: [],
      grouped: [],
      looks: [],
      endsInTotal: false,
      odd: [],
    },
  }
}

/** By column: whether all rows of the sample have a value there, and whether all values are numbers. */
export interface ColumnProfile {
  filled: boolean[]
  numeric: boolean[]
  /** Whether all values are numbers as the given `NumberStyle` says. */
  styled: boolean[]
  /** The style in which all values are numbers, if they are none without it. */
  written: (NumberStyle | undefined)[]
  /** The first value, if all values with a point can be read in two ways: 1.234. */
  grouped: (string | undefined)[]
  /** Whether the last row looks like the total of the others: then it does not count for `looks`. */
  endsInTotal: boolean
  /** What texts look like. */
  looks: (Look | undefined)[]
  /** The values that are no numbers, with their lines, if most values are. */
  odd: (readonly { line: number; text: string }[] | undefined)[]
}

/** The type of a column's values: numbers, texts, booleans, dates and times as texts, or any JSON. Nulls are allowed in all types. */
export type ColumnType = 'number' | 'text' | 'boolean' | 'json' | Moment

/** The first value of a type in a column: its place (`line 3`, `record 5`) and text. */
export interface FirstValue {
  type: ColumnType
  where: string
  text: string
}

/** The types that users can give with NAME:TYPE. Dates may have times; see `isoDate`. */
export const givenTypes = ['number', 'text', 'boolean', 'date', 'datetime', 'date-dmy', 'date-mdy'] as const
export type GivenType = (typeof givenTypes)[number]

/** Returns the order of day and month that a type says. */
export function orderIn(given: GivenType | undefined): DateOrder {
  return given === 'date-dmy' ? 'dmy' : given === 'date-mdy' ? 'mdy' : undefined
}

/** Values that a reader takes for something else than text, and the types that read all of them. */
export interface Look {
  /** In words: `amounts with a currency`. */
  what: string
  /** Types for `--column`. */
  types: GivenType[]
  /** How the numbers are written that the type reads, if not with a decimal point. */
  numbers?: NumberStyle
}

/** How numbers are written. Without it, only JSON numbers are numbers. */
export interface NumberStyle {
  decimal: '.' | ','
  /** Empty for none. */
  thousands: string
}

/** Options that override detection. */
export interface DelimitedOptions {
  delimiter?: string
  encoding?: string
  /** true: the first row is the header. false: it is data, and columns are named column_1, column_2 … */
  header?: boolean
  /** Types by column name. */
  types?: ReadonlyMap<string, GivenType>
  /** Known column types (of the target grid), by name and position. */
  expected?: (name: string, position: number) => GivenType | undefined
  /** Names of columns of the target grid, where the text has none: for messages. */
  called?: (position: number) => string | undefined
  /** The order of day and month in columns of the target grid, as far as known. */
  order?: (name: string, position: number) => DateOrder
  /** Texts that mean a missing value, in addition to the empty cell. */
  nullTexts?: readonly string[]
  /** The character that quotes cells; empty for none. */
  quote?: string
  /** The character before a quote inside a quoted cell; empty for none. */
  escape?: string
  /** Lines to skip at the beginning. */
  skip?: number
  /** The sheet of a workbook that has several. */
  sheetName?: string
  /** Lines to skip at the end. Empty lines do not count. */
  skipLast?: number
  /** Keep dates and booleans as they are written: those that are stored in another way are text. */
  asWritten?: boolean
  /** Lines that begin with this character are skipped. */
  comment?: string
  numbers?: NumberStyle
  /** The order of day and month where dates can be read in both: `date-dmy` or `date-mdy`. */
  dates?: GivenType
  /** Of a workbook: the name of a sheet, or its number from 1. Default: all. */
  sheet?: string
  /** Of a sheet: the cells to read, as `B2:D20`, `B:D` or `2:20`. */
  range?: string
  /** Of JSON: whether members of nested objects become columns, down to the values. */
  flatten?: boolean
  /** Columns of the table, where they are known. */
  width?: number
  /** Names of the columns by which rows are told apart: their values alone decide where slices end. */
  keys?: readonly string[]
  /** Name of the source in messages. */
  source?: string
  /** Default: those of the contract. */
  limits?: Limits
}
