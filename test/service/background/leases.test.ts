// Leases of long jobs.
import { afterEach, expect, it, vi } from 'vitest'
import { createJobHandlers } from '../../../src/service/background/job-kinds.ts'
import { Jobs, type LeasedJob } from '../../../src/service/background/jobs.ts'
import { openStore } from '../../../src/service/store/store.ts'
import { temporaryFolder } from '../../support/service.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('no other server takes a sweep that runs for minutes; a stopped server leaves it to another one', async () => {
  const folder = temporaryFolder()
  const store = await openStore({ database: `sqlite:${folder.path}/test.db` })
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
  let end = (): void => {}
  const swept: string[] = []
  const createServer = (name: string): Jobs => {
    const sweep: typeof store.sweep = async (_, throwIfStopped) => {
      swept.push(name)
      await new Promise<void>((resolve) => {
        end = resolve
      })
      await throwIfStopped!()
    }
    return new Jobs(
      store,
      createJobHandlers({ store: Object.assign(Object.create(store), { sweep }) } as never),
      (error) => {
        throw error
      },
    )
  }
  const [one, two] = ['one', 'two'].map(createServer)
  await store.write([], ({ jobs }) => jobs.setDue('', 'sweep', '', Date.now()))
  const running = one.poll()
  await vi.waitFor(() => expect(swept).toEqual(['one']))
  for (let seconds = 0; seconds < 120; seconds += 10) {
    await vi.advanceTimersByTimeAsync(10_000)
    // The lease is renewed meanwhile.
    await store.write([], async () => {})
    await two.poll()
  }
  expect(swept).toEqual(['one'])
  const stopped = one.stop()
  end()
  await Promise.all([running, stopped])
  await vi.advanceTimersByTimeAsync(11_000)
  const taken = two.poll()
  await vi.waitFor(() => expect(swept).toEqual(['one', 'two']))
  end()
  await taken
  const [{ due }] = await store.read(({ jobs }) => jobs.listAll())
  expect(due).toBeGreaterThan(Date.now() + 3600_000)
  await store.close()
  folder.remove()
})

it('a command waits for a refresh that another process has begun, and goes on if that was killed', async () => {
  const folder = temporaryFolder()
  const store = await openStore({ database: `sqlite:${folder.path}/test.db` })
  vi.useFakeTimers({ toFake: ['Date'] })
  const refreshed: string[] = []
  const refresh = async ({ job }: LeasedJob): Promise<undefined> => {
    refreshed.push(job.key)
    await store.write([], ({ jobs }) => jobs.deleteFinished(job))
  }
  const createProcess = (): Jobs =>
    new Jobs(store, { ...createJobHandlers({ store } as never), refresh }, (error) => {
      throw error
    })
  await store.write([], async ({ jobs }) => {
    await jobs.setDue('ann', 'refresh', '1', Date.now())
    const [row] = await jobs.listAll()
    await jobs.claim(row, 'killed', Date.now(), Date.now() + 30_000)
  })
  const drained = createProcess().drain()
  await vi.waitFor(() => expect(refreshed).toEqual([]))
  vi.setSystemTime(Date.now() + 31_000)
  await drained
  expect(refreshed).toEqual(['1'])
  await store.close()
  folder.remove()
})
