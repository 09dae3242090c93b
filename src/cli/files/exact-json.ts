// Parses and writes JSON without rounding whole numbers: JavaScript keeps only 15 to 16 of their digits.
import { randomUUID } from 'node:crypto'

/** Marks a whole number that is kept as text. No document can have it. */
const MARK = `integer ${randomUUID()} `
/** Texts, which are left as they are, and whole numbers of 16 or more digits. */
const LONG_INTEGERS = /"(?:[^"\\]+|\\.)*"|(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE])/g
const MARKED_INTEGERS = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** Parses JSON. Whole numbers that a double cannot hold become texts that only `stringifyExact` reads. */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(
    text.replace(LONG_INTEGERS, (part) =>
      part.startsWith('"') || String(Number(part)) === part ? part : `"${MARK}${part}"`,
    ),
  )
}

/** Writes a value of `parseExact` as JSON. */
export function stringifyExact(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes(MARK) ? text.replace(MARKED_INTEGERS, '$1') : text
}
