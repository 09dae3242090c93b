// Result of parsing a table.
import type { Bounds } from './bounds.ts'
import type { SliceEncoding } from './cell-json.ts'
import type { ColumnType, Dialect, FirstValue } from './dialect.ts'
import type { Rewrite } from './text-type.ts'

/** Consecutive rows of one column, as JSON without brackets. */
export interface Slice {
  column: number
  rows: number
  form: SliceEncoding
  text: Buffer
  /** Whether it ends at a content-defined boundary (slice-ends.ts). */
  ended?: boolean
  /** Bounds of its values, if already computed. */
  bounds?: Bounds
}

/** Receives the slices of a table while it is parsed. `begin` is called with the column names first. */
export interface SliceSink {
  begin?(names: string[]): void
  /** Takes ownership of the text. The parser waits for a returned promise. */
  slice(slice: Slice): void | Promise<void>
}

/** A column of a parsed table. */
export interface ParsedColumn {
  name: string
  /** `empty`: the column has no values. */
  type: ColumnType | 'empty'
  /** Order of day and month in which dates were written; `undecided` makes them text. */
  dateOrder?: 'dmy' | 'mdy' | 'undecided'
  /** How slices in `text` encoding are converted to the type; see `convertTexts`. */
  rewrite?: Rewrite
  /** First value of each type in a column that became text. */
  seen?: FirstValue[]
  /** First cell that made a column text whose other cells are of another type. */
  text?: { line: number; text: string; before: ColumnType }
}

/** Result of parsing a table. */
export interface IngestResult {
  rows: number
  columns: ParsedColumn[]
  dialect: Dialect
  /** Returns the line, from 1, of a row, from 0. Set if the table has a key. */
  lineOf?: (row: number) => number
  warnings: string[]
}
