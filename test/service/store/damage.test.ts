// Damaged blobs are never served.
import { expect, it } from 'vitest'
import { verifyStore } from '../../../src/service/store/upkeep/verify.ts'
import { onBothStores } from '../../support/service.ts'

onBothStores('damaged data', (test) => {
  it('a blob that changed on disk is 500 damaged, never served', async () => {
    const { fid } = await test().grid('alice', 'damaged', { a: ['a value that is only here'] })
    await test().service.store.engine.write([], (db) =>
      db
        .updateTable('objects')
        .set({ body: Buffer.from('0"a value that was not"') })
        .where('body', '=', Buffer.from('0"a value that is only here"'))
        .execute(),
    )
    const { status, json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect([status, json.errors[0].code]).toEqual([500, 'damaged'])
  })

  it.each([-1, 1, 2, 7, 20_000])(
    'an offset that is wrong by %i is damaged, and found by verify',
    async (shift) => {
      const values = { a: ['x', 'yy'], b: [10, 20, 30], c: [{ k: [1, 2] }, null], d: [true, false] }
      const { fid } = await test().grid('alice', `packed ${shift}`, values)
      const { store } = test().service
      await store.engine.write([], (db) =>
        db
          .updateTable('slices')
          .set((eb) => ({ pack_offset: eb('pack_offset', '+', shift) }))
          .where('owner', '=', 'alice')
          .where('idlocal', '=', Number(fid.split(':')[1]))
          .where('pack_offset', '>', 0)
          .execute(),
      )
      const { status, json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([status, json.errors[0].code]).toEqual([500, 'damaged'])
      const { damage } = await verifyStore(store)
      expect(damage.some((one) => one.fid === fid)).toBe(true)
    },
  )
})
