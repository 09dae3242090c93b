// Measures texts as terminals show them: a character of Chinese or Japanese, or an emoji, takes two cells.
import stringWidth from 'string-width'

const NARROW = /^[ -~]*$/
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Returns the width of a text without line ends, in cells. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text)
}

/** Maximum length of a character that is written as several, such as a flag, in UTF-16 units. */
const MAX_GRAPHEME_UNITS = 16

/** Shortens a text to a width, in cells. */
export function cutToWidth(text: string, width: number): string {
  const isLong = text.length > width * MAX_GRAPHEME_UNITS
  if (!isLong && widthOf(text) <= width) return text
  let cut = ''
  let remaining = width - 1
  for (const { segment } of graphemes.segment(text.slice(0, width * MAX_GRAPHEME_UNITS))) {
    remaining -= widthOf(segment)
    if (remaining < 0) break
    cut += segment
  }
  return `${cut}…`
}
