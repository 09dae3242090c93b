export type Bytes = AsyncIterable<Uint8Array>
