import { type Bytes, joinInTurns } from '../../json/index.ts'

/** Reads the first `size` bytes (fewer if the stream ends). Returns them and the whole stream. */
export async function peek(source: Bytes, size: number): Promise<{ head: Buffer; whole: Bytes }> {
  const iterator = source[Symbol.asyncIterator]()
  const parts: Uint8Array[] = []
  let length = 0
  while (length < size) {
    const { value, done } = await iterator.next()
    if (done) break
    parts.push(value)
    length += value.length
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* parts
      parts.length = 0
      for (;;) {
        const { value, done } = await iterator.next()
        if (done) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: await joinInTurns(parts), whole: whole() }
}
