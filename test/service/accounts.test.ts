// What an operator does with users and keys.
import { expect, it } from 'vitest'
import {
  createUser,
  deleteUser,
  listKeys,
  listUsers,
  revokeKeys,
  setDisabled,
} from '../../src/service/index.ts'
import { onBothStores } from '../support/service.ts'

onBothStores('operating users', (test) => {
  const store = () => test().service.store
  const made = async (name: string): Promise<void> => {
    await test().user(name)
  }
  /** The status once the cache of credentials has forgotten: any change of keys clears it. */
  const statusOf = async (name: string): Promise<number> => {
    await test().ask('alice', 'DELETE', '/v2/sessions')
    return test().status(name, 'GET', '/v2/users/current')
  }

  it('are listed with their files and keys', async () => {
    await made('carl')
    await test().grid('carl', 'one', { a: [1] })
    const carl = (await listUsers(store())).find(({ username }) => username === 'carl')
    expect(carl).toMatchObject({ files: 1, keys: 1, is_admin: false, disabled_at: null })
  })

  it('who are disabled cannot use keys and sessions; files and links stay', async () => {
    await made('dora')
    const { fid } = await test().grid('dora', 'open', { a: [1] }, { world_readable: true })
    const { json } = await test().ask('dora', 'POST', '/v2/sessions', { json: { path: '/' } })
    const opened = await test().ask(undefined, 'GET', json.path)
    const cookie = { cookie: opened.headers.get('set-cookie')!.split(';')[0] }
    const first = await setDisabled(store(), 'Dora', true)
    expect(await statusOf('dora')).toBe(401)
    expect(await test().status(undefined, 'GET', '/v2/users/current', { headers: cookie })).toBe(401)
    expect(await test().status(undefined, 'GET', `/v2/grids/${fid}`)).toBe(200)
    expect((await setDisabled(store(), 'dora', true)).disabled_at).toBe(first.disabled_at)
    await setDisabled(store(), 'dora', false)
    expect(await statusOf('dora')).toBe(200)
    // Sessions ended; the key works again.
    expect(await test().status(undefined, 'GET', '/v2/users/current', { headers: cookie })).toBe(401)
  })

  it('who are deleted leave nothing, and their ids are not used again', async () => {
    await made('emil')
    const { fid } = await test().grid('emil', 'gone', { a: [1] }, { world_readable: true })
    await test().ask('emil', 'POST', '/v2/teams', { json: { name: 'crew' } })
    const grid = await test().grid('alice', 'shared', { a: [1] })
    await test().ask('alice', 'POST', `/v2/files/${grid.fid}/collaborators`, { json: { users: ['emil'] } })
    await deleteUser(store(), 'emil')
    expect(await statusOf('emil')).toBe(401)
    expect(await test().status(undefined, 'GET', `/v2/grids/${fid}`)).toBe(404)
    expect((await test().ask('alice', 'GET', `/v2/files/${grid.fid}/collaborators`)).json).toEqual([])
    // A request that was still running creates nothing.
    await expect(
      store().write(({ files }) =>
        files.add({ owner: 'emil', filetype: 'grid', filename: 'late', parent: -1 }),
      ),
    ).rejects.toThrow(/no user named emil/)
    test().keys.set('emil', (await createUser(store(), 'emil')).api_key)
    const again = await test().grid('emil', 'new', { a: [2] })
    expect(Number(again.fid.split(':')[1])).toBeGreaterThan(Number(fid.split(':')[1]))
    expect(await test().status('emil', 'GET', `/v2/grids/${grid.fid}`)).toBe(404)
  })

  it('the only administrator cannot be deleted', async () => {
    await createUser(store(), 'boss', { admin: true })
    await expect(deleteUser(store(), 'boss')).rejects.toThrow(/only administrator/)
  })

  it('whose keys are revoked are signed out', async () => {
    await made('fred')
    const [key] = await listKeys(store(), 'fred')
    await expect(revokeKeys(store(), 'fred', ['000000000000'])).rejects.toThrow(/has no API key/)
    expect((await revokeKeys(store(), 'FRED', [key.id])).map(({ id }) => id)).toEqual([key.id])
    expect(await statusOf('fred')).toBe(401)
    expect(await listKeys(store(), 'fred')).toEqual([])
  })
})
