// Sorts rows by a comparison.
import { shouldYield, yieldToEventLoop } from '../json/index.ts'

/** Number of rows that are sorted or merged without yielding to the event loop. */
const BATCH_ROWS = 4096
/** Comparisons per row of a sorted batch. */
const COMPARISONS_PER_ROW = 12

/** Budget of a sort, as `WorkBudget`. */
interface Work {
  spend(units: number): boolean
  pause(): Promise<void>
  spendAndPause(units: number): Promise<void>
}

/** Work without a budget, which only yields to the event loop. */
const UNLIMITED: Work = { spend: shouldYield, pause: yieldToEventLoop, spendAndPause: yieldToEventLoop }

/**
 * Sorts row numbers in `rows`, and returns the result. Yields to the event loop. Needs as much memory again.
 */
export async function mergeSort(
  rows: Uint32Array,
  compare: (a: number, b: number) => number,
  work = UNLIMITED,
): Promise<Uint32Array> {
  for (let k = 0; k < rows.length; k += BATCH_ROWS) {
    rows.subarray(k, k + BATCH_ROWS).sort(compare)
    await work.spendAndPause(BATCH_ROWS * COMPARISONS_PER_ROW)
  }
  let from: Uint32Array = rows
  let to: Uint32Array = new Uint32Array(rows.length)
  for (let width = BATCH_ROWS; width < rows.length; width *= 2) {
    for (let low = 0; low < rows.length; low += 2 * width) {
      const middle = Math.min(low + width, rows.length)
      const high = Math.min(low + 2 * width, rows.length)
      let left = low
      let right = middle
      for (let at = low; at < high; at++) {
        if (left < middle && (right >= high || compare(from[left], from[right]) <= 0)) to[at] = from[left++]
        else to[at] = from[right++]
        if ((at & (BATCH_ROWS - 1)) === 0 && work.spend(BATCH_ROWS)) await work.pause()
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
