// Decodes the beginning of long JSON strings.

/** Decodes the first `maxBytes` bytes of the JSON string buf[start, end). A cut character is left out. */
export function decodeStart(buf: Buffer, start: number, end: number, maxBytes: number): string {
  if (end - start <= maxBytes) return JSON.parse(buf.toString('utf8', start, end))
  let stop = start + maxBytes
  // Do not cut a character of several bytes or an escape; the longest escape is \\uXXXX.
  while (stop > start + 1 && (buf[stop] & 0xc0) === 0x80) stop--
  let slash = stop - 1
  while (slash > stop - 6 && buf[slash] !== 0x5c) slash--
  // An escape that begins six bytes before is complete.
  const isNear = slash > stop - 6
  let backslashes = 0
  while (isNear && slash - backslashes > start && buf[slash - backslashes] === 0x5c) backslashes++
  if (backslashes % 2 === 1) stop = slash
  return JSON.parse(`${buf.toString('utf8', start, stop)}"`)
}
