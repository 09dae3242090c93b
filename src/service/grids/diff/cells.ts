import type { Part } from '../column/parts.ts'
import { pickHashes, type RowChange, type RowPairs, type Tables, Wanted } from './wanted.ts'

/** Finds in which columns paired rows differ, one column at a time. */
export class CellDifferences {
  /** How many cells differ, by pair of columns. */
  readonly byPair: number[]
  private readonly isChanged: Uint8Array

  constructor(
    private readonly tables: Tables,
    private readonly rows: RowPairs,
    private readonly tolerance: number,
  ) {
    this.byPair = tables.pairs.map(() => 0)
    this.isChanged = new Uint8Array(rows.before.length)
  }

  async find(): Promise<void> {
    const { before } = this.rows
    if (before.length === 0) return
    const { work } = this.tables
    const left = await Wanted.of(before, work)
    const right = await Wanted.of(this.rows.after, work)
    for (const [column, { asText, isKey }] of this.tables.pairs.entries()) {
      if (isKey) continue
      const same = await this.alike(column, left)
      if (this.tolerance > 0 && !asText) await this.numbers(column, left, right, same)
      else await this.values(column, left, right, same)
    }
  }

  get count(): number {
    return this.isChanged.reduce((sum, one) => sum + one, 0)
  }

  /** The rows that differ. */
  async changed(): Promise<RowChange[]> {
    const { left, right, work } = this.tables
    const changes: RowChange[] = []
    for (let k = 0; k < this.isChanged.length; k++) {
      if (this.isChanged[k] === 1)
        changes.push({ before: left.rowOf(this.rows.before[k]), after: right.rowOf(this.rows.after[k]) })
      if (work.spend(1)) await work.pause()
    }
    return changes
  }

  /** Pairs whose values are at the same place of the same slice. */
  private async alike(column: number, left: Wanted): Promise<Uint8Array> {
    const same = new Uint8Array(this.rows.before.length)
    const { left: a, right: b, work } = this.tables
    const byHash = new Map<string, { from: number }[]>()
    for (const part of b.placed(column)) {
      const { hash } = part.part
      if (hash === undefined) continue
      byHash.set(hash, [...(byHash.get(hash) ?? []), { from: part.index }])
    }
    for (const { part, index } of a.placed(column)) {
      for (const { from } of (part.hash !== undefined && byHash.get(part.hash)) || [])
        for (const k of left.within(index, part.rows)) {
          if (this.rows.after[k] - from === this.rows.before[k] - index) same[k] = 1
          if (work.spend(1)) await work.pause()
        }
    }
    return same
  }

  private async values(column: number, left: Wanted, right: Wanted, same: Uint8Array): Promise<void> {
    const a = await pickHashes(this.tables, 'left', column, left, same)
    const b = await pickHashes(this.tables, 'right', column, right, same)
    const { work } = this.tables
    for (let k = 0; k < same.length; k++) {
      if (same[k] === 0 && !a.isSame(k, b, k)) this.differs(k, column)
      if (work.spend(1)) await work.pause()
    }
  }

  /** With a tolerance: numbers are compared as such. */
  private async numbers(column: number, left: Wanted, right: Wanted, same: Uint8Array): Promise<void> {
    const { left: a, right: b, reader } = this.tables
    const texts: string[] = new Array(this.rows.before.length)
    const take = async (table: typeof a, wanted: Wanted, each: (k: number, json: string) => void) => {
      const isNeeded = (part: Part, index: number): boolean => wanted.some(index, part.rows, same)
      for await (const { text, index, rows } of table.texts(column, isNeeded)) {
        const some = wanted.within(index, rows)
        const found = reader.find(
          text,
          some.map((k) => wanted.row(k) - index),
        )
        for (const [n, { buf, start, end }] of found.entries())
          each(some[n], buf.toString('utf8', start, end))
      }
    }
    await take(a, left, (k, json) => {
      texts[k] = json
    })
    await take(b, right, (k, json) => {
      if (same[k] === 0 && !isNear(texts[k], json, this.tolerance)) this.differs(k, column)
    })
  }

  private differs(k: number, column: number): void {
    this.isChanged[k] = 1
    this.byPair[column]++
  }
}

/** Whether two JSON values are the same, or numbers that differ by no more than a tolerance. */
export function isNear(a: string, b: string, tolerance: number): boolean {
  if (a === b) return true
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined)
    // What is not exact in binary does not make numbers differ: 0.3 and 0.2 differ by 0.1.
    return Math.abs(x - y) <= tolerance + Number.EPSILON * Math.max(Math.abs(x), Math.abs(y))
  if (a[0] !== '"' || b[0] !== '"') return false
  return JSON.parse(a) === JSON.parse(b)
}

function numberOf(json: string): number | undefined {
  return /^[-\d]/.test(json) ? Number(json) : undefined
}
