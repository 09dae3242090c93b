// Messages between the server and the decoder of Parquet and Arrow files.

/** Column types in columnar files. */
export type ColumnType = 'number' | 'text' | 'boolean' | 'json'

/** File descriptor of the file in the decoder process. */
export const FILE_DESCRIPTOR = 4

export type ColumnarFormat = 'parquet' | 'arrow'

/** Arguments of the decoder process. */
export interface ColumnarJob {
  format: ColumnarFormat
  /** Size of the file, in bytes. */
  size: number
  /** Maximum number of columns. */
  columns: number
  /** Maximum number of rows. */
  rows: number
  /** Maximum ratio of unpacked to packed size. */
  ratio: number
}

/** Messages of the decoder: the columns, then batches of values, then the end; or why it refuses the file. */
export type ColumnarMessage =
  | { columns: { name: string; type: ColumnType; isExact?: true }[]; rows: number }
  | { column: number; rows: number; text: Uint8Array }
  | { end: true; warnings: string[] }
  | { refused: string; hint?: string }
