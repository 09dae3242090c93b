// Reads records of JSON like the last one with a kernel.
import { defaultLimits } from '../../contract/limits.ts'
import type { RawJson } from '../../json/index.ts'
import { type NestedValues, RecordKernel } from '../kernel/records.ts'
import type { RecordColumn } from './record-column.ts'
import type { JsonOptions, RecordTable } from './record-table.ts'

/** Number of lines like the last one that are worth learning it. */
const WORTHWHILE_ROWS = 4
/** Examples that were not worth learning, more than others, after which the kernel is not tried again. */
const MAX_MISSES = 1000
/** Number of values that take as long to learn as the rest of an example. */
const VALUES_PER_MISS = 64

/** Adds records of plain values in bulk, as long as they have the names of the last line. */
export class PlainRecords {
  private columns: readonly RecordColumn[] = []
  private misses = 0
  /** How much learning the example took, as a number of misses. */
  private cost = 1

  private constructor(
    private readonly table: RecordTable,
    private readonly kernel: RecordKernel,
    private readonly keys: readonly string[],
    private readonly nested: NestedValues,
  ) {}

  /** Returns a reader until `release`; undefined without a kernel, and if that would take longer records than allowed. */
  static open(
    table: RecordTable,
    { keys = [], limits = defaultLimits, flatten }: JsonOptions,
    isLarge: boolean,
  ): PlainRecords | undefined {
    if (limits.record_bytes < RecordKernel.maxRecordBytes) return undefined
    const kernel = RecordKernel.acquire(isLarge)
    // The line itself is an object.
    const nested = { depth: limits.json_depth - 1, takesObjects: !flatten }
    return kernel && new PlainRecords(table, kernel, keys, nested)
  }

  release(): void {
    this.kernel.release()
  }

  /** True if too few records were like the one before. */
  get hasGivenUp(): boolean {
    return this.misses > MAX_MISSES
  }

  /** Adds the first records of an array that are like `example`, as `learn` and `add` do. */
  async take(
    example: RawJson,
    separator: Buffer,
    rest: Buffer,
    rowNames?: readonly string[],
  ): Promise<{ rows: number; bytes: number }> {
    this.learn(example, separator, rowNames)
    return this.add(rest)
  }

  /**
   * Takes a record, or a row, as the example for the next ones. `separator`: the text between two of them in an array;
   * without it, the record is a line. `rowNames`: names of the cells of a row.
   */
  learn(record: RawJson, separator?: Buffer, rowNames?: readonly string[]): void {
    this.columns = []
    if (this.hasGivenUp) return
    const isWhole = separator !== undefined || record.start === 0
    const cells = record.kind === 'array' ? nameByPosition(record, rowNames) : record.members()
    const members = isWhole ? [...cells] : []
    this.cost = 1 + members.length / VALUES_PER_MISS
    this.misses += this.cost
    const isPlain = this.nested.takesObjects || members.every(([, { kind }]) => kind !== 'object')
    const names = members.map(([name]) => name)
    if (members.length === 0 || !isPlain || new Set(names).size < names.length) return
    const parts: Buffer[] = []
    let at = record.start
    for (const [, { start, end }] of members) {
      parts.push(record.buf.subarray(at, start))
      at = end
    }
    parts.push(record.buf.subarray(at, record.end))
    const columns = names.map((name) => this.table.getOrAddColumn(name))
    const keys = [...columns.keys()].filter((k) => this.keys.includes(columns[k].name))
    // The kernel would hash all values of a row without keys.
    if (this.keys.length > 0 && keys.length === 0) return
    const separated = separator && { by: separator, bytes: record.end - record.start + separator.length }
    if (this.kernel.learn(parts, keys, this.nested, separated)) this.columns = columns
  }

  /** Adds the first of lines or records that are like the example. Returns their number and size. */
  async add(lines: Buffer): Promise<{ rows: number; bytes: number }> {
    if (this.columns.length === 0) return { rows: 0, bytes: 0 }
    let [rows, bytes] = [0, 0]
    for (let mayContinue = true; mayContinue; ) {
      const found = this.kernel.scan(lines.subarray(bytes))
      if (found.rows > 0) await this.table.addScanned(this.kernel, this.columns, found.rows)
      rows += found.rows
      bytes += found.bytes
      mayContinue = found.mayContinue
    }
    this.misses = Math.max(0, this.misses - (this.cost * rows) / WORTHWHILE_ROWS)
    return { rows, bytes }
  }
}

/** Yields the cells of a row with their names: by default `column_1` … */
export function* nameByPosition(row: RawJson, names: readonly string[] = []): Generator<[string, RawJson]> {
  let k = 0
  for (const cell of row.items()) yield [names[k++] ?? `column_${k}`, cell]
}
