import { expect, it } from 'vitest'
import { onBothStores } from '../../support/service.ts'

onBothStores('addresses', (test) => {
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
