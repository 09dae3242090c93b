// Waits for what may take too long.
import { setTimeout as sleep } from 'node:timers/promises'

/** Returns the result of `work`, or `late` after a time in ms. `work` goes on; the caller handles its errors. */
export function waitAtMost<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  return Promise.race([work, sleep(ms, late, { ref: false })])
}
