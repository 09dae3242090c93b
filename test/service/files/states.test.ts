// Trash, restore and permanent deletion.
import { expect, it } from 'vitest'
import { idlocal, onBothStores, type TestService } from '../../support/service.ts'

onBothStores('file states', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const status: TestService['status'] = (...given) => test().status(...given)
  const folder = async (path: string) =>
    (await ask('alice', 'POST', '/v2/folders', { json: { path } })).json.file

  it('trash and restore are idempotent', async () => {
    const { fid } = await test().grid('alice', 'state', { a: [1] })
    for (const [action, deleted] of [
      ['restore', false],
      ['trash', true],
      ['trash', true],
      ['restore', false],
      ['restore', false],
    ] as const) {
      const { status: code, json } = await ask('alice', 'POST', `/v2/grids/${fid}/${action}`)
      expect([action, code, json.deleted]).toEqual([action, 200, deleted])
    }
  })

  it('trashing and restoring a folder includes its contents, except files trashed before', async () => {
    const top = await folder('tree/deep')
    const tree = (await ask('alice', 'GET', '/v2/folders/lookup?path=tree')).json
    const kept = await test().grid('alice', 'kept', { a: [1] }, { parent: idlocal(top.fid) })
    const before = await test().grid('alice', 'before', { a: [1] }, { parent: idlocal(top.fid) })
    await ask('alice', 'POST', `/v2/files/${before.fid}/trash`)
    await ask('alice', 'POST', `/v2/folders/${tree.fid}/trash`)
    for (const fid of [top.fid, kept.fid])
      expect((await ask('alice', 'GET', `/v2/files/${fid}`)).json.deleted).toBe(true)
    await ask('alice', 'POST', `/v2/folders/${tree.fid}/restore`)
    expect((await ask('alice', 'GET', `/v2/files/${kept.fid}`)).json.deleted).toBe(false)
    expect((await ask('alice', 'GET', `/v2/files/${before.fid}`)).json.deleted).toBe(true)
  })

  it('restoring a subfolder of a trashed folder restores its contents', async () => {
    const deep = await folder('outer/inner')
    const outer = (await ask('alice', 'GET', '/v2/folders/lookup?path=outer')).json
    const inside = await test().grid('alice', 'inside', { a: [1] }, { parent: idlocal(deep.fid) })
    await ask('alice', 'POST', `/v2/files/${outer.fid}/trash`)
    const { json } = await ask('alice', 'POST', `/v2/files/${deep.fid}/restore`)
    expect([json.parent, json.warnings]).toEqual([-1, [expect.stringContaining('home folder')]])
    expect((await ask('alice', 'GET', `/v2/files/${inside.fid}`)).json.deleted).toBe(false)
  })

  it('trashing frees the name; restoring to a taken name is 409 and names both files', async () => {
    const first = await test().grid('alice', 'twice', { a: [1] })
    await ask('alice', 'POST', `/v2/grids/${first.fid}/trash`)
    const second = await test().grid('alice', 'twice', { a: [1] })
    const refused = await ask('alice', 'POST', `/v2/grids/${first.fid}/restore`)
    expect(refused.status).toBe(409)
    for (const part of ["'twice'", first.fid, second.fid, 'already exists'])
      expect(refused.json.detail).toContain(part)
    expect((await ask('alice', 'GET', `/v2/grids/${first.fid}`)).json.deleted).toBe(true)
    await ask('alice', 'PATCH', `/v2/grids/${first.fid}`, { json: { filename: 'once' } })
    expect(await status('alice', 'POST', `/v2/grids/${first.fid}/restore`)).toBe(200)
  })

  it('names of files in a trashed folder stay taken there, so that the folder can be restored', async () => {
    const dir = await folder('collide')
    const one = await test().grid('alice', 'one', { a: [1] }, { parent: idlocal(dir.fid) })
    await test().grid('alice', 'two', { a: [1] }, { parent: idlocal(dir.fid) })
    await ask('alice', 'POST', `/v2/files/${dir.fid}/trash`)
    const { status: code, json } = await ask('alice', 'PATCH', `/v2/files/${one.fid}`, {
      json: { filename: 'two' },
    })
    expect([code, json.detail]).toEqual([409, expect.stringContaining("'two'")])
    expect(await status('alice', 'POST', `/v2/files/${dir.fid}/restore`)).toBe(200)
  })

  it('permanent delete requires the trashed state and includes the contents of folders', async () => {
    const dir = await folder('gone')
    const inside = await test().grid('alice', 'inside', { a: [1] }, { parent: idlocal(dir.fid) })
    expect(await status('alice', 'DELETE', `/v2/files/${dir.fid}/permanent_delete`)).toBe(409)
    await ask('alice', 'POST', `/v2/files/${dir.fid}/trash`)
    expect(await status('alice', 'DELETE', `/v2/files/${dir.fid}/permanent_delete`)).toBe(204)
    for (const fid of [dir.fid, inside.fid])
      expect(await status('alice', 'GET', `/v2/files/${fid}`)).toBe(404)
  })

  it('DELETE frees the name at once; for a fid of another filetype it is 404', async () => {
    const { fid } = await test().grid('alice', 'overwritten', { a: [1] })
    expect(await status('alice', 'DELETE', `/v2/plots/${fid}`)).toBe(404)
    expect(await status('alice', 'DELETE', `/v2/grids/${fid}`)).toBe(204)
    expect((await test().grid('alice', 'overwritten', { a: [2] })).filename).toBe('overwritten')
  })
})
