// Counts distinct numbers.
import { randomInt } from 'node:crypto'

/** Random odd factors of the hash, so that nobody can choose numbers that collide. */
const LOW_FACTOR = randomInt(2 ** 30) * 2 + 1
const HIGH_FACTOR = randomInt(2 ** 30) * 2 + 1
const INITIAL_SLOTS = 4096
/** Growing adds all numbers again, so it is done in few steps. */
const GROWTH = 8

/** Set of doubles other than NaN: an open-addressing hash table. */
export class DistinctDoubles {
  /** Number of distinct numbers. */
  size = 0
  /** NaN marks a free slot. */
  private slots: Float64Array = new Float64Array(INITIAL_SLOTS).fill(Number.NaN)

  /** Adds the numbers among `values`, until the set has `limit`. */
  addAll(values: Float64Array, limit: number): void {
    let added = 0
    while (true) {
      added += this.addSome(values.subarray(added), limit)
      if (added === values.length || this.size >= limit) return
      const old = this.slots
      this.slots = new Float64Array(GROWTH * old.length).fill(Number.NaN)
      this.size = 0
      this.addSome(old, old.length)
    }
  }

  /** Adds values in order until the set has `limit`, or half of its slots are full. Returns how many it tried. */
  private addSome(values: Float64Array, limit: number): number {
    const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length)
    const { slots } = this
    const mask = slots.length - 1
    const most = Math.min(limit, slots.length / 2)
    let { size } = this
    let k = 0
    for (; k < values.length && size < most; k++) {
      const value = values[k]
      if (Number.isNaN(value)) continue
      // −0 is 0.
      const hash =
        value === 0 ? 0 : Math.imul(words[2 * k], LOW_FACTOR) ^ Math.imul(words[2 * k + 1], HIGH_FACTOR)
      let slot = (hash ^ (hash >>> 15)) & mask
      let found = slots[slot]
      while (found !== value && !Number.isNaN(found)) {
        slot = (slot + 1) & mask
        found = slots[slot]
      }
      if (found === value) continue
      slots[slot] = value
      size++
    }
    this.size = size
    return k
  }
}
