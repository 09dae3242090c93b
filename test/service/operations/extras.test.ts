// Attachments and their references.
import { expect, it } from 'vitest'
import { onBothStores, type TestService } from '../../support/service.ts'

onBothStores('extras', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const status: TestService['status'] = (...given) => test().status(...given)

  it('references to an attachment can be dropped, and disappear with it', async () => {
    const grid = await test().grid('alice', 'with extra', { a: [1] })
    const make = async () =>
      (
        await ask('alice', 'POST', '/v2/extras', {
          json: { filename: 'e', content: { k: 1 }, referencers: [grid.fid] },
        })
      ).json.file
    const [one, two] = [await make(), await make()]
    expect(one.referencers).toEqual([grid.fid])
    expect((await ask('alice', 'GET', `/v2/extras/${one.fid}/content`)).json).toEqual({ k: 1 })
    const dropped = await ask('alice', 'POST', `/v2/grids/${grid.fid}/drop_reference`, {
      json: { fid: one.fid },
    })
    expect([dropped.status, dropped.json.references]).toEqual([200, [two.fid]])
    expect(await status('alice', 'GET', `/v2/extras/${one.fid}`)).toBe(200)
    await ask('alice', 'POST', `/v2/extras/${two.fid}/trash`)
    await ask('alice', 'DELETE', `/v2/extras/${two.fid}/permanent_delete`)
    expect((await ask('alice', 'GET', `/v2/grids/${grid.fid}`)).json.references).toEqual([])
  })
})
