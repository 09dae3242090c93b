// Lowest and highest cells of one slice of a column.
import { parseShortNumber } from '../../json/index.ts'
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
    const lowest = kernelBounds.lowest * width + column
    const highest = kernelBounds.highest * width + column
    if (numeric) this.addNumbers(kernel, lowest, highest)
    else this.addTexts(unescapeCell(kernel, lowest, this.quote), unescapeCell(kernel, highest, this.quote))
  }

  /** Adds the lowest and highest number of some cells. A text is made only of new bounds. */
  private addNumbers(kernel: Kernel, lowest: number, highest: number): void {
    const low = readNumber(kernel, lowest)
    const high = readNumber(kernel, highest)
    if (this.low === undefined || low < this.low.number)
      this.low = { cell: copyCell(kernel, lowest), number: low }
    if (this.high === undefined || high > this.high.number)
      this.high = { cell: copyCell(kernel, highest), number: high }
  }

  /** Adds the first and last text of some cells, which are part of the memory of a kernel. */
  private addTexts(first: Buffer, last: Buffer): void {
    if (this.low === undefined || first.compare(this.low.cell) < 0)
      this.low = { cell: Buffer.from(first), number: 0 }
    if (this.high === undefined || last.compare(this.high.cell) > 0)
      this.high = { cell: Buffer.from(last), number: 0 }
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

function readNumber({ bytes, starts, ends }: Kernel, k: number): number {
  const number = parseShortNumber(bytes, starts[k], ends[k] >> 2)
  return Number.isNaN(number) ? Number(bytes.toString('latin1', starts[k], ends[k] >> 2)) : number
}

function copyCell({ bytes, starts, ends }: Kernel, k: number): Buffer {
  return Buffer.from(bytes.subarray(starts[k], ends[k] >> 2))
}

/** Returns the unescaped bytes of a cell. */
function unescapeCell({ bytes, starts, ends }: Kernel, k: number, quote: number): Buffer {
  const cell = bytes.subarray(starts[k], ends[k] >> 2)
  if (!(ends[k] & ESCAPED)) return cell
  const q = String.fromCharCode(quote)
  return Buffer.from(cell.toString('utf8').replaceAll(q + q, q))
}
