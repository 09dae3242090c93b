import type { Bounds } from './bounds.ts'
import type { SliceEncoding } from './column.ts'
import type { ColumnType, Dialect, FirstValue } from './dialect.ts'
import type { Rewrite } from './text-type.ts'

/** A run of rows of one column, as the JSON text it is served as, without brackets. */
export interface Slice {
  column: number
  rows: number
  form: SliceEncoding
  text: Buffer
  /** Whether it ends where slices of the same rows always end (slice-ends.ts). */
  ended?: boolean
  /** Of its values, if they were found on the way; otherwise they are in the text. */
  bounds?: Bounds
}

/** Receives the slices of a table while it is parsed. `begin` announces columns before their slices. */
export interface SliceSink {
  begin?(names: string[]): void
  /** Returns the parser waits for the promise, if any. The sink owns the text. */
  slice(slice: Slice): void | Promise<void>
}

export interface ColumnFound {
  name: string
  /** `empty`: the column has no values. */
  type: ColumnType | 'empty'
  /** Of dates: the order of day and month in which they were written; `undecided` makes them text. */
  dateOrder?: 'dmy' | 'mdy' | 'undecided'
  /** How slices in `text` encoding become values of the type; see `rewritten`. */
  rewrite?: Rewrite
  /** The first values that are text. */
  seen?: FirstValue[]
  /** For a text column that also contains numbers: the first cell that is not a number. */
  text?: { line: number; text: string }
}

export interface Ingested {
  rows: number
  columns: ColumnFound[]
  dialect: Dialect
  /** The line of the file that a row is in, both from 0 and 1: known if the table has a key. */
  lineOf?: (row: number) => number
  warnings: string[]
}
