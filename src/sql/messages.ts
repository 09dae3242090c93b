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

/** Column of a table. `isLarge`: it has numbers beyond those that a double holds exactly. */
export interface TableColumn {
  name: string
  type: 'number' | 'text' | 'boolean' | 'date' | 'datetime'
  isLarge?: boolean
}

/** A table as a file. */
export interface CsvTable {
  path: string
  columns: readonly TableColumn[]
}

/** A table in a database file. */
export interface StoredTable {
  table: TableName
  database: string
  /** Content of the database; undefined if it holds the table already. */
  csv?: CsvTable
  /** Rows that follow those of the database. */
  rest?: CsvTable
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
  | { tables: TableName[] }
  /** False if a database cannot be read, or if the rest of a table does not have its types: open the tables afresh. */
  | { isLoaded: boolean }
  | { columns: ResultColumn[] }
  /** The next rows: the values of each column, comma-separated JSON. */
  | { rows: number; texts: Uint8Array[] }
  /** The end, with the final types of the columns. */
  | { types: ResultColumn['type'][] }
  /** The query cannot be run. */
  | { refused: string; code: 'invalid_query' | 'unknown_column' | 'too_large' }
