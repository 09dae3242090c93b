// Dialect, options and column types of delimited text.

import {
  type ColumnType as ApiColumnType,
  COLUMN_TYPE_NAMES,
  COLUMN_TYPES,
} from '../../contract/column-types.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Moment } from '../../json/index.ts'
import type { DateOrder } from './date.ts'

/** The dialect of a delimited text, detected by `sniff` or given. */
export interface Dialect {
  /** One byte: `,` `;` tab `|` space or any other ASCII character. */
  delimiter: string
  /** `"`, `'` or another ASCII character; empty if cells are never quoted. */
  quote: string
  /** Character before a quote inside quotes; empty if such quotes are only doubled. */
  escape: string
  /** Whether a lone CR ends a row, as on old Macs; otherwise it belongs to its cell. */
  crOnly: boolean
  /** Whether spaces after delimiters are ignored, so that a quote may follow. */
  skipSpace: boolean
  /** Whether consecutive delimiters count as one, for columns aligned with spaces. */
  collapse: boolean
  /** Number of cells per row, if a delimiter ends each row: a shorter line then continues on the next. */
  closed?: number
  /** Number of lines to skip above the header (title, comments, `sep=;`). */
  preamble: number
  /** Number of header rows: 0, 1, or 2 if the second contains units or a second level of names. */
  headerRows: number
  /** Column names: unique and not empty. */
  names: string[]
  /** Cells of the header, if a row equal to it is a repeated header, not data. */
  repeated?: string[]
  /** Number of delimiters at the end of every data row that the header lacks. */
  trailing: number
  /** First character of comment lines; empty for none. */
  comment: string
  /** Properties of the columns in the sample. */
  profile: ColumnProfile
}

/** Returns the dialect of a table that is not delimited text. */
export function createEmptyDialect(names: string[]): Dialect {
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
      styles: [],
      grouped: [],
      groupedAmounts: [],
      shapes: [],
      pointed: [],
      spaced: false,
      endsInTotal: false,
      nonNumbers: [],
    },
  }
}

/** Properties of the columns in the sample, by column. */
export interface ColumnProfile {
  /** Whether all rows have a value. */
  filled: boolean[]
  /** Whether all values are numbers. */
  numeric: boolean[]
  /** Whether all values are numbers in the requested `NumberStyle`. */
  styled: boolean[]
  /** Style in which all values are numbers, if they are not JSON numbers. */
  styles: (FoundStyle | undefined)[]
  /** First value, if the point in all values can be decimal or group thousands: 1.234. */
  grouped: (string | undefined)[]
  /** The same for amounts with a currency or a percent sign: €1.234. */
  groupedAmounts: (string | undefined)[]
  /** Whether a value has a point. */
  pointed: boolean[]
  /** Whether a row has a space after a delimiter. */
  spaced: boolean
  /** Whether the last row looks like a total of the others. `shapes` then ignores it. */
  endsInTotal: boolean
  /** Shape of the texts. */
  shapes: (ValueShape | undefined)[]
  /** Values that are not numbers, with their lines, if most values are. */
  nonNumbers: (readonly { line: number; text: string }[] | undefined)[]
}

/**
 * Type of a column's values: numbers, texts, booleans, dates and times as texts, or any JSON. All types allow
 * nulls.
 */
export type ColumnType = Exclude<ApiColumnType, 'empty'> | Moment

/** First value of a type in a column. `where`: `line 3` or `record 5`. */
export interface FirstValue {
  type: ColumnType
  where: string
  text: string
}

/** Types that users can give with NAME:TYPE. Dates may have times; see `parseDate`. */
export type GivenType = (typeof COLUMN_TYPES)[ApiColumnType]['declaredAs'][number]
export const GIVEN_TYPES: readonly GivenType[] = COLUMN_TYPE_NAMES.flatMap(
  (type) => COLUMN_TYPES[type].declaredAs,
)

/** Returns the order of day and month that a type implies. */
export function dateOrderOf(type: GivenType | undefined): DateOrder {
  return type === 'date-dmy' ? 'dmy' : type === 'date-mdy' ? 'mdy' : undefined
}

/** Shape of texts that resemble numbers or dates, and the types that can read all of them. */
export interface ValueShape {
  /** Description in messages: `amounts with a currency`. */
  what: string
  /** Types for `--column`. */
  types: GivenType[]
  /** Style of the numbers, if it is not that of JSON. */
  numbers?: NumberStyle
  /** Texts beside them that look like missing values. */
  missing?: readonly string[]
}

/** Format of numbers. Without one, only JSON numbers are numbers. */
export interface NumberStyle {
  decimal: '.' | ','
  /** Empty for none. */
  thousands: string
}

/** Style of the numbers of a column, and the texts between them that mark missing values. */
export interface FoundStyle extends NumberStyle {
  missing: readonly string[]
}

/** Options that override detection. */
export interface DelimitedOptions {
  delimiter?: string
  encoding?: string
  /** true: the first row is the header. false: it is data, and columns are named column_1, column_2 … */
  header?: boolean
  /** Types by column name. */
  types?: ReadonlyMap<string, GivenType>
  /** Whether the file may lack columns of `types`. */
  areTypesOptional?: boolean
  /** Column types of the target grid, by name and position. */
  expected?: (name: string, position: number) => GivenType | undefined
  /** Column names of the target grid for messages, if the text has no header. */
  targetName?: (position: number) => string | undefined
  /** Returns whether the column of the target grid holds numbers. */
  isNumber?: (name: string, position: number) => boolean
  /** Order of day and month in the columns of the target grid, if known. */
  order?: (name: string, position: number) => DateOrder
  /** Markers of missing values, in addition to the empty cell. */
  nullTexts?: readonly string[]
  /** Quote character; empty for none. */
  quote?: string
  /** Character before a quote inside a quoted cell; empty for none. */
  escape?: string
  /** Number of lines to skip at the beginning. */
  skip?: number
  /** Name of the sheet, if the workbook has several. */
  sheetName?: string
  /** Number of non-empty lines to skip at the end. */
  skipLast?: number
  /** Whether dates and booleans that would be stored in another form are kept as text. */
  asWritten?: boolean
  /** First character of comment lines. */
  comment?: string
  numbers?: NumberStyle
  /** Order of ambiguous dates: `date-dmy` or `date-mdy`. */
  dates?: GivenType
  /** Name of a sheet of a workbook, or its number from 1. Default: all sheets. */
  sheet?: string
  /** Cells of a sheet to read: `B2:D20`, `B:D` or `2:20`. */
  range?: string
  /** Whether members of nested JSON objects become columns, at all depths. */
  flatten?: boolean
  /** Number of columns, if known. */
  width?: number
  /** Columns of the primary key. Their values alone decide where slices end. */
  keys?: readonly string[]
  /** Name of the source in messages. */
  source?: string
  /** Default: those of the contract. */
  limits?: Limits
}
