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
  private slots = new Float64Array(INITIAL_SLOTS).fill(Number.NaN)
  private readonly double = new Float64Array(1)
  private readonly words = new Int32Array(this.double.buffer)

  add(value: number): void {
    const { slots } = this
    const slot = this.find(value)
    if (slots[slot] === value) return
    slots[slot] = value
    this.size++
    if (2 * this.size >= slots.length) this.grow()
  }

  /** Returns the slot of a number, or the free one for it. */
  private find(value: number): number {
    const { slots, double, words } = this
    // −0 is 0.
    double[0] = value + 0
    const hash = Math.imul(words[0], LOW_FACTOR) ^ Math.imul(words[1], HIGH_FACTOR)
    let slot = (hash ^ (hash >>> 15)) & (slots.length - 1)
    while (!Number.isNaN(slots[slot]) && slots[slot] !== value) slot = (slot + 1) & (slots.length - 1)
    return slot
  }

  private grow(): void {
    const old = this.slots
    this.slots = new Float64Array(2 * old.length).fill(Number.NaN)
    for (const value of old) if (!Number.isNaN(value)) this.slots[this.find(value)] = value
  }
}
