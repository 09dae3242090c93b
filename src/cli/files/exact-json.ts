// Parses and writes JSON without rounding whole numbers: JavaScript keeps only 15 to 16 of their digits.
import { randomUUID } from 'node:crypto'

/** Begin of a text that stands for a whole number. No document can have it. */
const MARK = `integer ${randomUUID()} `
const MIN_DIGITS = 16
/** Whole numbers of 16 or more digits, in the parts of JSON between texts. */
const LONG_INTEGERS = /(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE])/g
const MARKED_INTEGERS = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** Parses JSON. Whole numbers that a double cannot hold become texts that only `stringifyExact` reads. */
export function parseExact(text: string): unknown {
  return JSON.parse(
    /\d{16}/.test(text) ? replaceBetweenTexts(text, LONG_INTEGERS, MIN_DIGITS, markInteger) : text,
  )
}

/** Numbers that JSON lacks, as Python writes them. */
const NOT_FINITE = /-?\b(?:NaN|Infinity)\b/g
const MIN_NOT_FINITE_CHARACTERS = 3

/** Replaces numbers that are not finite by null, as in a figure. Other texts than JSON stay as they are. */
export function nullNotFinite(text: string): string {
  return text.search(NOT_FINITE) < 0
    ? text
    : replaceBetweenTexts(text, NOT_FINITE, MIN_NOT_FINITE_CHARACTERS, () => 'null')
}

/** Replaces parts of JSON of at least `minCharacters` between its texts. Linear also for damaged JSON. */
function replaceBetweenTexts(
  text: string,
  pattern: RegExp,
  minCharacters: number,
  replace: (part: string) => string,
): string {
  const parts: string[] = []
  let copied = 0
  let at = 0
  while (at < text.length) {
    const quote = text.indexOf('"', at)
    const end = quote < 0 ? text.length : quote
    if (end - at >= minCharacters) {
      parts.push(text.slice(copied, at), text.slice(at, end).replace(pattern, replace))
      copied = end
    }
    at = quote < 0 ? end : findTextEnd(text, quote)
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

function markInteger(digits: string): string {
  return String(Number(digits)) === digits ? digits : `"${MARK}${digits}"`
}

/** Returns the position after the text that begins at `quote`. */
function findTextEnd(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let from = end
    while (text[from - 1] === '\\') from--
    if ((end - from) % 2 === 0) return end + 1
  }
  return text.length
}

/** Writes a value of `parseExact` as JSON. */
export function stringifyExact(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes(MARK) ? text.replace(MARKED_INTEGERS, '$1') : text
}
