/** How a delimited text is written. Found by `sniff`, or given. */
export interface Dialect {
  /** One byte: `,` `;` tab `|` space or any other ASCII character. */
  delimiter: string
  /** `"` or `'`. */
  quote: string
  /** `double`: a quote inside quotes is written twice; `backslash`: also as `\"`. */
  escape: 'double' | 'backslash'
  /** A lone CR ends a row, as on old Macs; otherwise it is part of its cell. */
  crOnly: boolean
  /** Blanks after a delimiter do not count, so a quote may follow them. */
  skipSpace: boolean
  /** Several delimiters in a row are one: columns lined up with spaces. */
  collapse: boolean
  /** Lines above the header (title, comments, `sep=;`), to be passed over. */
  preamble: number
  /** Rows that hold names: 0, 1, or 2 where the second holds units or a second level. */
  headerRows: number
  /** Column names, as many as there are columns, none empty, none twice. */
  names: string[]
  /** Delimiters at the end of every row that the header does not have. */
  trailing: number
}

/** What a column holds: JSON numbers, strings, booleans, or (from the API) any JSON. Nulls anywhere. */
export type ColumnType = 'number' | 'text' | 'boolean' | 'json'

/** The first value of a type in a column: where it stands (`line 3`, `record 5`) and its text. */
export interface FirstValue {
  type: ColumnType
  where: string
  text: string
}

/** The types a person may give with NAME:TYPE. */
export const givenTypes = ['number', 'text', 'boolean'] as const
export type GivenType = (typeof givenTypes)[number]

/** What a caller may fix beforehand; everything else is found by looking. */
export interface DelimitedOptions {
  delimiter?: string
  encoding?: string
  /** true: the first row is names; false: it is data, and columns are called column_1, column_2 … */
  header?: boolean
  /** Types by column name. */
  types?: ReadonlyMap<string, GivenType>
  /** Types of columns that are known from elsewhere, by name and position. */
  expected?: (name: string, position: number) => GivenType | undefined
  /** Text that stands for a missing value, beside the empty cell. */
  nullText?: string
  /** What to call the source in messages. */
  source?: string
  maxRecordBytes?: number
  maxColumns?: number
}
