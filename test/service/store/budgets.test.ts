// Maximum number of statements of warm requests, for lists of any length. See also
// docs/operating.md#capacity.
import { beforeAll, expect, it } from 'vitest'
import { idlocal, onBothStores, scatter } from '../../support/service.ts'

onBothStores('statements of a warm request', (test) => {
  /** Counts the statements of a request: the minimum of six, since caches expire between two on a busy machine. */
  const cost = async (send: (k: number) => Promise<{ status: number }>): Promise<number> => {
    const { stats } = test().service.store.engine
    let least = Number.POSITIVE_INFINITY
    for (let k = 0; k < 6; k++) {
      await test().service.idle()
      const before = stats.statements
      const { status } = await send(k)
      least = Math.min(least, stats.statements - before)
      expect(status).toBeLessThan(300)
    }
    return least
  }
  const get = (user: string | undefined, path: string) => cost(() => test().ask(user, 'GET', path))

  let fid: string
  let deep: string
  beforeAll(async () => {
    fid = (await test().grid('alice', 'one', { n: [1], m: [2] }, { world_readable: true })).fid
    const path = Array.from({ length: 20 }, (_, k) => `level ${k}`).join('/')
    const folder = (await test().ask('alice', 'POST', '/v2/folders', { json: { path } })).json.file
    deep = (await test().grid('alice', 'deep', { n: [1] }, { parent: idlocal(folder.fid) })).fid
    const top = (await test().ask('alice', 'GET', '/v2/folders/lookup?path=level 0')).json.fid
    await test().ask('alice', 'POST', `/v2/files/${top}/collaborators`, { json: { users: ['bob'] } })
    for (let k = 0; k < 30; k++) {
      const { file } = await test().plot('alice', scatter([1, 2, k]), { world_readable: true })
      await test().ask('bob', 'POST', `/v2/files/${file.fid}/star`)
      await test().ask('alice', 'POST', `/v2/files/${file.fid}/collaborators`, { json: { users: ['bob'] } })
    }
  })

  it('an append takes at most 6 statements', async () => {
    const append = () => test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1, 2]] } })
    expect(await cost(append)).toBeLessThanOrEqual(6)
  })

  it('a new grid takes at most 10 statements', async () => {
    const create = (k: number) =>
      test().ask('alice', 'POST', '/v2/grids', {
        json: { data: { cols: { n: { data: [k], order: 0 } } }, filename: `new ${Math.random()}` },
      })
    expect(await cost(create)).toBeLessThanOrEqual(10)
  })

  it('on PostgreSQL, a grid of 63 columns takes as many statements as one of one, and so do grouped appends', async () => {
    const { name, stats } = test().service.store.engine
    if (name !== 'postgres') return
    const create = (k: number) =>
      test().ask('alice', 'POST', '/v2/grids', {
        json: {
          data: {
            cols: Object.fromEntries(
              Array.from({ length: 63 }, (_, n) => [`c${n}`, { data: [k], order: n }]),
            ),
          },
          filename: `wide ${Math.random()}`,
        },
      })
    expect(await cost(create)).toBeLessThanOrEqual(16)
    await test().service.idle()
    const before = stats.statements
    const replies = await Promise.all(
      Array.from({ length: 63 }, (_, k) =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          json: { rows: [[k, 2]] },
          headers: { 'Idempotency-Key': `group ${Math.random()}` },
        }),
      ),
    )
    expect(replies.every(({ status }) => status === 201)).toBe(true)
    // They arrive in few groups; each checks and writes all of its appends together.
    expect(stats.statements - before).toBeLessThanOrEqual(63 + 30)
  })

  it('metadata of a grid take at most 5 statements', async () => {
    expect(await get('alice', `/v2/files/${fid}`)).toBeLessThanOrEqual(5)
    expect(await get('bob', `/v2/files/${fid}`)).toBeLessThanOrEqual(5)
    expect(await get(undefined, `/v2/files/${fid}`)).toBeLessThanOrEqual(5)
  })

  it('a list, a feed or a page of plots takes at most 12 statements', async () => {
    for (const user of ['alice', 'bob', undefined])
      for (const path of [
        '/v2/folders/home?user=alice',
        '/v2/folders/all?user=alice',
        '/v2/folders/all?user=alice&order_by=-date_modified',
        '/v2/folders/all?user=alice&filetype=plot',
        '/v2/plots?page_size=100',
        '/v2/plots/feed',
        ...(user ? ['/v2/folders/shared', '/v2/folders/starred', '/v2/folders/trashed'] : []),
      ])
        expect([user, path, await get(user, path)]).toEqual([user, path, expect.toSatisfy((n) => n <= 12)])
  })

  it('a path, or metadata, below 20 folders takes at most 8 statements', async () => {
    for (const user of ['alice', 'bob'])
      for (const path of [`/v2/files/${deep}/path`, `/v2/files/${deep}`])
        expect([user, path, await get(user, path)]).toEqual([user, path, expect.toSatisfy((n) => n <= 8)])
    const path = Array.from({ length: 20 }, (_, k) => `level ${k}`).join('/')
    expect(await get('alice', `/v2/files/lookup?path=${path}/deep`)).toBeLessThanOrEqual(8)
  })
})
