import { expect, it } from 'vitest'
import { HttpResponse } from '../../../src/contract/http.ts'
import { limitsFrom } from '../../../src/contract/limits.ts'
import { listen } from '../../../src/service/index.ts'

it.each([
  [0, '203.0.113.9', '127.0.0.1'],
  [1, '203.0.113.9', '203.0.113.9'],
  [1, 'forged, 203.0.113.9', '203.0.113.9'],
  [2, 'forged, 203.0.113.9, 10.0.0.1', '203.0.113.9'],
  [2, '203.0.113.9', '127.0.0.1'],
  [1, '', '127.0.0.1'],
])('with %i proxies, a request with X-Forwarded-For "%s" is of %s', async (proxies, header, client) => {
  const addresses: (string | undefined)[] = []
  const served = {
    handle: async ({ address }: { address?: string }) => {
      addresses.push(address)
      return new HttpResponse(200, {}, 'ok')
    },
    refuses: () => false,
  }
  const at = { host: '127.0.0.1', port: 0, limits: limitsFrom(), proxies }
  const listening = await listen(() => served, at)
  await fetch(`http://127.0.0.1:${listening.port}/`, { headers: { 'x-forwarded-for': header } })
  await listening.stop()
  expect(addresses).toEqual([client])
})
