/** The lines of rows: kept where a row is not in the line after that of the row before. */
export class RowLines {
  private readonly rows: number[] = []
  private readonly lines: number[] = []

  /** Adds the rows whose lines are lines[from, to). `row`: the number of the first, from 0. */
  add(row: number, lines: ArrayLike<number>, from: number, to: number): void {
    let expected = this.lineOf(row)
    // Each row begins in a later line than the one before.
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
