/**
 * How many cases a property is tried with: `few`, so that the whole suite takes minutes, or `many` with
 * `npm run test:long`, which the nightly workflow runs.
 */
export function runs(few: number, many: number): number {
  return process.env.GRIDLINE_TEST_LONG ? many : few
}
