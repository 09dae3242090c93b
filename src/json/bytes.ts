// Helpers for bytes and buffers.
export type { Bytes } from '../contract/http.ts'

/** Returns the same bytes as a Buffer, without copying. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const COMMA = 0x2c

/** Joins lists of comma-separated JSON to one. A single one is not copied. */
export function joinValues(texts: readonly Buffer[]): Buffer {
  if (texts.length === 1) return texts[0]
  let size = Math.max(0, texts.length - 1)
  for (const text of texts) size += text.length
  const joined = Buffer.allocUnsafe(size)
  let at = 0
  for (let k = 0; k < texts.length; k++) {
    if (k > 0) joined[at++] = COMMA
    at += texts[k].copy(joined, at)
  }
  return joined
}

/** Yields the bytes as a single chunk. */
export async function* toByteStream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/**
 * Returns a buffer with space for `more` bytes after the first `used`: the same one, or a copy at least twice
 * as large.
 */
export function ensureCapacity(buffer: Buffer, used: number, more: number): Buffer {
  if (used + more <= buffer.length) return buffer
  const bigger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + more))
  buffer.copy(bigger, 0, 0, used)
  return bigger
}
