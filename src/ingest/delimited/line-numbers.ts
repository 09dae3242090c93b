// Maps row numbers to line numbers.

/** Line number of each row. Stores only rows that are not on the line after the previous row. */
export class RowLines {
  private readonly rows: number[] = []
  private readonly lines: number[] = []

  /** Adds rows that begin on lines[from, to). `row`: number of the first row, from 0. */
  add(row: number, lines: ArrayLike<number>, from: number, to: number): void {
    let expected = this.lineOf(row)
    // Lines ascend, so the last one tells whether any was skipped.
    const isPlain = to > from && lines[from] === expected && lines[to - 1] - expected === to - 1 - from
    if (isPlain) return
    for (let k = from; k < to; k++) {
      if (lines[k] !== expected) {
        this.rows.push(row + k - from)
        this.lines.push(lines[k])
      }
      expected = lines[k] + 1
    }
  }

  /** Returns the line of a row; −1 if none was added. */
  lineOf(row: number): number {
    let [low, high] = [0, this.rows.length - 1]
    while (low < high) {
      const half = (low + high + 1) >> 1
      if (this.rows[half] <= row) low = half
      else high = half - 1
    }
    return this.rows.length === 0 ? -1 : this.lines[low] + row - this.rows[low]
  }
}
