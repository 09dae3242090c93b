/** Flags in the two low bits of a cell's end: the cell was quoted; it contains escapes to decode. */
export const QUOTED = 1
export const ESCAPED = 2
