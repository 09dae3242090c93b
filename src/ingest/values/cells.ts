// Positions of cells in the bytes of a delimited text.

/** Flags in the two low bits of a cell's end: the cell was quoted; it contains escapes to decode. */
export const QUOTED = 1
export const ESCAPED = 2

/** Positions of the cells of several rows. */
export interface RowCells {
  readonly width: number
  /** Cell k of row r starts at starts[r * width + k] and ends at ends[…] >> 2; the low bits are flags. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** The line on which each row starts, from 1. */
  readonly lines: Int32Array
}
