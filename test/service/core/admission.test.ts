// Admission of requests during long work of others.
import { expect, it } from 'vitest'
import { yieldToEventLoop } from '../../../src/json/index.ts'
import { Admission } from '../../../src/service/core/admission.ts'

const most = { running: 8, waiting: 64, wait: 60_000 }

/** Work that fills every event-loop iteration, and yields only when required. */
function hog(): { turns: () => number; stop: () => Promise<void> } {
  let turns = 0
  let isOver = false
  const work = (async () => {
    while (!isOver) {
      turns++
      for (const end = performance.now() + 15; performance.now() < end; );
      await yieldToEventLoop()
    }
  })()
  return {
    turns: () => turns,
    stop: () => {
      isOver = true
      return work
    },
  }
}

it('a request starts within a few event-loop iterations, whatever long work others resume', async () => {
  const admission = new Admission(most, 'requests_waiting')
  const long = hog()
  try {
    for (let k = 0; k < 5; k++) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      const before = long.turns()
      await admission.run('other', async () => 'done')
      expect(long.turns() - before).toBeLessThan(5)
    }
  } finally {
    await long.stop()
  }
})

it('waiting requests start in order, a few per long event-loop iteration', async () => {
  const admission = new Admission({ ...most, running: 4 }, 'requests_waiting')
  const long = hog()
  try {
    const done: string[] = []
    const users = ['ann', 'ben', 'eve']
    const all = Array.from({ length: 30 }, (_, k) =>
      admission.run(users[k % 3], async () => void done.push(users[k % 3])),
    )
    await Promise.all(all)
    expect(done).toHaveLength(30)
    expect(new Set(done.slice(0, 6)).size).toBe(3)
    expect(admission.load).toEqual({ running: 0, waiting: 0 })
  } finally {
    await long.stop()
  }
})
