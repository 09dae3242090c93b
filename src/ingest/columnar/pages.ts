// Checks the pages of Parquet files: their headers, and their checksums, which not all writers store.
import { crc32 } from 'node:zlib'
import type { ColumnMetaData, PageHeader } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { RefusedFile } from './table.ts'

/**
 * Throws `RefusedFile` if a page of a chunk of a column differs from its checksum, if its header has no usable sizes, with
 * which the reader would not end, or if the pages do not have as many values as the chunk.
 */
export function checkPages(bytes: ArrayBuffer, { num_values: expected }: ColumnMetaData): void {
  let count = 0
  const reader = { view: new DataView(bytes), offset: 0 }
  while (reader.offset < bytes.byteLength - 1) {
    const header = parquetHeader(reader)
    const { crc, compressed_page_size: size } = header
    // The reader says what is wrong.
    if (!(size >= 0 && size <= bytes.byteLength - reader.offset)) return
    if (crc !== undefined && crc32(new Uint8Array(bytes, reader.offset, size)) !== crc >>> 0)
      throw new RefusedFile('a page is damaged: it differs from its checksum', 'Write the file again.')
    if (!hasSizes(header))
      throw new RefusedFile('a page is damaged: its header contradicts itself', 'Write the file again.')
    count += header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? 0
    reader.offset += size
  }
  if (count !== Number(expected))
    throw new RefusedFile(
      'pages are damaged: they do not have as many values as the file says',
      'Write the file again.',
    )
}

/** Returns whether the numbers of values and bytes in a header are there, and not negative. */
function hasSizes(header: PageHeader): boolean {
  const { data_page_header: first, data_page_header_v2: second, dictionary_page_header: words } = header
  const counts = [first, second, words].flatMap((page) => (page ? [page.num_values] : []))
  if (second) {
    const { definition_levels_byte_length, repetition_levels_byte_length, num_values, num_nulls } = second
    counts.push(
      definition_levels_byte_length,
      repetition_levels_byte_length,
      num_nulls,
      num_values - num_nulls,
    )
    counts.push(header.compressed_page_size - definition_levels_byte_length - repetition_levels_byte_length)
  }
  return counts.every((count) => count >= 0)
}
