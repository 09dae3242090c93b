// Parses plain JSON numbers without making a text of them.

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const POWERS = Array.from({ length: 16 }, (_, k) => 10 ** k)
/** Number of digits that a double represents exactly. */
const EXACT_DIGITS = 15

/**
 * Parses the number buf[start, end) if it has few digits and no exponent; NaN for others. Exact: one division
 * of two exact doubles.
 */
export function parseShortNumber(buf: Uint8Array, start: number, end: number): number {
  const isNegative = buf[start] === MINUS
  const from = isNegative ? start + 1 : start
  if (end - from > EXACT_DIGITS) return Number.NaN
  let digits = 0
  let scale = 0
  for (let k = from; k < end; k++) {
    const c = buf[k]
    if (c >= ZERO && c <= NINE) digits = digits * 10 + (c - ZERO)
    else if (c === POINT) scale = end - k - 1
    else return Number.NaN
  }
  const value = scale === 0 ? digits : digits / POWERS[scale]
  return isNegative ? -value : value
}
