// The sweep of unreferenced blobs.
import { expect, it } from 'vitest'
import { OBJECT_STATES } from '../../../src/service/store/objects/object-states.ts'
import { onBothStores } from '../../support/service.ts'

onBothStores('sweep', (test) => {
  it('a failed upload leaves nothing behind, and removes nothing of others', async () => {
    const { engine } = test().service.store
    // Ended rows of external objects stay until the next sweep.
    const count = () =>
      engine.read(
        async (db) =>
          (await db.selectFrom('objects').select('hash').where('state', '!=', OBJECT_STATES.ended).execute())
            .length,
      )
    const rows = (n: number): string => Array.from({ length: n }, (_, k) => `${k},${Math.sin(k)}\n`).join('')
    const upload = (text: string, name: string) =>
      test().ask('alice', 'POST', '/v2/grids/upload', {
        body: text,
        headers: { 'content-type': 'application/octet-stream', 'x-file-name': name },
      })
    expect((await upload(`a,b\n${rows(100_000)}`, 'kept.csv')).status).toBe(201)
    const before = await count()
    // The first slices are those of the grid above; later ones are its own.
    const broken = await upload(`a,b\n${rows(200_000)}1,2,3,4\n`, 'broken.csv')
    expect([broken.status, broken.json.errors[0].code]).toEqual([400, 'bad_data'])
    expect(await count()).toBe(before)
    const { json } = await test().ask('alice', 'GET', '/v2/grids/lookup?path=kept')
    expect((await test().ask('alice', 'GET', `/v2/grids/${json.fid}/content`)).status).toBe(200)
  })

  it('a sweep keeps the blobs of an upload that takes longer than a day', async () => {
    const { store } = test().service
    const claim = { owner: 'alice', keys: new Set<string>() }
    const bytes = Buffer.alloc(100_000, 'of a slow upload')
    const [ref] = await store.blobs.putAll('alice', [bytes], claim)
    await store.engine.write([], (db) => db.updateTable('objects').set({ changed_at: 0 }).execute())
    await store.sweep()
    expect(await store.blobs.get(ref)).toEqual(bytes)
    await store.blobs.releaseClaim(claim, true)
    await expect(store.blobs.get(ref)).rejects.toThrow(/damaged/)
  })

  it('a sweep deletes expired idempotency keys and unreferenced blobs', async () => {
    const { store } = test().service
    const bytes = Buffer.alloc(100_000, 'named by nothing')
    const ref = await store.blobs.put('alice', bytes)
    await store.sweep()
    expect(await store.blobs.get(ref)).toEqual(bytes)
    await store.engine.write([], (db) =>
      db
        .updateTable('objects')
        .set({ changed_at: Date.now() - 25 * 3600 * 1000 })
        .execute(),
    )
    await store.sweep()
    await expect(store.blobs.get(ref)).rejects.toThrow(/damaged/)
    const { fid } = await test().grid('alice', 'still named', { a: ['x'] })
    await store.sweep()
    expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols.a.data).toEqual(['x'])
  })
})
