// The pace of runs that follow each other.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Pace } from '../../../src/service/background/pace.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1e12 })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Counts the runs of a key that may begin in a number of steps. */
function countRuns(pace: Pace, key: string, steps: number, stepMs: number): number {
  let runs = 0
  for (let step = 0; step < steps; step++) {
    if (pace.mayRun(key)) {
      pace.add(key, Date.now())
      runs++
    }
    vi.setSystemTime(Date.now() + stepMs)
  }
  return runs
}

it('a few runs follow each other at once, then one per interval; each key counts alone', () => {
  const pace = new Pace(4, 10_000)
  expect(countRuns(pace, 'a', 10, 0)).toBe(4)
  expect(countRuns(pace, 'b', 10, 0)).toBe(4)
  expect(countRuns(pace, 'a', 1001, 100)).toBe(10)
  vi.setSystemTime(Date.now() + 60_000)
  expect(countRuns(pace, 'a', 10, 0)).toBe(4)
})

it('long runs leave as much time between them as they would without a burst', () => {
  const pace = new Pace(4, 10_000)
  let began = 0
  for (let k = 0; k < 50; k++)
    if (pace.mayRun('a')) {
      const startedAt = Date.now()
      vi.setSystemTime(startedAt + 20_000)
      pace.add('a', startedAt)
      began++
    } else vi.setSystemTime(Date.now() + 1000)
  // Four at once, then one after every ten seconds.
  expect(began).toBe(4 + Math.floor(46 / 11))
})

it('a clock that was set back delays no run', () => {
  const pace = new Pace(2, 10_000)
  expect(countRuns(pace, 'a', 2, 0)).toBe(2)
  vi.setSystemTime(Date.now() - 86_400_000)
  expect(pace.mayRun('a')).toBe(true)
})
