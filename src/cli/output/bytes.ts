// Helpers for byte streams.
/** Appends a line break, which JSON of the API lacks. */
export async function* appendNewline(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* bytes
  yield Buffer.from('\n')
}
