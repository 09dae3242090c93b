// Table of a columnar file, as its reader provides it.
import type { PlainForm } from '../kernel/plain.ts'
import type { ColumnType } from './decoder-messages.ts'
import type { JsonBatch } from './json-text.ts'
import type { LossCounts, ToJson } from './json-values.ts'

/** A column of a columnar file. */
export interface TableColumn {
  name: string
  type: ColumnType
  toJson: ToJson
  /** How the kernel writes its values, if it does. */
  form?: PlainForm
  /** True: a column of text, also if all its values are dates. */
  isExact?: true
}

type TableBatch = { column: number } & ({ values: ArrayLike<unknown> } | JsonBatch)

/** A table in a columnar file. */
export interface Table {
  rows: number
  columns: TableColumn[]
  /**
   * Yields batches of values, or their JSON, in row order within each column. A batch is valid until the next one.
   * `losses`: those of each column.
   */
  values(losses: readonly LossCounts[]): AsyncGenerator<TableBatch>
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
