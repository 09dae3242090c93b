/**
 * Defines what counts as a number: the JSON number grammar (RFC 8259), except integers that a double cannot
 * represent exactly. So `007`, `+5`, `.5` and 20-digit ids are text, and `1.10` stays `1.10`.
 */
const MAX_SAFE = '9007199254740991'

/** Whether buf[start, end) is a JSON number that a double can represent. */
export function isNumber(buf: Uint8Array, start: number, end: number): boolean {
  let i = start
  if (buf[i] === 0x2d) i++
  const intStart = i
  let c = buf[i]
  if (i >= end) return false
  if (c === 0x30) i++
  else {
    while (i < end && (c = buf[i]) >= 0x30 && c <= 0x39) i++
    if (i === intStart) return false
  }
  if (i === end) return i - intStart < 16 || isSafeInteger(buf, intStart, end)
  if (buf[i] === 0x2e) {
    const fraction = ++i
    while (i < end && (c = buf[i]) >= 0x30 && c <= 0x39) i++
    if (i === fraction) return false
    if (i === end) return i - intStart < 300 || Number.isFinite(value(buf, start, end))
  }
  c = buf[i]
  if (c !== 0x65 && c !== 0x45) return false
  i++
  if (buf[i] === 0x2b || buf[i] === 0x2d) i++
  const exponent = i
  while (i < end && (c = buf[i]) >= 0x30 && c <= 0x39) i++
  return i === end && i > exponent && Number.isFinite(value(buf, start, end))
}

/** Whether buf[start, end) is a number with spaces around it, as in fixed-width exports. */
export function isPaddedNumber(buf: Uint8Array, start: number, end: number): boolean {
  let from = start
  let to = end
  while (from < to && buf[from] === 0x20) from++
  while (to > from && buf[to - 1] === 0x20) to--
  return isNumber(buf, from, to)
}

function value(buf: Uint8Array, start: number, end: number): number {
  return Number(Buffer.from(buf.subarray(start, end)).toString('latin1'))
}

function isSafeInteger(buf: Uint8Array, start: number, end: number): boolean {
  if (end - start > 16) return false
  for (let i = 0; i < 16; i++) {
    const difference = buf[start + i] - MAX_SAFE.charCodeAt(i)
    if (difference !== 0) return difference < 0
  }
  return true
}

/**
 * Converts a cell of a column given as number to a JSON number. Also accepts `+5`, `007`, `.5` and `5.`.
 * Returns undefined if it is not a number.
 */
export function asNumber(text: string): string | undefined {
  const match = /^([+-]?)0*(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(text.trim())
  if (!match || !/\d/.test(text)) return undefined
  const [, sign, whole, fraction, exponent = ''] = match
  const number = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${exponent}`
  return Number.isFinite(Number(number)) ? number : undefined
}
