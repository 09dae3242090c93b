/** The types of columns, as everywhere in `ingest`. */
export type ColumnType = 'number' | 'text' | 'boolean' | 'json'

export type ColumnarFormat = 'parquet' | 'arrow'

/** What the worker is started with. `fd`: an open file of this process. */
export interface ColumnarJob {
  format: ColumnarFormat
  fd: number
  size: number
  /** Columns that one table may have. */
  columns: number
  /** How many times larger than the file its content may be. */
  ratio: number
}

/** What the worker sends: the columns, then runs of values, then the end; or why it stopped. */
export type ColumnarMessage =
  | { columns: { name: string; type: ColumnType }[]; rows: number }
  | { column: number; rows: number; text: Uint8Array }
  | { end: true; warnings: string[] }
  | { refused: string; hint?: string }
