/** Flags of a cell, in the low bits of its end: it was quoted; it contains escapes to decode. */
export const QUOTED = 1
export const ESCAPED = 2
