// Finds the changed cells of paired rows.
import type { ColumnChunk } from '../column/chunks.ts'
import { type ComparedTables, hashRows, type RowChange, RowList, type RowPairs } from './diff-inputs.ts'

/** The paired rows in each table. */
interface RowLists {
  left: RowList
  right: RowList
}

/** Finds the columns in which paired rows differ, one column at a time. */
export class ChangedCells {
  /** Number of changed cells, by column pair. */
  readonly byPair: number[]
  private readonly isChanged: Uint8Array

  constructor(
    private readonly tables: ComparedTables,
    private readonly rows: RowPairs,
    private readonly tolerance: number,
  ) {
    this.byPair = tables.pairs.map(() => 0)
    this.isChanged = new Uint8Array(rows.before.length)
  }

  /** Compares all columns except those of the key. */
  async compare(): Promise<void> {
    const { before } = this.rows
    if (before.length === 0) return
    const { work } = this.tables
    const lists = {
      left: await RowList.create(before, work),
      right: await RowList.create(this.rows.after, work),
    }
    for (const [column, { comparison, isKey }] of this.tables.pairs.entries()) {
      if (isKey) continue
      const same = await this.findSharedValues(column, lists.left)
      if (this.tolerance > 0 && comparison === 'value') await this.compareNumbers(column, lists, same)
      else await this.compareHashes(column, lists, same)
    }
  }

  /** Number of changed rows. */
  get changedRows(): number {
    return this.isChanged.reduce((sum, isChanged) => sum + isChanged, 0)
  }

  /** Returns the changed rows. */
  async listChangedRows(): Promise<RowChange[]> {
    const { left, right, work } = this.tables
    const changes: RowChange[] = []
    for (let k = 0; k < this.isChanged.length; k++) {
      if (this.isChanged[k] === 1)
        changes.push({ before: left.rowOf(this.rows.before[k]), after: right.rowOf(this.rows.after[k]) })
      if (work.spend(1)) await work.pause()
    }
    return changes
  }

  /** Returns 1 for each pair of rows whose values are at the same position of the same slice. */
  private async findSharedValues(column: number, left: RowList): Promise<Uint8Array> {
    const same = new Uint8Array(this.rows.before.length)
    const { left: a, right: b, work } = this.tables
    const byContent = new Map<string, { from: number }[]>()
    for (const placedPart of b.listChunks(column)) {
      const { contentKey } = placedPart.part
      if (contentKey === undefined) continue
      byContent.set(contentKey, [...(byContent.get(contentKey) ?? []), { from: placedPart.index }])
    }
    for (const { part, index } of a.listChunks(column)) {
      for (const { from } of (part.contentKey !== undefined && byContent.get(part.contentKey)) || [])
        for (const k of left.positionsWithin(index, part.rows)) {
          if (this.rows.after[k] - from === this.rows.before[k] - index) same[k] = 1
          if (work.spend(1)) await work.pause()
        }
    }
    return same
  }

  /** Compares the hashes of a column. `same`: pairs that need no comparison. */
  private async compareHashes(column: number, { left, right }: RowLists, same: Uint8Array): Promise<void> {
    const a = await hashRows(this.tables, 'left', column, left, same)
    const b = await hashRows(this.tables, 'right', column, right, same)
    const { work } = this.tables
    for (let k = 0; k < same.length; k++) {
      if (same[k] === 0 && !a.isSame(k, b, k)) this.record(k, column)
      if (work.spend(1)) await work.pause()
    }
  }

  /** Compares the values of a column with a tolerance. */
  private async compareNumbers(column: number, { left, right }: RowLists, same: Uint8Array): Promise<void> {
    const { left: a, right: b, reader } = this.tables
    const texts: string[] = new Array(this.rows.before.length)
    const take = async (table: typeof a, wanted: RowList, each: (k: number, json: string) => void) => {
      const isNeeded = (part: ColumnChunk, index: number): boolean =>
        wanted.hasRowWithin(index, part.rows, same)
      for await (const { text, index, rows } of table.loadChunks(column, isNeeded)) {
        const positions = wanted.positionsWithin(index, rows)
        const cells = reader.findCells(
          text,
          positions.map((k) => wanted.rowAt(k) - index),
        )
        for (const [n, { buf, start, end }] of cells.entries())
          each(positions[n], buf.toString('utf8', start, end))
      }
    }
    await take(a, left, (k, json) => {
      texts[k] = json
    })
    await take(b, right, (k, json) => {
      if (same[k] === 0 && !isNear(texts[k], json, this.tolerance)) this.record(k, column)
    })
  }

  private record(k: number, column: number): void {
    this.isChanged[k] = 1
    this.byPair[column]++
  }
}

/** Returns whether two JSON values are equal, or numbers that differ by no more than `tolerance`. */
export function isNear(a: string, b: string, tolerance: number): boolean {
  if (a === b) return true
  const [x, y] = [parseNumber(a), parseNumber(b)]
  if (x !== undefined && y !== undefined)
    // Allow for rounding of binary fractions, so that 0.3 and 0.2 differ by 0.1.
    return Math.abs(x - y) <= tolerance + Number.EPSILON * Math.max(Math.abs(x), Math.abs(y))
  if (a[0] !== '"' || b[0] !== '"') return false
  return JSON.parse(a) === JSON.parse(b)
}

function parseNumber(json: string): number | undefined {
  return /^[-\d]/.test(json) ? Number(json) : undefined
}
