/** Finds rows by the values of their key. */
import type { Work } from '../../../json/index.ts'
import { type CellReader, RowHashes } from '../column/kernel/cells.ts'
import { readCells } from '../column/parts.ts'
import type { ChunkedTable } from './chunks.ts'
import { RowIndex } from './sequence.ts'

/** A column of a key: its place among those that are read. */
export interface KeyColumn {
  column: number
  name: string
  /** 5 and "5" are the same. */
  asText: boolean
}

/** Why a key does not tell rows apart: a row without one, or two rows with the same. */
export interface KeyFault {
  /** From 0. */
  rows: number[]
  /** `id 5, day "2024-05-01"`. */
  key: string
}

export interface KeyIndex {
  hashes: RowHashes
  index: RowIndex
}

/** Indexes the `rows` rows of a table that are read by their keys. Throws what `problem` makes of a fault. */
export async function indexKeys(
  reader: CellReader,
  table: ChunkedTable,
  key: readonly KeyColumn[],
  rows: number,
  problem: (fault: KeyFault) => Error,
  work: Work,
): Promise<KeyIndex> {
  const fault = async (...indexes: number[]): Promise<Error> => {
    const places = indexes.map((index) => table.rowOf(index))
    const texts: string[] = []
    for (const { column, name } of key) {
      const [cell] = await readCells(reader, table.parts[column], [places[0]])
      texts.push(`${name} ${cell.slice(0, 80)}`)
    }
    return problem({ rows: places, key: texts.join(', ') })
  }
  const hashes = new RowHashes(rows)
  for (const { column, asText } of key) {
    const missing = await table.hash(reader, column, hashes, asText)
    if (missing !== undefined) throw await fault(missing)
  }
  const index = new RowIndex(hashes, rows)
  for (let row = 0; row < rows; row++) {
    const other = index.add(row)
    if (other !== undefined) throw await fault(other, row)
    if (work.spend(4)) await work.pause()
  }
  return { hashes, index }
}

/** `rows 3 and 9 have the same key: id 5`, `row 3 has no key: id null`. */
export function faultText({ rows, key }: KeyFault, noun: string, place: (row: number) => number): string {
  return rows.length === 1
    ? `${noun} ${place(rows[0])} has no key: ${key}`
    : `${noun}s ${rows.map(place).join(' and ')} have the same key: ${key}`
}
