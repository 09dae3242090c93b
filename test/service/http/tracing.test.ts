// The traceparent header.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createUser } from '../../../src/service/admin.ts'
import { createService, type LogLine, UrlImport } from '../../../src/service/index.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

const ID = '0af7651916cd43dd8448eb211c80319c'
const TRACE = `00-${ID}-b7ad6b7169203331-01`

const folder = temporaryFolder()
const seen: (string | undefined)[] = []
const lines: LogLine[] = []
const upstream = createServer((request, response) => {
  seen.push(request.headers.traceparent as string | undefined)
  response.end('a\n1\n')
})
let test: TestService
beforeAll(async () => {
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const service = await createService({
    database: `sqlite:${folder.path}/test.db`,
    url: URL_OF_TESTS,
    environment: {},
    urlImport: new UrlImport(() => true),
    log: (line) => lines.push(line),
  })
  test = new TestService(service)
  test.keys.set('alice', (await createUser(service.store, 'alice')).api_key)
})
afterAll(async () => {
  await test.service.close()
  upstream.close()
  folder.remove()
})

const get = (headers: Record<string, string>) => test.ask('alice', 'GET', '/v2/users/current', { headers })

it('the log line of a request has its trace and agent', async () => {
  await get({ traceparent: TRACE, 'user-agent': 'curl/8' })
  expect(lines.at(-1)).toMatchObject({ trace: ID, agent: 'curl/8', status: 200 })
})

it('malformed traces are ignored', async () => {
  for (const traceparent of [
    'nonsense',
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${ID}-${'0'.repeat(16)}-01`,
    `ff-${ID}-b7ad6b7169203331-01`,
    `00-${ID.toUpperCase()}-b7ad6b7169203331-01`,
    `${TRACE}-more`,
  ]) {
    expect((await get({ traceparent })).status).toBe(200)
    expect(lines.at(-1)?.trace, traceparent).toBeUndefined()
  }
})

it('a later version of the traceparent header is read', async () => {
  await get({ traceparent: `01-${ID}-b7ad6b7169203331-01-more` })
  expect(lines.at(-1)?.trace).toBe(ID)
})

it('requests to other servers carry the trace of their request', async () => {
  const source_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/data.csv`
  const importing = (headers: Record<string, string>) =>
    test.ask('alice', 'POST', '/v2/grids', { json: { source_url }, headers })
  expect((await importing({ traceparent: TRACE })).status).toBeLessThan(300)
  expect((await importing({})).status).toBeLessThan(300)
  expect(seen).toEqual([TRACE, undefined])
})
