// Share keys.
import { expect, it } from 'vitest'
import { onBothStores, type TestService } from '../../support/service.ts'

onBothStores('share keys', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const status: TestService['status'] = (...given) => test().status(...given)

  it('a share key gives read access to one file until disabled; enabling again creates a new key', async () => {
    const { fid } = await test().grid('alice', 'keyed', { a: [1] }, { share_key_enabled: true })
    const key = async () => (await ask('alice', 'GET', `/v2/files/${fid}`)).json.share_key as string
    const first = await key()
    expect(await status(undefined, 'GET', `/v2/grids/${fid}/content?share_key=${first}`)).toBe(200)
    await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { share_key_enabled: false } })
    expect(await status(undefined, 'GET', `/v2/grids/${fid}/content?share_key=${first}`)).toBe(404)
    await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { share_key_enabled: true } })
    expect(await key()).not.toBe(first)
    expect(await status(undefined, 'GET', `/v2/grids/${fid}?share_key=${first}`)).toBe(404)
  })

  it('a share key permits copying the file', async () => {
    const { fid } = await test().grid('alice', 'secret to copy', { a: [7] }, { share_key_enabled: true })
    const { share_key } = (await ask('alice', 'GET', `/v2/files/${fid}`)).json
    const copy = (key: string) => ask('bob', 'POST', `/v2/files/${fid}/copy?share_key=${key}`, { json: {} })
    expect((await copy('wrong')).status).toBe(404)
    const made = await copy(share_key)
    expect([made.status, made.json.files[0].owner]).toEqual([200, 'bob'])
    const { status } = await ask('bob', 'PATCH', `/v2/files/${fid}?share_key=${share_key}`, {
      json: { filename: 'x' },
    })
    expect(status).toBe(404)
  })
})
