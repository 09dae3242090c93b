import type { ColumnType } from './messages.ts'
import type { ToText } from './values.ts'

/** A table in a columnar file. */
export interface Table {
  rows: number
  columns: { name: string; type: ColumnType; toText: ToText }[]
  /** Values, in the order of the rows within each column. */
  values(): AsyncGenerator<{ column: number; values: ArrayLike<unknown> }>
}

/** Why a file is refused. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message)
  }
}
