// Candidate of delimiter detection.
import type { SampleRows, Style } from './sample-rows.ts'

/** The first rows, as read with one delimiter. */
export interface Candidate extends SampleRows {
  style: Style
  /**
   * `width`: the most common number of cells per row. `first`: index of the first row at least that wide.
   * `agreeing`: fraction of rows with that width from there on.
   */
  width: number
  first: number
  agreeing: number
  /** Number of delimiters at the end of every row that the header lacks. */
  trailing: number
}
