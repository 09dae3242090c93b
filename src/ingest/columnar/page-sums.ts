// Checks the pages of Parquet files against their checksums, which not all writers store.
import { crc32 } from 'node:zlib'
import { parquetHeader } from 'hyparquet/src/column.js'
import { RefusedFile } from './table.ts'

/** Size in which the header of a page is found, unless it has long statistics, in bytes. */
const HEADER_BYTES = 16 * 1024

/** Returns whether the pages of a chunk have checksums, of which `read` returns bytes. */
export function hasPageSums(
  read: (start: number, end: number) => ArrayBuffer,
  [start, end]: [number, number],
): boolean {
  try {
    const view = new DataView(read(start, Math.min(end, start + HEADER_BYTES)))
    return parquetHeader({ view, offset: 0 }).crc !== undefined
  } catch {
    // The reader says what is wrong.
    return false
  }
}

/** Throws `RefusedFile` if a page of a chunk of a column differs from its checksum. Stops at a page without one. */
export function checkPageSums(bytes: ArrayBuffer): void {
  const reader = { view: new DataView(bytes), offset: 0 }
  while (reader.offset < bytes.byteLength - 1) {
    const { crc, compressed_page_size: size } = parquetHeader(reader)
    if (crc === undefined || !(size >= 0 && size <= bytes.byteLength - reader.offset)) return
    if (crc32(new Uint8Array(bytes, reader.offset, size)) !== crc >>> 0)
      throw new RefusedFile('a page is damaged: it differs from its checksum', 'Write the file again.')
    reader.offset += size
  }
}
