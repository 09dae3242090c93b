// Damaged blobs are never served.
import { expect, it } from 'vitest'
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
})
