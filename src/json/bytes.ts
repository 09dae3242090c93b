export type { Bytes } from '../contract/http.ts'

/** Returns the same bytes as a Buffer, without copying them. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Returns a body of one piece. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/**
 * Returns the buffer if it has room for `more` bytes behind the first `used`; otherwise one twice as large,
 * with these.
 */
export function withRoom(buffer: Buffer, used: number, more: number): Buffer {
  if (used + more <= buffer.length) return buffer
  const bigger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + more))
  buffer.copy(bigger, 0, 0, used)
  return bigger
}
