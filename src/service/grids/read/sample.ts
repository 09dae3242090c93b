// A sample of the numbers of a column, for quantiles.

/** Maximum number of values in a sample: even. */
const MAX_SAMPLE_VALUES = 10_000

/** Random one of each `stride` numbers of a column; it is halved when it is full. The same for the same numbers. */
export class Sample {
  /** Number of the next value to take, among those of the column. */
  next = 0
  /** Made for the first value: most columns of texts have none. */
  private values: Float64Array | undefined
  private size = 0
  /** How many numbers of the column each value stands for, and all of them. */
  private stride = 1
  private covered = 0
  private seed = 1

  /** `most`: number of values of the column. */
  constructor(private readonly most: number) {}

  /** True if all numbers of the column are in the sample. */
  get isWhole(): boolean {
    return this.stride === 1
  }

  /** Takes the number `next` of the column. */
  take(value: number): void {
    this.values ??= new Float64Array(Math.min(this.most, MAX_SAMPLE_VALUES))
    const { values, stride } = this
    if (this.size === MAX_SAMPLE_VALUES) {
      this.size /= 2
      for (let n = 0; n < this.size; n++) values[n] = values[2 * n + this.randomBelow(2)]
      this.stride = 2 * stride
      // The numbers that this one stands for are half as many as others stand for now.
      if (this.randomBelow(2) === 0) {
        this.next = this.covered + stride + this.randomBelow(stride)
        return
      }
    }
    values[this.size++] = value
    this.covered += this.stride
    this.next = this.covered + this.randomBelow(this.stride)
  }

  /** Returns a function of quantiles between 0 and 1, with linear interpolation between two values. */
  sortForQuantiles(): (share: number) => number {
    const sorted = Float64Array.from(this.values?.subarray(0, this.size) ?? []).sort()
    return (share) => {
      const at = share * (sorted.length - 1)
      const below = sorted[Math.floor(at)]
      return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at))
    }
  }

  /** Returns a pseudorandom integer below `end`. */
  private randomBelow(end: number): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) | 0
    return Math.floor(((this.seed >>> 0) / 2 ** 32) * end)
  }
}
