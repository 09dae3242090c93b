// Decodes JSON strings.
import { yieldToEventLoop } from './event-loop.ts'

/** Parses a JSON string. */
export function parseJsonString(json: string): string {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'string') throw new TypeError('not a JSON string')
  return value
}

/** Number of bytes decoded per turn of the event loop. */
const MAX_TURN_BYTES = 256 * 1024

/**
 * Decodes a JSON string to UTF-8, yielding to the event loop: a JSON document inside a string may be as large
 * as a request body.
 */
export async function decodeStringAsync({
  buf,
  start,
  end,
}: {
  buf: Buffer
  start: number
  end: number
}): Promise<Buffer> {
  const out = Buffer.allocUnsafe(end - start)
  // The search ends with the string, since a large document may follow.
  const inside = buf.subarray(0, end - 1)
  let at = 0
  let turn = start
  for (let i = start + 1; i < end - 1; ) {
    if (i - turn > MAX_TURN_BYTES) {
      turn = i
      await yieldToEventLoop()
    }
    const backslash = inside.indexOf(0x5c, i)
    const upTo = backslash < 0 ? end - 1 : backslash
    at += buf.copy(out, at, i, upTo)
    i = upTo
    if (i === end - 1) break
    const simple = SIMPLE_ESCAPES[buf[i + 1]]
    if (simple > 0) {
      out[at++] = simple
      i += 2
      continue
    }
    const length = escapeLengthAt(buf, i)
    at += out.write(parseJsonString(`"${buf.toString('latin1', i, i + length)}"`), at)
    i += length
  }
  return out.subarray(0, at)
}

/** Decoded byte of each single-character escape, by the byte after the backslash; 0 for others. */
export const SIMPLE_ESCAPES = new Uint8Array(128)
for (const c of '"\\/bfnrt') SIMPLE_ESCAPES[c.charCodeAt(0)] = parseJsonString(`"\\${c}"`).charCodeAt(0)

/** Returns the length of the escape at `i`, or of both escapes of a surrogate pair. */
function escapeLengthAt(buf: Buffer, i: number): number {
  if (buf[i + 1] !== 0x75) return 2
  const isHigh = /^d[89ab]/i.test(buf.toString('latin1', i + 2, i + 4))
  return isHigh && buf[i + 6] === 0x5c && buf[i + 7] === 0x75 ? 12 : 6
}
