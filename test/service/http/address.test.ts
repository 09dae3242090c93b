// Paths, queries and client addresses.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { splitUrl } from '../../../src/service/http/route.ts'
import { createService } from '../../../src/service/index.ts'
import { onSqliteFirst, TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

describe('path and query of a URL', () => {
  it.each([
    ['http://x/v2/grids', '/v2/grids', ''],
    ['http://x:8080/v2/grids?page=2&user=bob', '/v2/grids', 'page=2&user=bob'],
    ['http://x', '/', ''],
    ['http://x/', '/', ''],
    ['http://x/?a=1', '/', 'a=1'],
    ['http://x/v2/grids?', '/v2/grids', ''],
    ['http://x/v2/grids/', '/v2/grids', ''],
    ['http://x//v2///grids//', '/v2/grids', ''],
    ['http://x//', '/', ''],
    ['http://x/v2/files/lookup?path=a//b/&next=?', '/v2/files/lookup', 'path=a//b/&next=?'],
    ['http://x/v2/teams/alice%3ACrew', '/v2/teams/alice:Crew', ''],
    ['http://x/v2/%C3%A9?path=%C3%A9', '/v2/é', 'path=%C3%A9'],
    ['http://x/v2/%zz', '/v2/%zz', ''],
    ['http://x/v2/%ff', '/v2/%ff', ''],
  ])('%s has the path %s and the query "%s"', (url, path, query) => {
    expect(splitUrl(url)).toEqual({ path, query })
  })
})

onSqliteFirst('addresses of operations', (test) => {
  it('// is the same as /, a trailing slash is ignored, OPTIONS lists the allowed methods', async () => {
    expect((await test().ask('alice', 'GET', '/v2//')).status).toBe(200)
    expect((await test().ask('alice', 'GET', '/v2//users/current/')).json.username).toBe('alice')
    const options = await test().ask(undefined, 'OPTIONS', '/v2/grids/alice:1/col')
    expect([options.status, options.headers.get('allow')]).toEqual([
      204,
      'GET, HEAD, POST, PUT, DELETE, OPTIONS',
    ])
  })
})

describe('the address of a client', () => {
  const folder = temporaryFolder()
  let test: TestService
  beforeAll(async () => {
    test = new TestService(
      await createService({
        database: `sqlite:${folder.path}/test.db`,
        url: URL_OF_TESTS,
        environment: { GRIDLINE_LIMIT_REQUESTS_PER_MINUTE: '2' },
      }),
    )
  })
  afterAll(async () => {
    await test.service.close()
    folder.remove()
  })
  /** Returns the status of an anonymous request from the address `from`. */
  const status = async (from: string, headers: Record<string, string> = {}) =>
    (
      await test.service.handle({
        method: 'GET',
        url: `${URL_OF_TESTS}/v2`,
        headers: { get: (name) => headers[name.toLowerCase()] ?? null },
        body: null,
        address: from,
      })
    ).status

  it.each([
    ['without headers of a proxy', '192.0.2.1', {}],
    ['with a spoofed X-Forwarded-For', '192.0.2.2', { 'x-forwarded-for': '198.51.100.1' }],
    ['with several in X-Forwarded-For', '192.0.2.3', { 'x-forwarded-for': '198.51.100.1, 10.0.0.1' }],
    ['with Forwarded', '192.0.2.4', { forwarded: 'for=198.51.100.1' }],
    ['with X-Real-IP', '192.0.2.5', { 'x-real-ip': '198.51.100.1' }],
    ['with garbage in X-Forwarded-For', '192.0.2.6', { 'x-forwarded-for': ', not-an-address,,' }],
    ['from an IPv4 address mapped into IPv6', '::ffff:192.0.2.7', { 'x-forwarded-for': '192.0.2.7' }],
  ] as [string, string, Record<string, string>][])(
    'the rate limit %s uses the address of the connection',
    async (_, from, headers) => {
      expect([await status(from), await status(from, headers)]).toEqual([200, 200])
      expect([await status(from), await status(from, headers)]).toEqual([429, 429])
    },
  )

  it('an address named in a header is not charged', async () => {
    for (let k = 0; k < 3; k++) await status('203.0.113.2', { 'x-forwarded-for': '203.0.113.3' })
    expect(await status('203.0.113.3')).toBe(200)
  })
})
