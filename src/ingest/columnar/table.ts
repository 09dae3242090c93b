// Table of a columnar file, as its reader provides it.
import type { ColumnType } from './decoder-messages.ts'
import type { ToJson } from './json-values.ts'

/** A column of a columnar file. */
export interface TableColumn {
  name: string
  type: ColumnType
  toJson: ToJson
  /** True: a column of text, also if all its values are dates. */
  isExact?: true
}

/** A table in a columnar file. */
export interface Table {
  rows: number
  columns: TableColumn[]
  /** Yields batches of values, in row order within each column. */
  values(): AsyncGenerator<{ column: number; values: ArrayLike<unknown> }>
}

/** Thrown if a columnar file is not supported, damaged or too large. */
export class RefusedFile extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message)
  }
}
