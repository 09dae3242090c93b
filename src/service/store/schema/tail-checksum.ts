// Checksums of tail rows.
import { crc32 } from 'node:zlib'

/** Fields of a tail row that its checksum covers. */
export interface ChecksummedTailRow {
  owner: string
  idlocal: number
  seq: number
  rows: number
  body: Uint8Array
}

/** Returns the CRC-32 of a tail row. Detects flipped bits, and rows that belong to another grid. */
export function computeTailChecksum({ owner, idlocal, seq, rows, body }: ChecksummedTailRow): number {
  return crc32(body, crc32(`${owner}:${idlocal}:${seq}:${rows}:`))
}
