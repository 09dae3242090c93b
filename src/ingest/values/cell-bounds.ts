// Lowest and highest cells of one slice of a column.
import type { Kernel } from '../kernel/index.ts'
import { type Bounds, boundsOf, boundUnlessLong, mergeBounds } from './bounds.ts'
import { ESCAPED } from './cells.ts'

/** A cell, and its number in a column of numbers. */
interface Bound {
  cell: Buffer
  number: number
}

/** Lowest and highest of plain cells. */
export class CellBounds {
  private low: Bound | undefined
  private high: Bound | undefined
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
    const low = this.read(kernel, kernelBounds.lowest * width + column)
    const high = this.read(kernel, kernelBounds.highest * width + column)
    if (this.low === undefined || this.isBefore(low, this.low)) this.low = keep(low)
    if (this.high === undefined || this.isBefore(this.high, high)) this.high = keep(high)
  }

  private read(kernel: Kernel, k: number): Bound {
    const cell = unescapeCell(kernel, k, this.quote)
    return { cell, number: this.numeric ? Number(cell.toString('latin1')) : 0 }
  }

  private isBefore(a: Bound, b: Bound): boolean {
    return this.numeric ? a.number < b.number : a.cell.compare(b.cell) < 0
  }

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
    const json = (bound: Bound | undefined): string | undefined =>
      bound &&
      boundUnlessLong(numeric ? bound.cell.toString('latin1') : JSON.stringify(bound.cell.toString('utf8')))
    const plainBounds = { low: json(low), high: json(high), nulls }
    return others ? mergeBounds(plainBounds, others.bounds, [rows, others.rows]) : plainBounds
  }
}

/** Copies the cell of a bound, which is part of the memory of a kernel. */
function keep({ cell, number }: Bound): Bound {
  return { cell: Buffer.from(cell), number }
}

/** Returns the unescaped bytes of a cell. */
function unescapeCell({ bytes, starts, ends }: Kernel, k: number, quote: number): Buffer {
  const cell = bytes.subarray(starts[k], ends[k] >> 2)
  if (!(ends[k] & ESCAPED)) return cell
  const q = String.fromCharCode(quote)
  return Buffer.from(cell.toString('utf8').replaceAll(q + q, q))
}
