/** The first `most` bytes of the JSON string buf[start, end), decoded. A character that is cut is left out. */
export function startOfText(buf: Buffer, start: number, end: number, most: number): string {
  if (end - start <= most) return JSON.parse(buf.toString('utf8', start, end)) as string
  let stop = start + most
  // Not inside a character of several bytes, nor inside an escape: \\uXXXX is the longest one.
  while (stop > start + 1 && (buf[stop] & 0xc0) === 0x80) stop--
  let slash = stop - 1
  while (slash > stop - 6 && buf[slash] !== 0x5c) slash--
  // One that begins six bytes before is whole.
  const isNear = slash > stop - 6
  let backslashes = 0
  while (isNear && slash - backslashes > start && buf[slash - backslashes] === 0x5c) backslashes++
  if (backslashes % 2 === 1) stop = slash
  return JSON.parse(`${buf.toString('utf8', start, stop)}"`) as string
}
