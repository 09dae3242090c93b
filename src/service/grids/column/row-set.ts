// Sets of rows.

/** Number of rows per block. It fits into 16 bits. */
const BLOCK_ROWS = 32_768

/** Set of rows, by number from 0. Stores one bit per row; iterates in ascending order. */
export class RowSet {
  private readonly bits: Uint8Array
  /** Number of rows in each block. Iteration skips empty blocks. */
  private readonly blocks: Uint16Array
  count = 0

  constructor(rows: number) {
    this.bits = new Uint8Array(Math.ceil(rows / 8))
    this.blocks = new Uint16Array(Math.ceil(rows / BLOCK_ROWS))
  }

  /** Creates a set of chosen rows. `rows`: number of rows of the grid. */
  static of(rows: number, chosen: Iterable<number>): RowSet {
    const set = new RowSet(rows)
    for (const row of chosen) set.add(row)
    return set
  }

  add(row: number): void {
    const bit = 1 << (row & 7)
    if ((this.bits[row >> 3] & bit) !== 0) return
    this.bits[row >> 3] |= bit
    this.blocks[Math.floor(row / BLOCK_ROWS)]++
    this.count++
  }

  has(row: number): boolean {
    return (this.bits[row >> 3] & (1 << (row & 7))) !== 0
  }

  /** Returns the first row of the set that is at least `from`; infinite if there is none. */
  next(from: number): number {
    const { bits, blocks } = this
    for (let row = from; row < bits.length * 8; row++) {
      if (row % BLOCK_ROWS === 0) {
        let block = row / BLOCK_ROWS
        while (blocks[block] === 0) block++
        if (block >= blocks.length) break
        row = block * BLOCK_ROWS
      }
      const rest = bits[row >> 3] >> (row & 7)
      if (rest === 0) row |= 7
      else if ((rest & 1) !== 0) return row
    }
    return Number.POSITIVE_INFINITY
  }

  *[Symbol.iterator](): Generator<number> {
    for (let row = this.next(0); Number.isFinite(row); row = this.next(row + 1)) yield row
  }

  /** Returns the rows of the set in ascending order. */
  toArray(): Uint32Array {
    const rows = new Uint32Array(this.count)
    for (let k = 0, row = this.next(0); k < rows.length; k++, row = this.next(row + 1)) rows[k] = row
    return rows
  }

  /** Returns up to `count` rows of the set, without the first `offset` ones. */
  slice(offset: number, count = Number.POSITIVE_INFINITY): RowSet {
    if (offset === 0 && count >= this.count) return this
    const part = new RowSet(this.bits.length * 8)
    let at = 0
    for (const row of this) {
      if (at >= offset + count) break
      if (at++ >= offset) part.add(row)
    }
    return part
  }
}
