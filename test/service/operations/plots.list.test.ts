// The list of public plots.
import { expect, it } from 'vitest'
import { onBothStores, scatter, type TestService, URL_OF_TESTS } from '../../support/service.ts'

onBothStores('the list of plots', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const status: TestService['status'] = (...given) => test().status(...given)

  it('the list of plots has public plots only, by views and quality; cursors stay valid while plots change', async () => {
    const made: string[] = []
    for (let k = 0; k < 7; k++)
      made.unshift((await test().plot('bob', scatter([k]), { world_readable: true })).file.fid)
    await test().plot('bob', scatter([1]))
    const seen: string[] = []
    let path = '/v2/plots/?page_size=3'
    for (let page = 0; path && page < 20; page++) {
      const { json } = await ask(undefined, 'GET', path)
      seen.push(...json.results.map(({ fid }: { fid: string }) => fid))
      if (page === 0) await test().plot('bob', scatter([9]), { world_readable: true })
      if (page === 0) await ask('bob', 'POST', `/v2/plots/${made[2]}/trash`)
      path = json.next?.slice(URL_OF_TESTS.length)
    }
    expect(seen.filter((fid) => made.includes(fid))).toEqual(made)
    expect(await status(undefined, 'GET', '/v2/plots?cursor=AAAA')).toBe(400)
    expect(await status(undefined, 'GET', '/v2/plots?order_by=color')).toBe(400)
    const { json } = await ask(undefined, 'GET', '/v2/plots?order_by=-views&min_quality=5')
    expect(json.results).toEqual([])
    const options = await ask(undefined, 'OPTIONS', '/v2/plots')
    expect([options.status, options.headers.get('allow')]).toEqual([
      204,
      expect.stringMatching(/GET.*HEAD.*POST.*OPTIONS/),
    ])
  })
})
