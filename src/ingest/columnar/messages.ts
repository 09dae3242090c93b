/** The types of columns, as everywhere in `ingest`. */
export type ColumnType = 'number' | 'text' | 'boolean' | 'json'

/** The descriptor of the file in the process. */
export const FILE = 4

export type ColumnarFormat = 'parquet' | 'arrow'

/** What the process is started with. */
export interface ColumnarJob {
  format: ColumnarFormat
  /** Bytes of the file, which it has open as FILE. */
  size: number
  /** Columns that one table may have. */
  columns: number
  /** Rows that it may have. */
  rows: number
  /** How many times larger than the file its content may be. */
  ratio: number
}

/** What the worker sends: the columns, then runs of values, then the end; or why it stopped. */
export type ColumnarMessage =
  | { columns: { name: string; type: ColumnType }[]; rows: number }
  | { column: number; rows: number; text: Uint8Array }
  | { end: true; warnings: string[] }
  | { refused: string; hint?: string }
