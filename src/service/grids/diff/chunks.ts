/** A table in chunks of rows: where slices of all columns end. */
import type { Bounds } from '../../../ingest/index.ts'
import { breathe, type Work } from '../../../json/index.ts'
import { loadText } from '../../store/aggregates/texts.ts'
import type { Snapshot, SnapshotColumn } from '../column/content.ts'
import type { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { repeated } from '../column/values.ts'

/** Rows of a table that its columns have slices of. */
export interface Chunk {
  from: number
  rows: number
  /** What its slices are: chunks with the same id have the same rows. undefined if it has rows that are in no slice. */
  id: string | undefined
}

/** A text of a column, and the row of its first value. */
export interface Part {
  from: number
  rows: number
  bytes: number
  hash: string | undefined
  /** What its values are between, if that is known. */
  bounds?: Bounds
  load(): Promise<Buffer>
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
    const pending: { part: Part; index: number; text: Promise<Buffer> }[] = []
    const needed = this.placed(column).filter(({ part, index }) => wanted(part, index))
    let next = 0
    try {
      for (;;) {
        // A few texts are read ahead.
        while (next < needed.length && pending.length < 3) {
          const one = needed[next++]
          const text = one.part.load()
          text.catch(() => {})
          pending.push({ ...one, text })
        }
        const one = pending.shift()
        if (!one) return
        yield { text: await one.text, part: one.part, index: one.index, rows: one.part.rows }
        this.work.spend(one.part.bytes)
        await this.work.pause()
      }
    } finally {
      await Promise.allSettled(pending.map(({ text }) => text))
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

export function partsOf({ blobs, rows }: Snapshot, column: SnapshotColumn): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const slice of column.slices) {
    const { rows: count, bytes, blob, bounds } = slice
    const { hash } = blob
    parts.push({ from, rows: count, bytes, hash, bounds, load: () => loadText(blobs, slice) })
    from += count
  }
  const { tail } = column
  if (column.rows > from) {
    const count = column.rows - from
    parts.push({ from, rows: count, bytes: tail.length, hash: undefined, load: async () => tail })
    from += count
  }
  // Values that a shorter column lacks are missing.
  for (; from < rows; ) {
    const count = Math.min(rows - from, MISSING_ROWS)
    const load = async () => repeated('null', count)
    parts.push({ from, rows: count, bytes: count * 5, hash: `null*${count}`, bounds: { nulls: count }, load })
    from += count
  }
  return parts
}

const MISSING_ROWS = 65_536

/** The JSON texts of the values of ascending rows. */
export async function readCells(
  reader: CellReader,
  parts: readonly Part[],
  rows: readonly number[],
): Promise<string[]> {
  const cells: string[] = []
  let next = 0
  for (const part of parts) {
    const some: number[] = []
    for (; next < rows.length && rows[next] < part.from + part.rows; next++) some.push(rows[next] - part.from)
    if (some.length === 0) continue
    for (const { buf, start, end } of reader.find(await part.load(), some))
      cells.push(buf.toString('utf8', start, end))
    await breathe()
  }
  return cells
}

/** The values of ascending rows, as one text. */
export async function readRows(
  reader: CellReader,
  parts: readonly Part[],
  rows: Int32Array,
): Promise<Buffer> {
  const texts: Buffer[] = []
  let next = 0
  for (const { from, rows: count, load } of parts) {
    // Runs of rows: the first and the last one of each.
    const ends: number[] = []
    for (; next < rows.length && rows[next] < from + count; next++) {
      const row = rows[next] - from
      if (ends.length > 0 && row === ends[ends.length - 1] + 1) ends[ends.length - 1] = row
      else ends.push(row, row)
    }
    if (ends.length === 0) continue
    const text = await load()
    const cells = reader.find(
      text,
      ends.filter((row, k) => k % 2 === 0 || row !== ends[k - 1]),
    )
    for (let k = 0, n = 0; k < ends.length; k += 2) {
      const { start } = cells[n++]
      const { end } = ends[k + 1] === ends[k] ? cells[n - 1] : cells[n++]
      texts.push(text.subarray(start, end), COMMA)
    }
    await breathe()
  }
  return Buffer.concat(texts.slice(0, -1))
}

const COMMA = Buffer.from(',')

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
