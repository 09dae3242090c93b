// Counts distinct numbers.
import { randomInt } from 'node:crypto'

/** Random odd factors of the hash, so that nobody can choose numbers that collide. */
const LOW_FACTOR = randomInt(2 ** 30) * 2 + 1
const HIGH_FACTOR = randomInt(2 ** 30) * 2 + 1
const INITIAL_SLOTS = 4096

/** Set of doubles other than NaN: an open-addressing hash table. */
export class DistinctDoubles {
  /** Number of distinct numbers. */
  size = 0
  /** NaN marks a free slot. */
  private slots: Float64Array = new Float64Array(INITIAL_SLOTS).fill(Number.NaN)

  /** Adds the numbers among `values`, until the set has `limit`. */
  addAll(values: Float64Array, limit: number): void {
    const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length)
    let { slots } = this
    for (let k = 0; k < values.length && this.size < limit; k++) {
      const value = values[k]
      if (Number.isNaN(value)) continue
      // −0 is 0.
      const hash =
        value === 0 ? 0 : Math.imul(words[2 * k], LOW_FACTOR) ^ Math.imul(words[2 * k + 1], HIGH_FACTOR)
      let slot = (hash ^ (hash >>> 15)) & (slots.length - 1)
      while (slots[slot] !== value && !Number.isNaN(slots[slot])) slot = (slot + 1) & (slots.length - 1)
      if (slots[slot] === value) continue
      slots[slot] = value
      this.size++
      if (2 * this.size >= slots.length) slots = this.grow()
    }
  }

  /** Doubles the number of slots, and returns them. */
  private grow(): Float64Array {
    const old = this.slots
    this.slots = new Float64Array(2 * old.length).fill(Number.NaN)
    this.size = 0
    this.addAll(old, Number.POSITIVE_INFINITY)
    return this.slots
  }
}
