// Messages between the service and a query process.

/** How a query process starts. Its first argument is the JSON of this. */
export interface QuerySettings {
  /** Path of the DuckDB bindings. */
  bindings: string
  /** Folder of its temporary files. */
  folder: string
  /** Memory that DuckDB may use, in bytes. */
  memoryBytes: number
  /** Maximum size of its temporary files, in bytes. */
  temporaryBytes: number
}

/** Value of a parameter. */
export type QueryParameter = string | number | boolean | null

/** First message to the process. */
export interface QueryText {
  sql: string
  parameters: Readonly<Record<string, QueryParameter>>
  /** Uses one thread, so that the same rows give the same result: the order of rows, and the last digits of sums. */
  isRepeatable?: boolean
}

/** Name of a table in a query. `schema`: the word before the point. */
export interface TableName {
  schema: string
  name: string
  /** The query defines a table of this name (WITH), which can hide a grid, or read it. */
  isDefined?: true
  /** Line of a query with several, from 1, in which it is named first. */
  line?: number
}

/** How the values of a column are stored in a file: see `STORAGES` of the service. */
export type ColumnStorage =
  | 'integer'
  | 'double'
  | 'digits'
  | 'boolean'
  | 'day'
  | 'localTime'
  | 'utcTime'
  | 'text'
  | 'empty'

/** Column of a table. */
export interface TableColumn {
  name: string
  type: 'number' | 'text' | 'boolean' | 'date' | 'datetime'
}

/** Tables and words of a query. */
export interface QueryNames {
  tables: TableName[]
  /**
   * Words of the query in lower case: it reads no column whose name is not among them, or has other characters than
   * those of ASCII. Undefined: it can read any column.
   */
  words?: ReadonlySet<string>
}

/** A table in Parquet files. Their columns are named by their storage and position: `integer0`. */
export interface StoredTable {
  table: TableName
  columns: readonly TableColumn[]
  /** Number of columns that the files have. Reading another one is an error. */
  storedColumns: number
  path: string
  /** Rows that follow those of the file. Days and times are texts, which have the storage that is given here. */
  rest?: { path: string; storages: readonly ColumnStorage[] }
}

/** A table without rows. */
export interface EmptyTable {
  table: TableName
  /** Columns with types of SQL. */
  columns: readonly { name: string; type: string }[]
}

/** Second message to the process: the tables of the query. */
export interface QueryTables {
  tables: readonly (StoredTable | EmptyTable)[]
}

/** Column of a result. */
export interface ResultColumn {
  name: string
  type: TableColumn['type']
}

/** Message from the process. */
export type QueryMessage =
  | QueryNames
  /**
   * False if a file cannot be read, the rest of a table does not have its types, or the query reads a column that a file
   * lacks: open the tables afresh. In the last case, this follows other messages.
   */
  | { isLoaded: boolean }
  | { columns: ResultColumn[] }
  /** The next rows: the values of each column, comma-separated JSON. */
  | { rows: number; texts: Uint8Array[] }
  /** The end, with the final types of the columns. */
  | { types: ResultColumn['type'][] }
  /** The query cannot be run. */
  | { refused: string; code: 'invalid_query' | 'unknown_column' | 'too_large' }
