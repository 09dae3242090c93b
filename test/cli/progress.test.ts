// Progress of uploads in logs.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Messages } from '../../src/cli/output/messages.ts'
import { Progress } from '../../src/cli/output/progress.ts'

let lines: string[]
beforeEach(() => {
  lines = []
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    lines.push(String(text))
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const MB = 1024 * 1024
function upload(messages: Messages, total: number | undefined, steps: number, ms: number): void {
  const progress = new Progress(messages, 'sales.csv', total)
  for (let k = 0; k < steps; k++) {
    vi.advanceTimersByTime(ms)
    progress.add(MB)
  }
  progress.end()
}

it('without a terminal, an upload of known size prints a line at each quarter', () => {
  upload(new Messages(false, false, {}), 100 * MB, 100, 100)
  expect(lines.map((line) => /^sales.csv {2}(\d+ %) {2}.* of 100 MiB/.exec(line)?.[1])).toEqual([
    '25 %',
    '50 %',
    '75 %',
    '100 %',
  ])
})

it('without a terminal, an upload of unknown size prints a line every 10 s', () => {
  upload(new Messages(false, false, {}), undefined, 35, 1000)
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^sales.csv {2}10 MiB {2}1 MiB\/s\n$/)
})

it('an upload that takes less than 2 seconds prints nothing in a log', () => {
  upload(new Messages(false, false, {}), 4 * MB, 4, 450)
  expect(lines).toEqual([])
})

it.each([
  ['--quiet', new Messages(true, false, {})],
  ['--json', new Messages(false, true, {})],
])('with %s no progress is printed', (_, messages) => {
  upload(messages, 100 * MB, 100, 1000)
  expect(lines).toEqual([])
})
