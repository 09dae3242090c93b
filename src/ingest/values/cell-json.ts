// Writes the cells of a column as JSON.
import { BACKSLASH, COMMA, HYPHEN, LETTER_N, NINE, POINT, QUOTE, SPACE, ZERO } from './characters.ts'

/**
 * Encoding of the values of a slice. `number`: each cell as written in the file, which is a JSON number (with
 * surrounding blanks, which are JSON white space) or `null`. `text`: JSON strings or `null`. `number`
 * preserves cells byte for byte: if the column turns out to be text, the slice can be converted without
 * reading the file again.
 */
export type SliceEncoding = 'number' | 'text'

const HEX = '0123456789abcdef'

/**
 * Copies a plain number, such as -12.50, from buf[start, end) to out[at]. Returns the end of the copy; −1 for
 * other cells.
 */
export function copyPlainNumber(
  out: Uint8Array,
  at: number,
  buf: Uint8Array,
  start: number,
  end: number,
): number {
  let i = start
  let to = at
  if (buf[i] === HYPHEN) out[to++] = buf[i++]
  const digits = i
  let point = 0
  if (buf[i] === ZERO && i + 1 !== end && buf[i + 1] !== POINT) return -1
  for (; i < end; i++) {
    const c = buf[i]
    if (c > NINE || (c < ZERO && (c !== POINT || point > 0 || i === digits || i + 1 === end))) return -1
    if (c === POINT) point = i
    out[to++] = c
  }
  return i > digits && i - digits < 16 ? to : -1
}

/** Copies buf[start, end) to out[at] with JSON escapes. Returns the end of the copy. */
export function copyEscaped(
  out: Uint8Array,
  at: number,
  buf: Uint8Array,
  start: number,
  end: number,
): number {
  let to = at
  for (let i = start; i < end; i++) to = copyByte(out, to, buf[i])
  return to
}

/** Writes byte `c` of a string to out[at], as an escape if JSON needs one. Returns the new offset. */
export function copyByte(out: Uint8Array, at: number, c: number): number {
  // Needs no escape: above the double quote except the backslash; space and `!`.
  if (c > QUOTE ? c !== BACKSLASH : c === SPACE || c === 0x21) {
    out[at] = c
    return at + 1
  }
  return writeEscape(out, at, c)
}

/** Writes byte `c` as a JSON escape. Returns the new offset. */
function writeEscape(out: Uint8Array, at: number, c: number): number {
  out[at++] = BACKSLASH
  if (c === QUOTE || c === BACKSLASH) out[at++] = c
  else if (c === 0x0a) out[at++] = 0x6e
  else if (c === 0x0d) out[at++] = 0x72
  else if (c === 0x09) out[at++] = 0x74
  else {
    out[at++] = 0x75
    out[at++] = 0x30
    out[at++] = 0x30
    out[at++] = 0x30 + (c >> 4)
    out[at++] = HEX.charCodeAt(c & 15)
  }
  return at
}

/** Converts a slice from `number` to `text` encoding: cells as written, in quotes. */
export function quoteNumbers(numbers: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(numbers.length * 3 + 2)
  let at = 0
  let start = 0
  for (let i = 0; i <= numbers.length; i++) {
    if (i < numbers.length && numbers[i] !== COMMA) continue
    if (numbers[start] === LETTER_N) {
      for (let k = start; k < i; k++) out[at++] = numbers[k]
    } else if (numbers[start] === SPACE && numbers[start + 1] === LETTER_N) {
      out[at++] = QUOTE
      out[at++] = QUOTE
    } else {
      out[at++] = QUOTE
      for (let k = start; k < i; k++) out[at++] = numbers[k]
      out[at++] = QUOTE
    }
    if (i < numbers.length) out[at++] = COMMA
    start = i + 1
  }
  return out.subarray(0, at)
}
