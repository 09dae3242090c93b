// Reads the beginning of a stream without consuming it.
import type { Bytes } from './bytes.ts'
import { concatAsync } from './event-loop.ts'

/** Reads the first `size` bytes, fewer if the stream ends. Returns them and a stream of all bytes. */
export async function peek(source: Bytes, size: number): Promise<{ head: Buffer; whole: Bytes }> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let length = 0
  while (length < size) {
    const { value, done } = await iterator.next()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  return { head: await concatAsync(chunks), whole: resumeStream(chunks, iterator) }
}

/** Yields chunks that were already read, releasing them, and then the rest of the stream. */
export async function* resumeStream(
  chunks: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) yield chunk
    for (;;) {
      const { value, done } = await rest.next()
      if (done) return
      yield value
    }
  } finally {
    await rest.return?.()
  }
}
