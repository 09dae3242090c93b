/** A table in chunks of rows: where slices of all columns end. */
import { loadAhead, type Work } from '../../../json/index.ts'
import type { Snapshot, SnapshotColumn } from '../column/content.ts'
import type { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { type Part, partsOf } from '../column/parts.ts'

/** Rows of a table that its columns have slices of. */
export interface Chunk {
  from: number
  rows: number
  /** What its slices are: chunks with the same id have the same rows. undefined if it has rows that are in no slice. */
  id: string | undefined
}

/** Columns of a table that are compared. */
export class ChunkedTable {
  readonly chunks: Chunk[]
  readonly parts: Part[][]
  readonly rows: number
  /** Rows of chunks that are read, as they are numbered while they are compared. */
  private read: { chunk: Chunk; at: number }[] = []

  constructor(
    snap: Snapshot,
    columns: readonly SnapshotColumn[],
    private readonly work: Work,
  ) {
    this.rows = snap.rows
    this.parts = columns.map((column) => partsOf(snap, column))
    this.chunks = chunksOf(this.parts, this.rows)
  }

  /** Bytes of the longest text. */
  get longest(): number {
    return Math.max(0, ...this.parts.flat().map(({ bytes }) => bytes))
  }

  /** Sets the chunks whose rows are read. Returns how many rows these are. */
  choose(chunks: readonly Chunk[]): number {
    let at = 0
    this.read = chunks.map((chunk) => {
      at += chunk.rows
      return { chunk, at: at - chunk.rows }
    })
    return at
  }

  /** The row of the table that has a number. */
  rowOf(index: number): number {
    let [low, high] = [0, this.read.length - 1]
    while (low < high) {
      const half = (low + high + 1) >> 1
      if (this.read[half].at <= index) low = half
      else high = half - 1
    }
    const { chunk, at } = this.read[low]
    return chunk.from + index - at
  }

  /** The texts of a column that are read, with the numbers of their first rows. */
  placed(column: number): { part: Part; index: number }[] {
    const parts = this.parts[column]
    return this.read.flatMap(({ chunk, at }) =>
      partsWithin(parts, chunk).map((part) => ({ part, index: at + part.from - chunk.from })),
    )
  }

  /** The texts of a column with rows that are read, with the number of the first. `wanted`: whether one is needed. */
  async *texts(
    column: number,
    wanted: (part: Part, index: number) => boolean = () => true,
  ): AsyncGenerator<{ text: Buffer; part: Part; index: number; rows: number }> {
    const needed = this.placed(column).filter(({ part, index }) => wanted(part, index))
    for await (const one of loadAhead(needed, async (place) => ({
      ...place,
      text: await place.part.load(),
    }))) {
      yield { ...one, rows: one.part.rows }
      this.work.spend(one.part.bytes)
      await this.work.pause()
    }
  }

  /** Adds a column to the hashes of all rows that are read. Returns the first one that is null. */
  async hash(
    reader: CellReader,
    column: number,
    into: RowHashes,
    asText: boolean,
  ): Promise<number | undefined> {
    let missing: number | undefined
    for await (const { text, index } of this.texts(column)) {
      const found = reader.hash(text, into, index, asText)
      missing ??= found
    }
    return missing
  }
}

/** The parts of a column that a chunk has. */
export function partsWithin(parts: readonly Part[], { from, rows }: Chunk): Part[] {
  return parts.filter((part) => part.from >= from && part.from < from + rows)
}

function chunksOf(columns: readonly (readonly Part[])[], rows: number): Chunk[] {
  if (columns.length === 0) return rows > 0 ? [{ from: 0, rows, id: undefined }] : []
  const ends = new Map<number, number>()
  for (const parts of columns)
    for (const { from, rows: count } of parts) ends.set(from + count, (ends.get(from + count) ?? 0) + 1)
  const chunks: Chunk[] = []
  let from = 0
  const next = columns.map(() => 0)
  for (const [end, count] of [...ends].sort(([a], [b]) => a - b)) {
    if (count < columns.length) continue
    const ids: string[] = []
    let isStored = true
    for (const [k, parts] of columns.entries()) {
      for (; next[k] < parts.length && parts[next[k]].from < end; next[k]++) {
        const { hash, rows: own } = parts[next[k]]
        if (hash === undefined) isStored = false
        ids.push(`${hash}:${own}`)
      }
      ids.push('|')
    }
    chunks.push({ from, rows: end - from, id: isStored ? ids.join() : undefined })
    from = end
  }
  return chunks
}
