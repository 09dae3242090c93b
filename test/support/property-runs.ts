import { it } from 'vitest'

/** Whether this is a run of `npm run test:long`, which the nightly workflow runs. */
export const isLong = Boolean(process.env.GRIDLINE_TEST_LONG)

/** How many cases a property is tried with: `few`, so that the whole suite takes minutes, or `many` in long runs. */
export function runs(few: number, many: number): number {
  return isLong ? many : few
}

/** A test of long runs only: it takes seconds, and others test the same parts in short runs. */
export const itLong = it.runIf(isLong)
