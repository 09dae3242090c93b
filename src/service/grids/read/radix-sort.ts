// Sorts positions by 32-bit numbers, in linear time.
import type { WorkBudget } from '../../../json/index.ts'

/** Number of bits that one pass sorts by, for each pass: together 32. */
const DIGIT_BITS = 11
const DIGITS = 1 << DIGIT_BITS
const PASSES = 3
/** Number of positions that are moved without yielding to the event loop. */
const BATCH_ROWS = 32_768

/** Creates the positions from 0 up to `count`, exclusive. */
export function createPositions(count: number): Uint32Array {
  const positions = new Uint32Array(count)
  for (let k = 0; k < count; k++) positions[k] = k
  return positions
}

/** Calls a function for consecutive parts of [from, to). Yields to the event loop in between. */
export async function inBatches(
  from: number,
  to: number,
  work: WorkBudget,
  run: (from: number, to: number) => void,
): Promise<void> {
  for (let k = from; k < to; k += BATCH_ROWS) {
    const end = Math.min(to, k + BATCH_ROWS)
    run(k, end)
    await work.spendAndPause(end - k)
  }
}

/** Positions that are sorted by one column of numbers after the other, the least significant one first. */
export class RadixSorter {
  private spare: Uint32Array
  private keys: Uint32Array
  private spareKeys: Uint32Array

  /** `positions` is overwritten. Needs three times its memory more. */
  constructor(
    public positions: Uint32Array,
    private readonly work: WorkBudget,
  ) {
    this.spare = new Uint32Array(positions.length)
    this.keys = new Uint32Array(positions.length)
    this.spareKeys = new Uint32Array(positions.length)
  }

  /** Sorts by the numbers `words[position]`. Positions with equal numbers keep their order. */
  async sortBy(words: Uint8Array | Uint32Array): Promise<void> {
    const { positions, keys, work } = this
    const { length } = positions
    const counts = Array.from({ length: PASSES }, () => new Uint32Array(DIGITS))
    const [low, middle, high] = counts
    await inBatches(0, length, work, (from, to) => {
      for (let k = from; k < to; k++) {
        const key = words[positions[k]]
        keys[k] = key
        low[digitOf(key, 0)]++
        middle[digitOf(key, 1)]++
        high[digitOf(key, 2)]++
      }
    })
    for (let pass = 0; pass < PASSES; pass++) {
      // All numbers have the same digit.
      if (length === 0 || counts[pass][digitOf(this.keys[0], pass)] === length) continue
      const places = firstPlaces(counts[pass])
      await inBatches(0, length, work, (from, to) => this.moveByDigit(from, to, pass, places))
      ;[this.positions, this.spare] = [this.spare, this.positions]
      ;[this.keys, this.spareKeys] = [this.spareKeys, this.keys]
    }
  }

  /** Moves [from, to) to the places of their digits, which become those of the next ones. */
  private moveByDigit(from: number, to: number, pass: number, places: Uint32Array): void {
    const { positions, keys, spare, spareKeys } = this
    for (let k = from; k < to; k++) {
      const place = places[digitOf(keys[k], pass)]++
      spare[place] = positions[k]
      spareKeys[place] = keys[k]
    }
  }
}

function digitOf(key: number, pass: number): number {
  return (key >>> (pass * DIGIT_BITS)) & (DIGITS - 1)
}

/** Returns the place of the first number with each digit. */
function firstPlaces(counts: Uint32Array): Uint32Array {
  const places = new Uint32Array(counts.length)
  for (let digit = 1; digit < counts.length; digit++) places[digit] = places[digit - 1] + counts[digit - 1]
  return places
}
