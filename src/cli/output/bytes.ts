/** Bytes with a line end, which JSON of the API does not have. */
export async function* withNewline(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* bytes
  yield Buffer.from('\n')
}
