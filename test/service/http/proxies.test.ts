// X-Forwarded-For and rate limits behind proxies.
import { expect, it } from 'vitest'
import { HttpResponse } from '../../../src/contract/http.ts'
import { readLimits } from '../../../src/contract/limits.ts'
import { clientKeyOf } from '../../../src/service/http/http-context.ts'
import { listen } from '../../../src/service/index.ts'

it.each([
  [0, '203.0.113.9', '127.0.0.1'],
  [1, '203.0.113.9', '203.0.113.9'],
  [1, 'forged, 203.0.113.9', '203.0.113.9'],
  [2, 'forged, 203.0.113.9, 10.0.0.1', '203.0.113.9'],
  [2, '203.0.113.9', '127.0.0.1'],
  [1, '', '127.0.0.1'],
  [1, '203.0.113.9:4711', '203.0.113.9'],
  [1, '[2001:db8::1]:4711', '2001:db8::1'],
  [1, '2001:db8::1', '2001:db8::1'],
  [1, 'unknown', '127.0.0.1'],
  [1, 'x'.repeat(2000), '127.0.0.1'],
])('with %i proxies, a request with X-Forwarded-For "%s" counts for %s', async (proxies, header, client) => {
  const addresses: (string | undefined)[] = []
  const served = {
    handle: async ({ address }: { address?: string }) => {
      addresses.push(address)
      return new HttpResponse(200, {}, 'ok')
    },
    refuses: () => false,
  }
  const at = { host: '127.0.0.1', port: 0, limits: readLimits(), proxies }
  const listening = await listen(() => served, at)
  await fetch(`http://127.0.0.1:${listening.port}/`, { headers: { 'x-forwarded-for': header } })
  await listening.stop(0)
  expect(addresses).toEqual([client])
})

it.each([
  ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
  ['2001:db8:0:1::1', '2001:0db8:0000:0001::9', true],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
  ['::1', '::2', true],
  ['203.0.113.9', '203.0.113.8', false],
])('%s shares the limit of %s: %s', (one, other, isSame) => {
  expect(clientKeyOf({ address: one }) === clientKeyOf({ address: other })).toBe(isSame)
})
