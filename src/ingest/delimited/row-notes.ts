// Recognizes notes below a table.

import { SPACE } from '../values/characters.ts'
import type { ColumnProfile } from '../values/dialect.ts'
import { isPaddedNumber } from '../values/number.ts'
import type { ScannedRows } from './scanned-rows.ts'

/** Beginnings and contents of notes about a table that names and values do not have. */
const NOTE =
  /^\W*(sources?|notes?|remarks?|footnotes?|data|quellen?|anmerkung(en)?|hinweis|stand|fuentes?|notas?|fontes?|remarques?|end of|updated|last updated|generated|exported|copyright)\b.*[\s:]|^\s*([*†‡§©¹²³]|\(\d+\)|\[\d+\]|\d+[.)] )|: |\.$|\S+( \S+){3}/i
/** Number of bytes of a cell that are matched with `NOTE`. */
const MAX_NOTE_BYTES = 400

/** Returns whether the text buf[start, end) reads like a note: `Source: …`. */
export function isNoteText(buf: Uint8Array, start: number, end: number): boolean {
  return NOTE.test(Buffer.from(buf.subarray(start, Math.min(end, start + MAX_NOTE_BYTES))).toString('utf8'))
}

/**
 * Returns whether the scanned row, below a blank line, is a note, without values that all other rows have: a
 * line without delimiters, text of a note in the first cell only, or a sentence with commas.
 */
export function isNote(
  buf: Uint8Array,
  { starts, ends, rows, width }: ScannedRows,
  cells: number,
  { filled, numeric }: ColumnProfile,
): boolean {
  const first = rows * width
  const end = ends[first] >> 2
  if (width < 2 || isPaddedNumber(buf, starts[first], end)) return false
  // With two columns, a line with a delimiter is a row.
  if (width === 2) return cells === 1 && filled[1] && numeric[1]
  if (!filled.some((always, k) => always && k > 0)) return false
  let isSentence = cells < width
  let isAlone = cells === 1 || isNoteText(buf, starts[first], end)
  for (let k = 1; k < Math.min(cells, width); k++) {
    const start = starts[first + k]
    if (ends[first + k] === start << 2) continue
    isAlone = false
    isSentence &&= buf[start] === SPACE
  }
  return isAlone || (isSentence && filled.some((always, k) => always && k >= cells))
}
