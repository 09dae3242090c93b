/** Chunks that have the same rows in both tables, apart from some cells: only columns that differ are read, once. */
import { loadAhead } from '../../../json/index.ts'
import { RowHashes } from '../column/kernel/cells.ts'
import type { Part } from '../column/parts.ts'
import { isNear } from './cells.ts'
import { type Chunk, partsWithin } from './chunks.ts'
import type { RowChange, Tables } from './wanted.ts'

/** A chunk of each table, with the same number of rows. */
export interface ChunkPair {
  a: Chunk
  b: Chunk
}

/** Of rows without a key: if more differ, the chunks have other rows, perhaps at other places. */
const MAX_CHANGED = 0.25

/** Chunks of fewer rows are aligned in any case: it is cheap. */
const FEW_ROWS = 4096

/** Compares the rows of pairs of chunks one by one, and counts what it finds. */
export class AlignedChunks {
  readonly changes: RowChange[] = []
  /** Cells that differ, by pair of columns. */
  readonly cells: number[]
  private one = new RowHashes(0)
  private other = new RowHashes(0)

  constructor(
    private readonly tables: Tables,
    private readonly tolerance: number,
    /** Rows with the same key are the same row. */
    private readonly isKeyed: boolean,
  ) {
    this.cells = tables.pairs.map(() => 0)
  }

  /** The pairs whose rows are not the same at the same places, which say nothing of what changed. */
  async compare(pairs: readonly ChunkPair[]): Promise<ChunkPair[]> {
    const others: ChunkPair[] = []
    const work = pairs.map((pair) => ({ pair, columns: this.columnsOf(pair) }))
    const texts = loadAhead(
      work.flatMap(({ columns }) => columns.flatMap(({ parts }) => parts)),
      ([x, y]) => Promise.all([x.load(), y.load()]),
    )
    for (const { pair, columns } of work) {
      const rows = new ChangedRows(pair.a.rows, this.tables.pairs.length)
      for (const { column, parts } of columns) {
        for (const [a] of parts) {
          const [textA, textB] = (await texts.next()).value!
          this.compareTexts(column, textA, textB, a.rows, a.from - pair.a.from, rows)
          await this.tables.work.spendAndPause(textA.length + textB.length)
        }
      }
      if (this.isKeyed || rows.areInPlace()) this.take(pair, rows)
      else others.push(pair)
    }
    return others
  }

  /** The columns whose slices differ, with their parts in both tables. */
  private columnsOf({ a, b }: ChunkPair): { column: number; parts: [Part, Part][] }[] {
    const { left, right, pairs } = this.tables
    return pairs.flatMap((_, column) => {
      const theirs = partsWithin(right.parts[column], b)
      const parts = partsWithin(left.parts[column], a).map((part, k): [Part, Part] => [part, theirs[k]])
      const different = parts.filter(([x, y]) => x.hash === undefined || x.hash !== y.hash)
      return different.length > 0 ? [{ column, parts: different }] : []
    })
  }

  private compareTexts(
    column: number,
    a: Buffer,
    b: Buffer,
    count: number,
    at: number,
    rows: ChangedRows,
  ): void {
    const { reader, pairs } = this.tables
    const { asText } = pairs[column]
    this.one = emptied(this.one, count)
    this.other = emptied(this.other, count)
    reader.hash(a, this.one, 0, asText)
    reader.hash(b, this.other, 0, asText)
    let different: number[] = []
    for (let row = 0; row < count; row++) if (!this.one.isSame(row, this.other, row)) different.push(row)
    if (this.tolerance > 0 && !asText && different.length > 0) {
      const texts = reader.find(a, different).map(({ buf, start, end }) => buf.toString('utf8', start, end))
      const found = reader.find(b, different)
      different = different.filter((_, k) => {
        const { buf, start, end } = found[k]
        return !isNear(texts[k], buf.toString('utf8', start, end), this.tolerance)
      })
    }
    rows.add(column, at, different, this.one, this.other, count)
  }

  private take({ a, b }: ChunkPair, rows: ChangedRows): void {
    for (const row of rows.changed()) this.changes.push({ before: a.from + row, after: b.from + row })
    for (const [column, count] of rows.cells.entries()) this.cells[column] += count
  }
}

function emptied(hashes: RowHashes, rows: number): RowHashes {
  if (hashes.low.length < rows) return new RowHashes(rows * 2)
  hashes.low.fill(0, 0, rows)
  hashes.high.fill(0, 0, rows)
  return hashes
}

/** Rows of a pair of chunks that differ, and what all columns that differ have in each row. */
class ChangedRows {
  readonly cells: number[]
  private readonly isChanged: Uint8Array
  private readonly before: RowHashes
  private readonly after: RowHashes

  constructor(
    private readonly rows: number,
    columns: number,
  ) {
    this.cells = new Array(columns).fill(0)
    this.isChanged = new Uint8Array(rows)
    this.before = new RowHashes(rows)
    this.after = new RowHashes(rows)
  }

  /** Adds the values of some rows of a column, of which these are different. */
  add(
    column: number,
    at: number,
    different: readonly number[],
    a: RowHashes,
    b: RowHashes,
    count: number,
  ): void {
    this.before.add(at, a, count)
    this.after.add(at, b, count)
    this.cells[column] += different.length
    for (const row of different) this.isChanged[at + row] = 1
  }

  changed(): number[] {
    const rows: number[] = []
    for (let row = 0; row < this.rows; row++) if (this.isChanged[row] === 1) rows.push(row)
    return rows
  }

  /** Whether it is the cells that changed, and not the places of rows: no row is what one next to it was. */
  areInPlace(): boolean {
    const rows = this.changed()
    if (this.rows <= FEW_ROWS || rows.length > this.rows * MAX_CHANGED) return false
    for (let from = 0; from < rows.length; ) {
      let to = from + 1
      while (to < rows.length && rows[to] === rows[to - 1] + 1) to++
      if (to - from > 1 && !this.areOthers(rows.slice(from, to))) return false
      from = to
    }
    return true
  }

  /** Whether none of these rows is now what one of them was. */
  private areOthers(rows: readonly number[]): boolean {
    const before = new Set(rows.map((row) => this.before.low[row]))
    return !rows.some((row) => before.has(this.after.low[row]))
  }
}
