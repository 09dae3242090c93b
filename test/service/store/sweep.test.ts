import { expect, it } from 'vitest'
import { onBothStores } from '../../support/service.ts'

onBothStores('sweep', (test) => {
  it('a sweep deletes expired idempotency keys and unreferenced blobs', async () => {
    const { store } = test().service
    const hash = await store.blobs.put(Buffer.from('named by nothing'))
    await store.sweep()
    expect(await store.blobs.get(hash)).toEqual(Buffer.from('named by nothing'))
    await store.engine.write((db) =>
      db
        .updateTable('blobs')
        .set({ stored_at: Date.now() - 25 * 3600 * 1000 })
        .execute(),
    )
    await store.sweep()
    await expect(store.blobs.get(hash)).rejects.toThrow(/damaged/)
    const { fid } = await test().grid('alice', 'still named', { a: ['x'] })
    await store.sweep()
    expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols.a.data).toEqual(['x'])
  })
})
