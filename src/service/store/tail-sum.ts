import { crc32 } from 'node:zlib'

/** What of a row of the tail is covered by its checksum: all of it. */
export interface Summed {
  owner: string
  idlocal: number
  seq: number
  rows: number
  body: Uint8Array
}

/** CRC-32 of a row of the tail: it tells every flipped bit, and a row that belongs to another grid. */
export function tailSum({ owner, idlocal, seq, rows, body }: Summed): number {
  return crc32(body, crc32(`${owner}:${idlocal}:${seq}:${rows}:`))
}
