// Indexes rows by key.
import type { WorkBudget } from '../../../json/index.ts'
import type { Comparison } from '../../store/schema/column-types.ts'
import { areChunksOrdered, readCells } from '../column/chunks.ts'
import { type CellReader, RowHashes } from '../column/kernel/cells.ts'
import { RowIndex } from './common-subsequence.ts'
import type { GroupedTable } from './row-groups.ts'

/** A key column. `column`: its position among the compared columns. */
export interface KeyColumn {
  column: number
  name: string
  comparison: Comparison
}

/** An invalid key: of one row if it is null, of two rows if they have the same. */
export interface KeyFault {
  /** Row numbers, from 0. */
  rows: number[]
  /** Key columns with values: `id 5, day "2024-05-01"`. */
  key: string
}

/** Hashes of unique keys by row, and rows by hash. Rows are numbered among those to read of a table. */
export class KeyIndex {
  private rowIndex: RowIndex | undefined

  constructor(
    readonly hashes: RowHashes,
    private readonly work: WorkBudget,
  ) {}

  /** Number of indexed rows. */
  get rows(): number {
    return this.hashes.low.length
  }

  /** Returns whether the rows can be found without making an index first. */
  get isIndexed(): boolean {
    return this.rowIndex !== undefined
  }

  /** Makes the index, unless it exists. Call it before `find`. Returns the first two rows with the same key. */
  async prepare(): Promise<[number, number] | undefined> {
    if (this.rowIndex) return undefined
    const { hashes, work } = this
    const index = new RowIndex(hashes, this.rows)
    for (let row = 0; row < this.rows; row++) {
      const other = index.add(row)
      if (other !== undefined) return [other, row]
      if (work.spend(4)) await work.pause()
    }
    this.rowIndex = index
    return undefined
  }

  /** Returns the row with the same key as `row` of `other`; undefined without one. */
  find(other: RowHashes, row: number): number | undefined {
    return this.rowIndex!.get(other, row)
  }
}

/** Returns whether the keys of a table ascend, as far as their bounds tell. Then only each chunk is checked. */
function mayAscend(table: GroupedTable, key: readonly KeyColumn[]): boolean {
  return key.length === 1 && key[0].comparison === 'value' && areChunksOrdered(table.chunks[key[0].column])
}

/** Returns whether the keys of a table are numbers in strictly ascending order. They are unique, and not null. */
export async function areKeysAscending(
  reader: CellReader,
  table: GroupedTable,
  key: readonly KeyColumn[],
): Promise<boolean> {
  if (!mayAscend(table, key)) return false
  for await (const { text } of table.loadChunks(key[0].column)) if (!reader.isAscending(text)) return false
  return true
}

/** Indexes the rows to read of a table by key. Throws `problem(fault)` if a key is null or not unique. */
export async function indexKeys(
  reader: CellReader,
  table: GroupedTable,
  key: readonly KeyColumn[],
  problem: (fault: KeyFault) => Error,
  work: WorkBudget,
): Promise<KeyIndex> {
  const fault = async (...indexes: number[]): Promise<Error> => {
    const tableRows = indexes.map((index) => table.rowOf(index))
    const texts: string[] = []
    for (const { column, name } of key) {
      const [cell] = await readCells(reader, table.chunks[column], [tableRows[0]])
      texts.push(`${name} ${cell.slice(0, 80)}`)
    }
    return problem({ rows: tableRows, key: texts.join(', ') })
  }
  const hashes = new RowHashes(table.chosenRows)
  let areAscending = mayAscend(table, key)
  for (const { column, comparison } of key) {
    const missing = await table.hash(reader, column, hashes, comparison, (text) => {
      areAscending &&= reader.isAscending(text)
    })
    if (missing !== undefined) throw await fault(missing)
  }
  const keys = new KeyIndex(hashes, work)
  // Ascending keys are unique without an index.
  const equal = areAscending ? undefined : await keys.prepare()
  if (equal) throw await fault(...equal)
  return keys
}

/** Formats a fault: `rows 3 and 9 have the same key: id 5`, `row 3 has no key: id null`. */
export function formatKeyFault(
  { rows, key }: KeyFault,
  noun: string,
  numberOf: (row: number) => number,
): string {
  return rows.length === 1
    ? `${noun} ${numberOf(rows[0])} has no key: ${key}`
    : `${noun}s ${rows.map(numberOf).join(' and ')} have the same key: ${key}`
}
