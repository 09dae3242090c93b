// Lowest and highest cells of one slice of a column.
import type { Kernel } from '../kernel/index.ts'
import { type Bounds, boundsOf, boundUnlessLong, mergeBounds } from './bounds.ts'
import { ESCAPED } from './cells.ts'

/** Lowest and highest of plain cells. */
export class CellBounds {
  private low: Buffer | undefined
  private high: Buffer | undefined
  private nulls = 0
  private numeric = true
  private rows = 0
  /** Bounds of values that the kernel has not parsed. */
  private others: { bounds: Bounds; rows: number } | undefined

  constructor(private readonly quote: number) {}

  /** Adds the `rows` cells of `column` that the kernel has just written. */
  add(kernel: Kernel, column: number, rows: number, numeric: boolean): void {
    if (rows === 0) return
    const { bounds: kernelBounds, width } = kernel
    this.numeric = numeric
    this.rows += rows
    this.nulls += kernelBounds.missing
    if (kernelBounds.lowest < 0) return
    const low = unescapeCell(kernel, kernelBounds.lowest * width + column, this.quote)
    const high = unescapeCell(kernel, kernelBounds.highest * width + column, this.quote)
    const { before } = this
    if (this.low === undefined || before(low, this.low)) this.low = Buffer.from(low)
    if (this.high === undefined || before(this.high, high)) this.high = Buffer.from(high)
  }

  private readonly before = (a: Buffer, b: Buffer): boolean =>
    this.numeric ? Number(a) < Number(b) : a.compare(b) < 0

  /** Adds comma-separated JSON values. */
  addJson(text: Buffer, rows: number): void {
    const bounds = boundsOf(text)
    const { others } = this
    this.others = others
      ? { bounds: mergeBounds(others.bounds, bounds, [others.rows, rows]), rows: others.rows + rows }
      : { bounds, rows }
  }

  toBounds(): Bounds {
    const { low, high, nulls, numeric, others, rows } = this
    const json = (cell: Buffer | undefined): string | undefined =>
      cell && boundUnlessLong(numeric ? cell.toString('latin1') : JSON.stringify(cell.toString('utf8')))
    const plainBounds = { low: json(low), high: json(high), nulls }
    return others ? mergeBounds(plainBounds, others.bounds, [rows, others.rows]) : plainBounds
  }
}

/** Returns the unescaped bytes of a cell. */
function unescapeCell({ bytes, starts, ends }: Kernel, k: number, quote: number): Buffer {
  const cell = bytes.subarray(starts[k], ends[k] >> 2)
  if (!(ends[k] & ESCAPED)) return cell
  const q = String.fromCharCode(quote)
  return Buffer.from(cell.toString('utf8').replaceAll(q + q, q))
}
