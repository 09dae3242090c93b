// Types of the modules of unbzip2-stream that decompress block by block.
declare module 'unbzip2-stream/lib/bzip2.js' {
  interface Bits {
    bytesRead: number
  }
  const bzip2: {
    /** Reads the header of a stream. Returns its level, 1 to 9. */
    header(bits: Bits): number
    /** Unpacks a block, byte by byte. Returns the checksum of the stream so far; null at its end. */
    decompress(
      bits: Bits,
      put: (byte: number) => void,
      work: Int32Array,
      size: number,
      sum: number,
    ): number | null
  }
  export default bzip2
}
declare module 'unbzip2-stream/lib/bit_iterator.js' {
  export default function bitsOf(next: () => Uint8Array | undefined): { bytesRead: number }
}
