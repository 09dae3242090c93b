// Builds a table in memory from JSON values.
import { Problem } from '../../../contract/errors.ts'
import { formatBytes } from '../../../contract/limits.ts'
import { ensureCapacity } from '../../../json/index.ts'
import type { Cell } from '../column/cursor.ts'
import { createMemorySnapshot, type Snapshot, type SnapshotColumn } from '../column/snapshot.ts'

/** Initial size of the buffer of a column, in bytes. */
const COLUMN_BYTES = 1024

export type BuiltColumn = Pick<SnapshotColumn, 'name' | 'type'>

/** A table to which values are added, row by row. Throws `too_large` above `maxBytes`. */
export class TableBuilder {
  rows = 0
  private readonly buffers: Buffer[]
  private readonly sizes: number[]
  private bytes = 0

  constructor(
    readonly columns: readonly BuiltColumn[],
    private readonly maxBytes: number,
  ) {
    this.buffers = columns.map(() => Buffer.allocUnsafe(COLUMN_BYTES))
    this.sizes = columns.map(() => 0)
  }

  /** Adds the JSON of a value to a column. */
  addCell(column: number, { buf, start, end }: Cell): void {
    const size = end - start
    const out = this.reserve(column, size)
    out.set(buf.subarray(start, end), this.sizes[column])
    this.end(column, size)
  }

  /** Adds JSON text to a column. */
  addJson(column: number, json: string): void {
    // A character has at most three bytes.
    const out = this.reserve(column, json.length * 3)
    this.end(column, out.write(json, this.sizes[column]))
  }

  endRow(): void {
    this.rows++
  }

  /** Removes the rows so far, and returns their values by column: comma-separated JSON. */
  take(): Buffer[] {
    const texts = this.buffers.map((buffer, k) => buffer.subarray(0, Math.max(0, this.sizes[k] - 1)))
    for (const k of this.columns.keys()) {
      this.buffers[k] = Buffer.allocUnsafe(COLUMN_BYTES)
      this.sizes[k] = 0
    }
    this.rows = 0
    this.bytes = 0
    return texts
  }

  /** Number of bytes that were added since the last call of `take`. */
  get addedBytes(): number {
    return this.bytes
  }

  /** Returns the table as a snapshot, from which all formats can be written. */
  toSnapshot(source: Pick<Snapshot, 'blobs'>): Snapshot {
    return createMemorySnapshot(source, this.columns, this.rows, this.take())
  }

  private reserve(column: number, size: number): Buffer {
    // With a comma.
    const out = ensureCapacity(this.buffers[column], this.sizes[column], size + 1)
    this.buffers[column] = out
    return out
  }

  private end(column: number, size: number): void {
    const at = this.sizes[column] + size
    this.buffers[column][at] = 0x2c
    this.sizes[column] = at + 1
    this.bytes += size + 1
    if (this.bytes > this.maxBytes)
      throw new Problem(
        'too_large',
        `the table is larger than ${formatBytes(this.maxBytes)} (limit query_result_bytes)`,
        {
          hint: 'Read fewer rows or columns.',
        },
      )
  }
}
