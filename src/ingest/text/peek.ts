// Reads the beginning of a stream without consuming it.
import { type Bytes, concatAsync } from '../../json/index.ts'

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
  /** Streams the whole source: the chunks read so far, then the rest. */
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks
      chunks.length = 0
      for (;;) {
        const { value, done } = await iterator.next()
        if (done) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: await concatAsync(chunks), whole: whole() }
}
