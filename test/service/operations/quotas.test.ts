// Quotas of users.
import { afterEach, expect, it } from 'vitest'
import { loadUserQuota, setUserQuota } from '../../../src/service/admin.ts'
import { onBothStores, scatter } from '../../support/service.ts'

onBothStores('quotas', (test) => {
  afterEach(async () => {
    await setUserQuota(test().service.store, 'alice', undefined)
  })
  const limit = (change: Partial<Record<'files' | 'rows' | 'bytes', number | null>>) =>
    setUserQuota(test().service.store, 'alice', change)
  const used = async () => (await loadUserQuota(test().service.store, 'alice')).used
  const me = async (user: string) => (await test().ask(user, 'GET', '/v2/users/current')).json

  it('users.current returns the quota of a user, null without a limit', async () => {
    await test().grid('bob', 'of bob', { n: [1] })
    expect(await me('bob')).toMatchObject({
      quota: { files: null, rows: null, bytes: null },
      used: { files: 1, rows: null, bytes: null },
    })
    await limit({ rows: 5 })
    expect(await me('alice')).toMatchObject({ quota: { files: null, rows: 5, bytes: null } })
  })

  it('a file above the quota is 413, and nothing of it is stored', async () => {
    const grid = await test().grid('alice', 'first', { n: [1, 2] })
    const before = await used()
    await limit({ files: before.files + 1 })
    await test().grid('alice', 'second', { n: [1] })
    const refused = await test().ask('alice', 'POST', '/v2/folders', { json: { path: 'third' } })
    expect([refused.status, refused.json.errors[0].code]).toEqual([413, 'quota_exceeded'])
    expect(refused.json.detail).toMatch(
      /no room for 1 file: the quota is \d+ files, and \d+ files are in use/,
    )
    for (const [path, json] of [
      ['/v2/plots', { figure: scatter([1]), raw_data: 'grid' }],
      [`/v2/grids/${grid.fid}/copy`, {}],
      ['/v2/grids', { data: { cols: { n: { data: [1], order: 0 } } } }],
    ] as const)
      expect([path, await test().status('alice', 'POST', path, { json })]).toEqual([path, 413])
    expect((await used()).files).toBe(before.files + 1)
    // Other users are not limited.
    await test().grid('bob', 'more of bob', { n: [1] })
  })

  it('files in the trash count until they are deleted permanently', async () => {
    const { fid } = await test().grid('alice', 'trashed', { n: [1] })
    await limit({ files: (await used()).files })
    const create = () =>
      test().status('alice', 'POST', '/v2/grids', {
        json: { data: { cols: { n: { data: [1], order: 0 } } } },
      })
    expect(await test().status('alice', 'POST', `/v2/files/${fid}/trash`)).toBe(200)
    expect(await create()).toBe(413)
    expect(await test().status('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`)).toBe(204)
    expect(await create()).toBe(201)
    expect(await create()).toBe(413)
  })

  it('metadata count as bytes', async () => {
    const { fid } = await test().grid('alice', 'described', { n: [1] })
    const { bytes } = await used()
    await limit({ bytes: bytes + 1000 })
    const set = (metadata: object) =>
      test().status('alice', 'PATCH', `/v2/files/${fid}`, { json: { metadata } })
    expect(await set({ note: 'ü'.repeat(300) })).toBe(200)
    expect((await used()).bytes).toBe(bytes + Buffer.byteLength(JSON.stringify({ note: 'ü'.repeat(300) })))
    expect(await set({ note: 'ü'.repeat(480) })).toBe(200)
    expect(await set({ note: 'ü'.repeat(500) })).toBe(413)
    expect(await set({})).toBe(200)
    expect((await used()).bytes).toBe(bytes)
  })

  it('the rows of a grid count by its longest column', async () => {
    const { fid } = await test().grid('alice', 'rows', { n: [1, 2, 3] })
    await limit({ rows: (await used()).rows + 2 })
    const append = (rows: unknown[][]) =>
      test().status('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
    expect(await append([[4], [5], [6]])).toBe(413)
    expect(await append([[4]])).toBe(201)
    expect(await append([[5], [6]])).toBe(413)
    expect(await append([[5]])).toBe(201)
    expect(await append([[6]])).toBe(413)
    const after = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect(Object.values(after.json.cols)).toMatchObject([{ data: [1, 2, 3, 4, 5] }])
  })

  it('bytes count before compression, including earlier versions', async () => {
    const text = 'x'.repeat(50_000)
    const { fid } = await test().grid('alice', 'bytes', { n: [text] })
    await limit({ bytes: (await used()).bytes + 60_000 })
    const replace = (value: string) =>
      test().status('alice', 'POST', '/v2/grids/upload', {
        body: `n\n${value}\n`,
        headers: { 'content-type': 'text/csv', 'x-file-name': 'bytes', 'gridline-on-conflict': 'replace' },
      })
    expect(await replace('y'.repeat(50_000))).toBe(201)
    expect(await replace('z'.repeat(50_000))).toBe(413)
    expect((await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)).text).toContain('yyy')
  })

  it('a quota below the use deletes nothing, and refuses only additions', async () => {
    const { fid } = await test().grid('alice', 'kept', { n: [1, 2] })
    await limit({ files: 1, rows: 1, bytes: 1 })
    expect(await test().status('alice', 'GET', `/v2/grids/${fid}/content`)).toBe(200)
    expect(await test().status('alice', 'PATCH', `/v2/files/${fid}`, { json: { filename: 'renamed' } })).toBe(
      200,
    )
    expect(await test().status('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1]] } })).toBe(413)
  })
})
