// Buffers of output that are used again, so that long output does not allocate all of its bytes.

/** Maximum number of buffers that wait for their next use, and of the bytes of each. */
const MAX_IDLE = 2
const MAX_IDLE_BYTES = 1024 * 1024

const idle: Buffer[] = []
const lent = new WeakMap<ArrayBufferLike, Buffer>()

/** Returns a buffer of at least `bytes`, with any content. */
export function borrowBuffer(bytes: number): Buffer {
  const buffer = idle.pop()
  return buffer && buffer.length >= bytes ? buffer : Buffer.allocUnsafeSlow(bytes)
}

/**
 * Returns the first `bytes` of a buffer, whose last reader may give it back with `returnBuffer`. The caller must not use
 * the buffer any more.
 */
export function lendBuffer(buffer: Buffer, bytes: number): Buffer {
  // Not a part of other memory.
  if (buffer.buffer.byteLength === buffer.length) lent.set(buffer.buffer, buffer)
  return buffer.subarray(0, bytes)
}

/** Takes back the buffer of a chunk that nobody reads any more, not even a part of it. Other chunks are ignored. */
export function returnBuffer(chunk: Uint8Array): void {
  const buffer = lent.get(chunk.buffer)
  if (!buffer) return
  lent.delete(chunk.buffer)
  if (idle.length < MAX_IDLE && buffer.length <= MAX_IDLE_BYTES) idle.push(buffer)
}
