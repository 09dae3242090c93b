// `gridline refresh` of a grid from a URL, without a server.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const server = createServer((_, response) => response.end('city,price\nOslo,2\n'))
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
  folder.remove()
})

it('sets, shows and stops refreshes, and says why nobody writes meanwhile', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices.csv`
  const env = { GRIDLINE_ALLOW_PRIVATE_URLS: '1' }
  const run = (args: string[], stdin?: string) => gridline(args, { home: folder.path, env, stdin })
  expect((await run(['upload', '-', '--name', 'prices'], 'city,price\nOslo,1\n')).code).toBe(0)
  const set = await run(['refresh', 'prices', url, '--every', '90m'])
  expect([set.code, set.stderr]).toEqual([0, ''])
  expect(set.stdout).toContain('\t90 min\t')
  expect((await run(['cat', 'prices'])).stdout).toBe('city,price\nOslo,2\n')
  const refused = await run(['append', 'prices', '--row', 'Rome,3'])
  expect([refused.code, refused.stderr]).toEqual([6, expect.stringMatching(/gridline refresh \S+ --stop$/m)])
  const stopped = await run(['refresh', 'prices', '--stop'])
  expect([stopped.code, stopped.stdout, stopped.stderr]).toEqual([0, expect.stringContaining('stopped'), ''])
  expect((await run(['append', 'prices', '--row', 'Rome,3'])).code).toBe(0)
})
